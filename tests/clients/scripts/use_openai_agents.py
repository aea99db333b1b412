"""OpenAI's Agents SDK, over chat completions and over responses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
)
from openai import AsyncOpenAI
from scenes import BASE_URL, MODEL, Contact, look_up, run


def make(kind: Any = OpenAIChatCompletionsModel, model: str = MODEL, **more: Any) -> Agent:
    client = AsyncOpenAI(base_url=BASE_URL, api_key="none", max_retries=0)
    settings = ModelSettings(include_usage=True)
    return Agent(
        name="Assistant",
        model=kind(model=model, openai_client=client),
        model_settings=settings,
        **more,
    )


def ask(prompt: str, model: str) -> str:
    return Runner.run_sync(make(model=model), prompt).final_output


async def read(agent: Agent, prompt: str) -> list[str]:
    done = Runner.run_streamed(agent, prompt)
    raw = [
        event.data async for event in done.stream_events() if event.type == "raw_response_event"
    ]
    return [each.delta for each in raw if each.type == "response.output_text.delta"]


def stream(prompt: str) -> dict[str, Any]:
    pieces = asyncio.run(read(make(), prompt))
    return {"pieces": len(pieces), "text": "".join(pieces)}


def tools(prompt: str) -> dict[str, Any]:
    done = Runner.run_sync(make(tools=[function_tool(look_up)]), prompt)
    (call,) = [item.raw_item for item in done.new_items if item.type == "tool_call_item"]
    return {"arguments": json.loads(call.arguments), "text": done.final_output}


def structured(prompt: str) -> dict[str, Any]:
    return {"value": Runner.run_sync(make(output_type=Contact), prompt).final_output.model_dump()}


def responses(prompt: str) -> dict[str, Any]:
    called = Runner.run_sync(
        make(OpenAIResponsesModel, tools=[function_tool(look_up)]), prompt
    ).final_output
    pieces = asyncio.run(read(make(OpenAIResponsesModel), prompt))
    return {"pieces": len(pieces), "text": called + "".join(pieces)}


run(
    "openai-agents",
    ask,
    stream=stream,
    tools=tools,
    structured=structured,
    responses=responses,
)
