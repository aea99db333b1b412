"""What of a conversation is public, what is private, and what stays on this machine.

`<public>…</public>` in a user turn marks instruction that goes out verbatim, without the tags.
Everything else in user, tool and function turns is private; system turns are local unless the
operator says otherwise; assistant turns are looked up or private.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from proxy.protocol import ChatRequest, FunctionCall, Message, ToolCall

__all__ = [
    "Part",
    "Turn",
    "assistant_key",
    "conversation",
    "local_messages",
    "private_texts",
    "split_public",
    "turn_key",
]

# A tag that opens again before it closes was left open: only the inner span is public.
_PUBLIC = re.compile(r"<public>((?:(?!<public>).)*?)</public>", re.DOTALL)
SystemPolicy = Literal["local", "public", "perturb"]


@dataclass(frozen=True)
class Part:
    """A piece of a turn: `public` leaves as it is, the rest leaves perturbed only."""

    text: str
    public: bool = False


@dataclass(frozen=True)
class Turn:
    """A turn as the remote may come to see it: `parts` joined, after perturbation."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The raw turn without tags."""
        return "".join(part.text for part in self.parts)


def split_public(text: str, *, tags: bool) -> tuple[Part, ...]:
    """Split a user's text at its public spans; an unclosed tag opens nothing."""
    parts: list[Part] = []
    end = 0
    for match in _PUBLIC.finditer(text) if tags else ():
        if match.start() > end:
            parts.append(Part(text[end : match.start()]))
        parts.append(Part(match.group(1), public=True))
        end = match.end()
    if end < len(text) or not parts:
        parts.append(Part(text[end:]))
    return tuple(parts)


def conversation(
    request: ChatRequest, *, system: SystemPolicy, public_tags: bool
) -> tuple[Turn, ...]:
    """The turns that concern the remote, in order; `local` system turns are left out."""
    turns: list[Turn] = []
    for message in request.messages:
        if message.role in ("system", "developer"):
            if system != "local" and message.text:
                turns.append(Turn("system", (Part(message.text, public=system == "public"),)))
        elif message.role == "assistant":
            turns.append(Turn("assistant", (Part(assistant_key(message)),)))
        elif message.role == "user":
            turns.append(Turn("user", _user_parts(message, tags=public_tags)))
        else:  # tool and function results: private text the model is to read
            turns.append(Turn("user", (Part(message.text),)))
    return tuple(turns)


def private_texts(
    request: ChatRequest, *, system: SystemPolicy, public_tags: bool
) -> tuple[str, ...]:
    """Every raw text of the conversation that must not leave as it is, local system turns
    included. Assistant turns are left out: the ones the proxy gave hold the remote's words."""
    out: list[str] = []
    for message in request.messages:
        if message.role == "user":
            parts = _user_parts(message, tags=public_tags)
            out += [part.text for part in parts if not part.public]
        elif message.role in ("system", "developer"):
            out += [] if system == "public" else [message.text]
        elif message.role != "assistant":
            out.append(message.text)
    return tuple(out)


def _user_parts(message: Message, *, tags: bool) -> tuple[Part, ...]:
    """The public and private parts of a user turn; no span reaches from one text part into the
    next."""
    parts: list[Part] = []
    for i, text in enumerate(message.texts):
        if i:
            parts.append(Part("\n", public=True))
        parts += split_public(text, tags=tags)
    return tuple(parts)


def assistant_key(message: Message) -> str:
    """An assistant turn as one string: its text, then its tool calls. The same for a turn that
    the proxy produced and for the client's copy of it."""
    calls = [call.function for call in message.tool_calls or ()]
    if message.function_call is not None:
        calls.append(message.function_call)
    return turn_key(message.text, ((call.name, call.arguments) for call in calls))


def turn_key(text: str, calls: Iterable[tuple[str, str]]) -> str:
    """See `assistant_key`."""
    lines = [
        text.strip(),
        *(json.dumps([name, arguments], ensure_ascii=False) for name, arguments in calls),
    ]
    return "\n".join(line for line in lines if line)


def local_messages(request: ChatRequest, *, public_tags: bool) -> list[dict[str, Any]]:
    """The raw conversation for the local model: tags removed, `name`, ids of no use and refusals
    dropped, parts joined."""
    out: list[dict[str, Any]] = []
    for message in request.messages:
        text = message.text
        if message.role == "user":
            text = "".join(part.text for part in _user_parts(message, tags=public_tags))
        item: dict[str, Any] = {
            "role": "system" if message.role == "developer" else message.role,
            "content": text,
        }
        if message.role == "tool":
            item["tool_call_id"] = message.tool_call_id or ""
        if message.role == "function":
            item["name"] = message.name or ""
        if message.tool_calls:
            item["tool_calls"] = [_call(call) for call in message.tool_calls]
        if message.function_call is not None:
            item["function_call"] = _function(message.function_call)
        out.append(item)
    return out


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": call.type, "function": _function(call.function)}


def _function(call: FunctionCall) -> dict[str, str]:
    return {"name": call.name, "arguments": call.arguments}
