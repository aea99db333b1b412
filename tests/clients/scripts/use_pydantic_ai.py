"""Pydantic AI with an OpenAI-compatible provider."""

from __future__ import annotations

import asyncio
from typing import Any

from openai import AsyncOpenAI
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from scenes import BASE_URL, MODEL, Contact, look_up, run


def connect(kind: Any = OpenAIChatModel, model: str = MODEL) -> Any:
    client = AsyncOpenAI(base_url=BASE_URL, api_key="none", max_retries=0)
    return kind(model, provider=OpenAIProvider(openai_client=client))


def ask(prompt: str, model: str) -> str:
    return Agent(connect(model=model)).run_sync(prompt).output


async def read(agent: Agent, prompt: str) -> list[str]:
    async with agent.run_stream(prompt) as streamed:
        return [text async for text in streamed.stream_text(delta=True, debounce_by=None)]


def stream(prompt: str) -> dict[str, Any]:
    pieces = asyncio.run(read(Agent(connect()), prompt))
    return {"pieces": len(pieces), "text": "".join(pieces)}


def tools(prompt: str) -> dict[str, Any]:
    done = Agent(connect(), tools=[look_up]).run_sync(prompt)
    parts = [part for message in done.all_messages() for part in message.parts]
    (call,) = [part for part in parts if isinstance(part, ToolCallPart)]
    return {"arguments": call.args_as_dict(), "text": done.output}


def structured(prompt: str) -> dict[str, Any]:
    by_schema = Agent(connect(), output_type=NativeOutput(Contact)).run_sync(prompt).output
    by_tool = Agent(connect(), output_type=Contact).run_sync(prompt).output
    assert by_schema == by_tool
    return {"value": by_schema.model_dump()}


def responses(prompt: str) -> dict[str, Any]:
    whole = Agent(connect(OpenAIResponsesModel)).run_sync(prompt).output
    pieces = asyncio.run(read(Agent(connect(OpenAIResponsesModel)), prompt))
    return {"pieces": len(pieces), "text": whole + "".join(pieces)}


run(
    "pydantic-ai-slim",
    ask,
    stream=stream,
    tools=tools,
    structured=structured,
    responses=responses,
)
