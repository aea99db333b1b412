"""LiteLLM's SDK with an OpenAI-compatible server."""

from __future__ import annotations

import json
from typing import Any

import litellm
from scenes import BASE_URL, LOOK_UP, MODEL, Contact, look_up, run

litellm.suppress_debug_info = True
WHERE: dict[str, Any] = {"api_base": BASE_URL, "api_key": "none", "max_retries": 0}


def turn(prompt: str) -> list[Any]:
    return [{"role": "user", "content": prompt}]


def complete(messages: list[Any], model: str = MODEL, **more: Any) -> Any:
    return litellm.completion(model=f"openai/{model}", messages=messages, **WHERE, **more)


def ask(prompt: str, model: str) -> str:
    return complete(turn(prompt), model).choices[0].message.content


def stream(prompt: str) -> dict[str, Any]:
    steps = complete(turn(prompt), stream=True, stream_options={"include_usage": True})
    pieces = [c.delta.content for step in steps for c in step.choices if c.delta.content]
    return {"pieces": len(pieces), "text": "".join(pieces)}


def tools(prompt: str) -> dict[str, Any]:
    history = turn(prompt)
    message = complete(history, tools=[LOOK_UP]).choices[0].message
    (call,) = message.tool_calls
    arguments = json.loads(call.function.arguments)
    result = {"role": "tool", "tool_call_id": call.id, "content": look_up(**arguments)}
    made = complete([*history, message, result], tools=[LOOK_UP])
    return {"arguments": arguments, "text": made.choices[0].message.content}


def structured(prompt: str) -> dict[str, Any]:
    made = complete(turn(prompt), response_format=Contact)
    return {"value": json.loads(made.choices[0].message.content)}


def responses(prompt: str) -> dict[str, Any]:
    how = {"model": f"openai/{MODEL}", "input": prompt, **WHERE}
    steps = list(litellm.responses(stream=True, **how))
    pieces = [each.delta for each in steps if each.type == "response.output_text.delta"]
    return {"pieces": len(pieces), "text": litellm.responses(**how).output_text + "".join(pieces)}


def completions(prompt: str) -> dict[str, Any]:
    made = litellm.text_completion(model=f"text-completion-openai/{MODEL}", prompt=prompt, **WHERE)
    return {"text": made.choices[0].text}


run(
    "litellm",
    ask,
    stream=stream,
    tools=tools,
    structured=structured,
    responses=responses,
    completions=completions,
)
