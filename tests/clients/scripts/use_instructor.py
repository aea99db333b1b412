"""instructor, in the modes that use tools and JSON Schemas."""

from __future__ import annotations

import json
from typing import Any

import instructor
from openai import OpenAI
from scenes import BASE_URL, MODEL, Contact, run

plain = OpenAI(base_url=BASE_URL, api_key="none", max_retries=0)
by_tool = instructor.from_openai(plain, mode=instructor.Mode.TOOLS)
by_schema = instructor.from_openai(plain, mode=instructor.Mode.JSON_SCHEMA)


def turn(prompt: str) -> list[Any]:
    return [{"role": "user", "content": prompt}]


def ask(prompt: str, model: str) -> str:
    made = by_tool.chat.completions.create(
        model=model, messages=turn(prompt), response_model=None, max_retries=0
    )
    return made.choices[0].message.content


def stream(prompt: str) -> dict[str, Any]:
    steps = by_tool.chat.completions.create_partial(
        model=MODEL, messages=turn(prompt), response_model=Contact, max_retries=0
    )
    seen = [step.model_dump() for step in steps]
    return {"pieces": len(seen), "text": json.dumps(seen[-1])}


def tools(prompt: str) -> dict[str, Any]:
    contact, raw = by_tool.chat.completions.create_with_completion(
        model=MODEL, messages=turn(prompt), response_model=Contact, max_retries=0
    )
    (call,) = raw.choices[0].message.tool_calls
    assert json.loads(call.function.arguments) == contact.model_dump()
    return {"arguments": contact.model_dump()}


def structured(prompt: str) -> dict[str, Any]:
    made = by_schema.chat.completions.create(
        model=MODEL, messages=turn(prompt), response_model=Contact, max_retries=0
    )
    return {"value": made.model_dump()}


run("instructor", ask, stream=stream, tools=tools, structured=structured)
