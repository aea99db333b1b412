"""LangChain's ChatOpenAI."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAI
from scenes import BASE_URL, MODEL, Contact, look_up, run


def connect(model: str = MODEL, **more: Any) -> ChatOpenAI:
    return ChatOpenAI(model=model, base_url=BASE_URL, api_key="none", max_retries=0, **more)


def ask(prompt: str, model: str) -> str:
    return connect(model).invoke(prompt).text


def stream(prompt: str) -> dict[str, Any]:
    pieces = [step.text for step in connect(stream_usage=True).stream(prompt) if step.text]
    return {"pieces": len(pieces), "text": "".join(pieces)}


def tools(prompt: str) -> dict[str, Any]:
    own = tool(look_up)
    chat = connect().bind_tools([own])
    asked = HumanMessage(prompt)
    called = chat.invoke([asked])
    (call,) = called.tool_calls
    result = own.invoke(call)
    assert isinstance(result, ToolMessage)
    return {"arguments": call["args"], "text": chat.invoke([asked, called, result]).text}


def structured(prompt: str) -> dict[str, Any]:
    return {"value": connect().with_structured_output(Contact).invoke(prompt).model_dump()}


def responses(prompt: str) -> dict[str, Any]:
    chat = connect(use_responses_api=True)
    pieces = [step.text for step in chat.stream(prompt) if step.text]
    return {"pieces": len(pieces), "text": chat.invoke(prompt).text + "".join(pieces)}


def completions(prompt: str) -> dict[str, Any]:
    model = OpenAI(model=MODEL, base_url=BASE_URL, api_key="none", max_retries=0)
    return {"text": model.invoke(prompt)}


run(
    "langchain-openai",
    ask,
    stream=stream,
    tools=tools,
    structured=structured,
    responses=responses,
    completions=completions,
)
