"""OpenAI's SDK for Python."""

from __future__ import annotations

import json
from typing import Any

from openai import OpenAI
from scenes import BASE_URL, LOOK_UP, MODEL, Contact, look_up, run

client = OpenAI(base_url=BASE_URL, api_key="none", max_retries=0)


def turn(prompt: str) -> list[Any]:
    return [{"role": "user", "content": prompt}]


def ask(prompt: str, model: str) -> str:
    made = client.chat.completions.create(model=model, messages=turn(prompt))
    return made.choices[0].message.content or ""


def stream(prompt: str) -> dict[str, Any]:
    pieces, usage = [], None
    for step in client.chat.completions.create(
        model=MODEL, messages=turn(prompt), stream=True, stream_options={"include_usage": True}
    ):
        pieces += [choice.delta.content for choice in step.choices if choice.delta.content]
        usage = step.usage or usage
    return {"pieces": len(pieces), "text": "".join(pieces), "usage": usage.model_dump()}


def tools(prompt: str) -> dict[str, Any]:
    history = turn(prompt)
    made = client.chat.completions.create(model=MODEL, messages=history, tools=[LOOK_UP])
    message = made.choices[0].message
    (call,) = message.tool_calls
    arguments = json.loads(call.function.arguments)
    result = {"role": "tool", "tool_call_id": call.id, "content": look_up(**arguments)}
    history += [message, result]
    made = client.chat.completions.create(model=MODEL, messages=history, tools=[LOOK_UP])
    return {"arguments": arguments, "text": made.choices[0].message.content}


def structured(prompt: str) -> dict[str, Any]:
    made = client.chat.completions.parse(
        model=MODEL, messages=turn(prompt), response_format=Contact
    )
    return {"value": made.choices[0].message.parsed.model_dump()}


def responses(prompt: str) -> dict[str, Any]:
    whole = client.responses.create(model=MODEL, input=prompt)
    with client.responses.stream(model=MODEL, input=prompt) as events:
        pieces = [each.delta for each in events if each.type == "response.output_text.delta"]
        final = events.get_final_response()
    assert "".join(pieces) == final.output_text
    return {"pieces": len(pieces), "text": whole.output_text + final.output_text}


def completions(prompt: str) -> dict[str, Any]:
    return {"text": client.completions.create(model=MODEL, prompt=prompt).choices[0].text}


run(
    "openai",
    ask,
    stream=stream,
    tools=tools,
    structured=structured,
    responses=responses,
    completions=completions,
)
