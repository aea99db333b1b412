"""DSPy, with its chat adapter and with native functions and JSON."""

from __future__ import annotations

import asyncio
from typing import Any

import dspy
from scenes import BASE_URL, MODEL, Contact, look_up, run


class Question(dspy.Signature):
    """Answer the question."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


class Calls(dspy.Signature):
    """Answer the question with the tools."""

    question: str = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    calls: dspy.ToolCalls = dspy.OutputField()


class Extraction(dspy.Signature):
    """Find the contact."""

    text: str = dspy.InputField()
    contact: Contact = dspy.OutputField()


def connect(model: str = MODEL, **more: Any) -> dspy.LM:
    how = {"api_base": BASE_URL, "api_key": "none", "cache": False, "num_retries": 0}
    return dspy.LM(f"openai/{model}", **how, **more)


def ask(prompt: str, model: str) -> str:
    with dspy.context(lm=connect(model), adapter=dspy.ChatAdapter()):
        return dspy.Predict(Question)(question=prompt).answer


async def read(prompt: str) -> list[str]:
    listeners = [dspy.streaming.StreamListener(signature_field_name="answer")]
    program = dspy.streamify(dspy.Predict(Question), stream_listeners=listeners)
    return [
        step.chunk
        async for step in program(question=prompt)
        if isinstance(step, dspy.streaming.StreamResponse)
    ]


def stream(prompt: str) -> dict[str, Any]:
    with dspy.context(lm=connect(), adapter=dspy.ChatAdapter()):
        pieces = asyncio.run(read(prompt))
    return {"pieces": len(pieces), "text": "".join(pieces)}


def tools(prompt: str) -> dict[str, Any]:
    with dspy.context(lm=connect(), adapter=dspy.ChatAdapter(use_native_function_calling=True)):
        made = dspy.Predict(Calls)(question=prompt, tools=[dspy.Tool(look_up)])
    (call,) = made.calls.tool_calls
    return {"arguments": call.args}


def structured(prompt: str) -> dict[str, Any]:
    with dspy.context(lm=connect(), adapter=dspy.JSONAdapter()):
        return {"value": dspy.Predict(Extraction)(text=prompt).contact.model_dump()}


def responses(prompt: str) -> dict[str, Any]:
    with dspy.context(lm=connect(model_type="responses"), adapter=dspy.ChatAdapter()):
        return {"text": dspy.Predict(Question)(question=prompt).answer}


def completions(prompt: str) -> dict[str, Any]:
    (made,) = connect(model_type="text")(prompt)
    return {"text": made if isinstance(made, str) else made["text"]}


run(
    "dspy",
    ask,
    stream=stream,
    tools=tools,
    structured=structured,
    responses=responses,
    completions=completions,
)
