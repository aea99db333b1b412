"""LlamaIndex with an OpenAI-like server."""

from __future__ import annotations

from typing import Any

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from scenes import BASE_URL, MODEL, Contact, look_up, run


def connect(model: str = MODEL, *, chat: bool = True) -> OpenAILike:
    return OpenAILike(
        model=model,
        api_base=BASE_URL,
        api_key="none",
        is_chat_model=chat,
        is_function_calling_model=chat,
        max_retries=0,
    )


def ask(prompt: str, model: str) -> str:
    return connect(model).chat([ChatMessage(content=prompt)]).message.content or ""


def stream(prompt: str) -> dict[str, Any]:
    steps = connect().stream_chat([ChatMessage(content=prompt)])
    pieces = [step.delta for step in steps if step.delta]
    return {"pieces": len(pieces), "text": "".join(pieces)}


def tools(prompt: str) -> dict[str, Any]:
    llm, own = connect(), FunctionTool.from_defaults(fn=look_up)
    asked = ChatMessage(content=prompt)
    called = llm.chat_with_tools([own], chat_history=[asked])
    (call,) = llm.get_tool_calls_from_response(called)
    result = ChatMessage(
        role=MessageRole.TOOL,
        content=str(own(**call.tool_kwargs)),
        additional_kwargs={"tool_call_id": call.tool_id},
    )
    made = llm.chat_with_tools([own], chat_history=[asked, called.message, result])
    return {"arguments": call.tool_kwargs, "text": made.message.content}


def structured(prompt: str) -> dict[str, Any]:
    made = connect().as_structured_llm(Contact).chat([ChatMessage(content=prompt)])
    return {"value": made.raw.model_dump()}


def completions(prompt: str) -> dict[str, Any]:
    return {"text": connect(chat=False).complete(prompt).text}


run(
    "llama-index-llms-openai-like",
    ask,
    stream=stream,
    tools=tools,
    structured=structured,
    completions=completions,
)
