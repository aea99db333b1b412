"""Define the forms in which clients ask for chats: how each is read and answered.

Every form becomes a chat request at the edge, and everything behind it knows only chats. To serve
another form, add its `Dialect`, and a route.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from proxy.api.messages_render import MessagesRenderer
from proxy.api.render import ChatRenderer, Renderer
from proxy.api.responses_render import ResponsesRenderer
from proxy.pipeline.plan import Plan
from proxy.requests.anthropic import chat as anthropic
from proxy.requests.anthropic.protocol import MessagesRequest, validate_messages
from proxy.requests.hosted_tools import keep_functions
from proxy.requests.protocol import ChatRequest
from proxy.requests.responses import chat as responses
from proxy.requests.responses.protocol import ResponsesRequest, validate_response
from proxy.requests.validation import validate

__all__ = ["CHAT", "MESSAGES", "RESPONSES", "Dialect"]

Body = TypeVar("Body")


@dataclass(frozen=True)
class Dialect(Generic[Body]):
    """Describe a form.

    Attributes:
        lists: the lists that count as messages.
        read: validates a body; the flag leaves out tools that are not served, in place of an
            error.
        convert: returns the chat that a request stands for.
        find_place: returns the name that a field of the chat has in the request, for errors.
        render: makes the renderer of one answer.
    """

    lists: tuple[str, ...]
    read: Callable[[Mapping[str, Any], bool], Body]
    convert: Callable[[Body], ChatRequest]
    find_place: Callable[[str | None, Body], str | None]
    render: Callable[[Body, Plan], Renderer]


def _read_chat(body: Mapping[str, Any], ignore: bool) -> ChatRequest:
    return validate(ChatRequest, keep_functions(body, ignore=ignore))


def _read_response(body: Mapping[str, Any], ignore: bool) -> ResponsesRequest:
    return validate_response(keep_functions(body, ignore=ignore), ignore=ignore)


def _read_messages(body: Mapping[str, Any], ignore: bool) -> MessagesRequest:
    return validate_messages(MessagesRequest, body, ignore=ignore)


CHAT = Dialect[ChatRequest](
    lists=("messages",),
    read=_read_chat,
    convert=lambda request: request,
    find_place=lambda param, _: param,
    render=lambda _, plan: ChatRenderer(plan),
)
RESPONSES = Dialect[ResponsesRequest](
    lists=("input",),
    read=_read_response,
    convert=responses.convert_to_chat,
    find_place=responses.find_place,
    render=lambda request, _: ResponsesRenderer(request),
)
MESSAGES = Dialect[MessagesRequest](
    lists=("messages", "system"),
    read=_read_messages,
    convert=anthropic.convert_to_chat,
    find_place=anthropic.find_place,
    render=lambda request, _: MessagesRenderer(request),
)
