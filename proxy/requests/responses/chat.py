"""Convert requests for a response to chat requests, which the pipeline plans and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from proxy.errors import bad_request
from proxy.requests.protocol import ChatRequest, FunctionCall, Json, Message, TextPart, ToolCall
from proxy.requests.responses.items import (
    CallItem,
    CallOutputItem,
    Part,
    RefusalContent,
    ResponsesMessage,
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
_MESSAGE = re.compile(
    r"messages\[(?P<message>\d+)\]"
    r"(?:\.content(?:\[(?P<text>\d+)\])?|\.tool_calls\[(?P<call>\d+)\])?"
)
_TOOL = re.compile(r"tools\[(?P<tool>\d+)\](?:\.function)?(?P<field>.*)")
_NAMES = {  # how the names of a chat's fields begin, and those of the fields they are made from
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "response_format.json_schema": "text.format",
    "response_format": "text.format",
    "messages": "input",
    "tool_choice.function": "tool_choice",
}


@dataclass(frozen=True)
class _Origin:
    """Hold a message of the chat, and the places of the request that it comes from: of its item,
    its texts and its calls."""

    message: Message
    at: str
    texts: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    def find(self, match: re.Match[str]) -> str:
        """Return the place of a field of the message."""
        if match["call"] is not None:
            return self.calls[int(match["call"])]
        if match["text"] is not None:
            return self.texts[int(match["text"])]
        return self.texts[0] if len(self.texts) == 1 else self.at


def convert_to_chat(request: ResponsesRequest) -> ChatRequest:
    """Convert a request for a response to a chat request, without the fields that the client left
    out.

    Raises:
        ApiError: 400, the input holds nothing to answer.
    """
    messages = [origin.message for origin in _convert_messages(request)]
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
    if param is None:
        return None
    if match := _MESSAGE.match(param):
        return _convert_messages(request)[int(match["message"])].find(match)
    if match := _TOOL.match(param):
        numbers = [i for i, tool in enumerate(request.tools or ()) if _allows(request, tool)]
        return f"tools[{numbers[int(match['tool'])]}]{match['field']}"
    for theirs, ours in _NAMES.items():
        if param.startswith(theirs):
            return ours + param.removeprefix(theirs)
    return param


def _convert_messages(request: ResponsesRequest) -> list[_Origin]:
    """Convert the items to messages, each with the places that it comes from.

    The text and the calls of one answer become one assistant turn again, so that it is recognised
    and the remote sees its own words for it.
    """
    out: list[_Origin] = []
    if request.instructions:
        made = Message(role="system", content=request.instructions)
        out.append(_Origin(made, "instructions"))
    for i, item in enumerate(request.input):
        at = f"input[{i}]" if len(request.input) > 1 else "input"
        last = out[-1] if out and out[-1].message.role == "assistant" else None
        if isinstance(item, ResponsesMessage):
            texts = _read_texts(item.content, f"{at}.content" if at != "input" else at)
            content: list[Any] = [part for _, part in texts]
            places = tuple(place for place, _ in texts)
            if item.role == "assistant" and last is not None and last.message.content is None:
                made = last.message.model_copy(update={"content": content})
                out[-1] = replace(last, message=made, texts=places)
            else:
                out.append(_Origin(Message(role=item.role, content=content), at, places))
        elif isinstance(item, CallItem):
            function = FunctionCall(name=item.name, arguments=item.arguments)
            call = ToolCall(id=item.call_id, function=function)
            if last is not None:
                calls = [*(last.message.tool_calls or ()), call]
                made = last.message.model_copy(update={"tool_calls": calls})
                out[-1] = replace(last, message=made, calls=(*last.calls, at))
            else:
                made = Message(role="assistant", tool_calls=[call])
                out.append(_Origin(made, at, calls=(at,)))
        elif isinstance(item, CallOutputItem):
            texts = _read_texts(item.output, f"{at}.output")
            content = [part for _, part in texts]
            made = Message(role="tool", tool_call_id=item.call_id, content=content)
            out.append(_Origin(made, at, tuple(place for place, _ in texts)))
    return out


def _read_texts(parts: Sequence[Part], at: str) -> list[tuple[str, TextPart]]:
    """Return the texts among parts, each with its place."""
    return [
        (f"{at}[{i}]" if len(parts) > 1 else at, TextPart(type="text", text=part.text))
        for i, part in enumerate(parts)
        if not isinstance(part, RefusalContent)
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
        tools = [tool for tool in tools if _allows(request, tool)]
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


def _allows(request: ResponsesRequest, tool: FunctionTool) -> bool:
    choice = request.tool_choice
    return not isinstance(choice, AllowedTools) or tool.name in {t.name for t in choice.tools}


def _convert_function(tool: FunctionTool) -> Json:
    return {"name": tool.name} | _select_given(tool, "description", "parameters", "strict")


def _select_given(model: TextFormat | FunctionTool, *names: str) -> Json:
    return {name: getattr(model, name) for name in names if getattr(model, name) is not None}
