"""Convert requests for a response to chat requests, which the pipeline plans and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proxy.errors import bad_request
from proxy.requests.protocol import ChatRequest, FunctionCall, Json, Message, TextPart, ToolCall
from proxy.requests.responses.items import (
    CallItem,
    CallOutputItem,
    MessageItem,
    Part,
    RefusedPart,
)
from proxy.requests.responses.protocol import (
    LOGPROBS,
    AllowedTools,
    FunctionChoice,
    FunctionTool,
    ResponsesRequest,
    TextFormat,
)

__all__ = ["convert_to_chat", "find_place"]

ALIKE = ("model", "inferdpt", "stream", "temperature", "top_p")


def convert_to_chat(request: ResponsesRequest) -> ChatRequest:
    """Convert a request for a response to a chat request, without the fields that the client left
    out.

    Raises:
        ApiError: 400, the input holds nothing to answer.
    """
    messages = _convert_messages(request)
    if not messages:
        raise bad_request("The input has no turn to answer.", param="input")
    fields: dict[str, Any] = {name: getattr(request, name) for name in ALIKE}
    fields["messages"] = messages
    fields["max_completion_tokens"] = request.max_output_tokens
    if request.reasoning is not None:
        fields["reasoning_effort"] = request.reasoning.effort
    if LOGPROBS in (request.include or ()):
        fields |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    fields["response_format"] = _convert_format(request)
    fields |= _convert_tools(request)
    return ChatRequest(**{name: value for name, value in fields.items() if value is not None})


def find_place(param: str | None, request: ResponsesRequest) -> str | None:
    """Return the name of a chat request's field in the request for a response."""
    if param == "messages[0].content" and request.instructions:
        return "instructions"
    return "input" if param is not None and param.startswith("messages") else param


def _convert_messages(request: ResponsesRequest) -> list[Message]:
    """Convert the items to messages.

    The text and the calls of one answer become one assistant turn again, so that it is recognised
    and the remote sees its own words for it.
    """
    out: list[Message] = []
    if request.instructions:
        out.append(Message(role="system", content=request.instructions))
    for item in request.input:
        last = out[-1] if out and out[-1].role == "assistant" else None
        if isinstance(item, MessageItem):
            content = _convert_content(item.content)
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
            content = _convert_content(item.output)
            out.append(Message(role="tool", tool_call_id=item.call_id, content=content))
    return out


def _convert_content(parts: Sequence[Part]) -> list[Any]:
    return [
        TextPart(type="text", text=part.text)
        for part in parts
        if not isinstance(part, RefusedPart)
    ]


def _convert_format(request: ResponsesRequest) -> Json | None:
    """Convert `text.format` to `response_format`; plain text needs none."""
    wanted = request.text.format if request.text is not None else None
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return {"type": "json_object"}
    schema = {"name": wanted.name, "schema": wanted.schema_}
    return {
        "type": "json_schema",
        "json_schema": schema | _select_given(wanted, "description", "strict"),
    }


def _convert_tools(request: ResponsesRequest) -> Json:
    """Convert the tools and the choice between them.

    `allowed_tools` has no chat form that local servers know, so the model gets only those.
    """
    tools, choice = request.tools or [], request.tool_choice
    chosen: Any = choice
    if isinstance(choice, AllowedTools):
        allowed = {tool.name for tool in choice.tools}
        tools = [tool for tool in tools if tool.name in allowed]
        chosen = choice.mode
    elif isinstance(choice, FunctionChoice):
        chosen = {"type": "function", "function": {"name": choice.name}}
    if not tools:  # local servers refuse any choice without tools, even "none"
        return {} if chosen in ("none", "auto") else {"tool_choice": chosen}
    return {
        "tools": [{"type": "function", "function": _convert_function(tool)} for tool in tools],
        "tool_choice": chosen,
        "parallel_tool_calls": request.parallel_tool_calls,
    }


def _convert_function(tool: FunctionTool) -> Json:
    return {"name": tool.name} | _select_given(tool, "description", "parameters", "strict")


def _select_given(model: TextFormat | FunctionTool, *names: str) -> Json:
    return {name: getattr(model, name) for name in names if getattr(model, name) is not None}
