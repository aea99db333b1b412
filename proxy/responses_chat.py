"""A request for a response as the chat request it amounts to: what the pipeline plans and runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proxy.errors import bad_request
from proxy.protocol import ChatRequest, FunctionCall, Json, Message, TextPart, ToolCall
from proxy.responses_protocol import (
    LOGPROBS,
    AllowedTools,
    CallItem,
    CallOutputItem,
    FunctionChoice,
    FunctionTool,
    MessageItem,
    Part,
    RefusedPart,
    ResponsesRequest,
    TextFormat,
)

__all__ = ["as_chat"]

ALIKE = ("model", "inferdpt", "stream", "temperature", "top_p")


def as_chat(request: ResponsesRequest) -> ChatRequest:
    """The chat request. Fields the client left out are left out of it.

    Raises:
        ApiError: 400, the input holds nothing to answer.
    """
    messages = _messages(request)
    if not messages:
        raise bad_request("The input has no turn to answer.", param="input")
    fields: dict[str, Any] = {name: getattr(request, name) for name in ALIKE}
    fields["messages"] = messages
    fields["max_completion_tokens"] = request.max_output_tokens
    if request.reasoning is not None:
        fields["reasoning_effort"] = request.reasoning.effort
    if LOGPROBS in (request.include or ()):
        fields |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    fields["response_format"] = _format(request)
    fields |= _tools(request)
    return ChatRequest(**{name: value for name, value in fields.items() if value is not None})


def _messages(request: ResponsesRequest) -> list[Message]:
    """The items as messages. What one answer consisted of, its text and its calls, is one
    assistant turn again: so it is recognised, and the remote sees its own words for it."""
    out: list[Message] = []
    if request.instructions:
        out.append(Message(role="system", content=request.instructions))
    for item in request.input:
        last = out[-1] if out and out[-1].role == "assistant" else None
        if isinstance(item, MessageItem):
            content = _content(item.content)
            if item.role == "assistant" and last is not None and last.content is None:
                out[-1] = last.model_copy(update={"content": content})
            else:
                out.append(Message(role=item.role, content=content))
        elif isinstance(item, CallItem):
            function = FunctionCall(name=item.name, arguments=item.arguments)
            call = ToolCall(id=item.call_id, function=function)
            if last is not None:
                calls = [*(last.tool_calls or ()), call]
                out[-1] = last.model_copy(update={"tool_calls": calls})
            else:
                out.append(Message(role="assistant", tool_calls=[call]))
        elif isinstance(item, CallOutputItem):
            content = _content(item.output)
            out.append(Message(role="tool", tool_call_id=item.call_id, content=content))
    return out


def _content(parts: Sequence[Part]) -> list[Any]:
    return [
        TextPart(type="text", text=part.text)
        for part in parts
        if not isinstance(part, RefusedPart)
    ]


def _format(request: ResponsesRequest) -> Json | None:
    """`text.format` as `response_format`; plain text is what there is without one."""
    wanted = request.text.format if request.text is not None else None
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return {"type": "json_object"}
    schema = {"name": wanted.name, "schema": wanted.schema_}
    return {
        "type": "json_schema",
        "json_schema": schema | _given(wanted, "description", "strict"),
    }


def _tools(request: ResponsesRequest) -> Json:
    """Tools and the choice between them. `allowed_tools` has no chat form that local servers
    know: the model is told of the allowed ones alone."""
    tools, choice = request.tools or [], request.tool_choice
    chosen: Any = choice
    if isinstance(choice, AllowedTools):
        allowed = {tool.name for tool in choice.tools}
        tools = [tool for tool in tools if tool.name in allowed]
        chosen = choice.mode
    elif isinstance(choice, FunctionChoice):
        chosen = {"type": "function", "function": {"name": choice.name}}
    if not tools:  # local servers refuse a choice without tools, also the one that asks for none
        return {} if chosen in ("none", "auto") else {"tool_choice": chosen}
    return {
        "tools": [{"type": "function", "function": _function(tool)} for tool in tools],
        "tool_choice": chosen,
        "parallel_tool_calls": request.parallel_tool_calls,
    }


def _function(tool: FunctionTool) -> Json:
    return {"name": tool.name} | _given(tool, "description", "parameters", "strict")


def _given(model: TextFormat | FunctionTool, *names: str) -> Json:
    return {name: getattr(model, name) for name in names if getattr(model, name) is not None}
