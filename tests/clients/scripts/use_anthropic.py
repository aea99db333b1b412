"""Anthropic's SDK for Python, with the Messages API."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic
from scenes import BASE_URL, LOOK_UP, MODEL, Contact, look_up, run

# The SDK adds /v1 to the address itself.
client = Anthropic(base_url=BASE_URL.removesuffix("/v1"), api_key="none", max_retries=0)
FUNCTION = LOOK_UP["function"]
TOOL: Any = {
    "name": FUNCTION["name"],
    "description": FUNCTION["description"],
    "input_schema": FUNCTION["parameters"],
}


def turn(prompt: str) -> list[Any]:
    return [{"role": "user", "content": prompt}]


def read(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def ask(prompt: str, model: str) -> str:
    return read(client.messages.create(model=model, max_tokens=200, messages=turn(prompt)))


def stream(prompt: str) -> dict[str, Any]:
    with client.messages.stream(model=MODEL, max_tokens=200, messages=turn(prompt)) as events:
        pieces = list(events.text_stream)
        final = events.get_final_message()
    assert "".join(pieces) == read(final)
    return {"pieces": len(pieces), "text": "".join(pieces)}


def tools(prompt: str) -> dict[str, Any]:
    history = turn(prompt)
    how: Any = {"model": MODEL, "max_tokens": 200, "tools": [TOOL]}
    made = client.messages.create(messages=history, **how)
    (call,) = [block for block in made.content if block.type == "tool_use"]
    result = {"type": "tool_result", "tool_use_id": call.id, "content": look_up(**call.input)}
    history += [
        {"role": "assistant", "content": made.content},
        {"role": "user", "content": [result]},
    ]
    return {"arguments": call.input, "text": read(client.messages.create(messages=history, **how))}


def structured(prompt: str) -> dict[str, Any]:
    made = client.messages.parse(
        model=MODEL, max_tokens=200, messages=turn(prompt), output_format=Contact
    )
    return {"value": made.parsed_output.model_dump()}


run("anthropic", ask, stream=stream, tools=tools, structured=structured)
