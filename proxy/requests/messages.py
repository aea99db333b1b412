"""Read messages as a prompt (its public texts, its private ones, and the local conversation), and
recognise housekeeping.

`<public>…</public>` in a user turn marks an instruction that is sent verbatim, without the tags,
as is `inferdpt.instruction`. Everything else in user, tool and function turns is private. System
turns stay on this machine unless the operator configures otherwise. Assistant turns are looked up,
or else private.

Housekeeping are the requests that a chat client makes on its own behalf (a title, tags, follow-up
questions, a summary), known by the form of the prompt. The local model is good enough for them.
They repeat the conversation, so sending them to the remote would spend budget on text that nobody
asked about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from extraction.extractor import Task
from perturb.text.search import Expression
from proxy.config.upstreams.local import SHIPPED
from proxy.errors import bad_request
from proxy.requests.protocol import ChatRequest, FunctionCall, Message, ToolCall

__all__ = [
    "Housekeeping",
    "Part",
    "Prompt",
    "Turn",
    "count_tags",
    "keep_local",
    "read_chat",
    "read_text",
    "spell_assistant",
    "spell_turn",
    "split_public",
]

# If a tag opens twice before it closes, only the inner span is public.
_OPEN, _CLOSE = "<public>", "</public>"
_TAG = re.compile(f"{_OPEN}|{_CLOSE}")
SystemPolicy = Literal["local", "public", "perturb"]
Role = Literal["system", "user", "assistant"]
_ROLES: dict[str, Role] = {  # as the remote sees them
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",  # results are text for the model to read
    "function": "user",
}


@dataclass(frozen=True)
class Part:
    """Hold a piece of a turn. Public text is sent as it is, other text only perturbed."""

    text: str
    public: bool = False


@dataclass(frozen=True)
class Turn:
    """Hold a turn as the remote may see it: its parts joined, after perturbation."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Return the raw turn without tags."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True)
class Prompt:
    """Hold one prompt as it was received.

    Attributes:
        task: the task, which selects the pipeline's templates.
        turns: the turns that concern the remote, in order; the last is to be answered.
        messages: the raw conversation for the local model, in OpenAI's form.
        private: every raw text that must not be sent as it is, local system turns included.
        public: every text that is sent as it is, with the name of its place.
        lines: by the name of the place, the lines of the message in which the lines of its public
            text stand, from 1.
    """

    task: Task
    turns: tuple[Turn, ...]
    messages: tuple[dict[str, Any], ...]
    private: tuple[str, ...]
    public: tuple[tuple[str, str], ...]
    lines: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """Return the raw turn to answer."""
        return self.turns[-1].text

    def find(self, text: str) -> tuple[str, int] | None:
        """Return the place of a raw text, and the line of the message in which it begins; None if
        no message has it."""
        for i, message in enumerate(self.messages):
            calls = [call["function"] for call in message.get("tool_calls", ())]
            spelled = spell_turn(message["content"], ((c["name"], c["arguments"]) for c in calls))
            places = {f"messages[{i}].content": message["content"], f"messages[{i}]": spelled}
            for at, own in places.items():
                if (start := own.find(text)) >= 0:
                    return at, own.count("\n", 0, start) + 1
        return None

    @property
    def opening(self) -> list[str]:
        """Return the raw turns that identify a conversation: system turns and the first user
        turn."""
        roles = [message["role"] for message in self.messages]
        first = roles.index("user") if "user" in roles else len(roles)
        return [
            part
            for i, message in enumerate(self.messages)
            if message["role"] == "system" or i == first
            for part in (message["role"], message["content"])
        ]


def split_public(text: str, *, tags: bool) -> tuple[Part, ...]:
    """Split a user's text at its public spans; an unclosed tag has no effect."""
    parts: list[Part] = []
    end = 0
    for first, last in pairwise(_TAG.finditer(text) if tags else ()):
        if (first[0], last[0]) == (_OPEN, _CLOSE):
            if first.start() > end:
                parts.append(Part(text[end : first.start()]))
            parts.append(Part(text[first.end() : last.start()], public=True))
            end = last.end()
    if end < len(text) or not parts:
        parts.append(Part(text[end:]))
    return tuple(parts)


def count_tags(request: ChatRequest) -> int:
    """Count the tags that open public text; each may begin a part of its own."""
    turns = (message for message in request.messages if message.role == "user")
    return sum(text.count(_OPEN) for message in turns for text in message.texts)


def read_chat(request: ChatRequest, *, system: SystemPolicy, public_tags: bool) -> Prompt:
    """Read a chat as a prompt.

    Args:
        system: the treatment of system turns; `local` hides them from the remote.
        public_tags: whether users may mark public text.

    Raises:
        ApiError: 400, there is nothing to answer, or too many turns for the task.
    """
    task = request.inferdpt.task or "chat"
    turns: list[Turn] = []
    messages: list[dict[str, Any]] = []
    private: list[str] = []
    public: list[tuple[str, str]] = []
    lines: dict[str, Sequence[int]] = {}
    for i, message in enumerate(request.messages):
        role = _ROLES[message.role]
        if role == "assistant":  # the proxy's own answers hold the remote's words: not private
            parts: tuple[Part, ...] = (Part(spell_assistant(message)),)
        else:
            if message.role == "user":
                parts = _split_user(message, tags=public_tags)
            else:
                parts = (Part(message.text, public=role == "system" and system == "public"),)
            private += [part.text for part in parts if not part.public]
        if role != "system" or (system != "local" and message.text):
            turns.append(Turn(role, parts))
        if shown := "\n".join(part.text for part in parts if part.public):
            public.append((f"messages[{i}].content", shown))
            lines[public[-1][0]] = _number_lines(parts)
        messages.append(_spell_message(message, parts))
    if task == "continuation" and [t.role for t in turns if t.role != "system"] != ["user"]:
        raise bad_request(
            "Task 'continuation' takes one user message (and system messages).",
            param="messages",
        )
    if not turns:
        raise bad_request("The conversation has no turn to answer.", param="messages")
    seen = turns[-1:] if task == "instruct" else turns
    return Prompt(task, tuple(seen), tuple(messages), tuple(private), tuple(public), lines)


def read_text(text: str, task: Task) -> Prompt:
    """Read a text as a prompt of one private user turn."""
    turn = Turn("user", (Part(text),))
    return Prompt(task, (turn,), ({"role": "user", "content": text},), (text,), ())


def _split_user(message: Message, *, tags: bool) -> tuple[Part, ...]:
    """Return the public and private parts of a user turn; no span crosses text parts."""
    parts: list[Part] = []
    for i, text in enumerate(message.texts):
        if i:
            parts.append(Part("\n", public=True))
        parts += split_public(text, tags=tags)
    return tuple(parts)


def _number_lines(parts: Iterable[Part]) -> list[int]:
    """Return the line of the message for each line of its public parts."""
    found: list[int] = []
    line = 1
    for part in parts:
        end = line + part.text.count("\n")
        found += range(line, end + 1) if part.public else ()
        line = end
    return found


def spell_assistant(message: Message) -> str:
    """Spell an assistant turn as one string: its text, then its tool calls.

    The string is the same for a turn that the proxy produced and for the client's copy of it.
    """
    calls = [call.function for call in message.tool_calls or ()]
    if message.function_call is not None:
        calls.append(message.function_call)
    return spell_turn(message.text, ((call.name, call.arguments) for call in calls))


def spell_turn(text: str, calls: Iterable[tuple[str, str]]) -> str:
    """Spell a text and its calls, (name, arguments) each, as `spell_assistant` does.

    Arguments are compared as JSON: clients that parse them write them in a form of their own.
    """
    lines = [text.strip(), *(_spell_arguments(*call) for call in calls)]
    return "\n".join(line for line in lines if line)


def _spell_arguments(name: str, arguments: str) -> str:
    try:
        return json.dumps([name, json.loads(arguments)], ensure_ascii=False)
    except (ValueError, RecursionError):
        return json.dumps([name, arguments], ensure_ascii=False)


def _spell_message(message: Message, parts: Sequence[Part]) -> dict[str, Any]:
    """Return a message for the local model: its parts joined, without tags, `name`, refusals and
    unused ids."""
    text = "".join(part.text for part in parts) if message.role == "user" else message.text
    out: dict[str, Any] = {
        "role": "system" if message.role == "developer" else message.role,
        "content": text,
    }
    if message.role == "tool":
        out["tool_call_id"] = message.tool_call_id or ""
    if message.role == "function":
        out["name"] = message.name or ""
    if message.tool_calls:
        out["tool_calls"] = [_spell_call(call) for call in message.tool_calls]
    if message.function_call is not None:
        out["function_call"] = _spell_function(message.function_call)
    return out


def _spell_call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": call.type, "function": _spell_function(call.function)}


def _spell_function(call: FunctionCall) -> dict[str, str]:
    return {"name": call.name, "arguments": call.arguments}


BEGINNING, ENDING = 1000, 200  # characters of a text that an operator's expression sees
SECONDS = 0.25  # for one expression, which takes microseconds if it is linear


class Housekeeping:
    """Recognise housekeeping by the patterns in force.

    Args:
        patterns: regular expressions that match from the beginning of a text (white space aside).
            They see its beginning and its end, joined by a line break if text in between is left
            out.

    Raises:
        ValueError: one is not a regular expression.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        own = [(i, pattern) for i, pattern in enumerate(patterns) if pattern not in SHIPPED]
        self.brief = not own  # else one may take its whole time
        self._patterns = [
            Expression(pattern, f"local.housekeeping.{i}", SECONDS) for i, pattern in own
        ]
        if shipped := [f"(?:{pattern})" for pattern in patterns if pattern in SHIPPED]:
            name = "local.housekeeping"  # as one, since each call takes longer than the match
            self._patterns.insert(0, Expression("|".join(shipped), name, SECONDS))

    def recognises(self, request: ChatRequest) -> bool:
        """Return whether the last user turn, or a system turn, matches one of the patterns.

        Raises:
            ExpressionTimeout: one ran out of time, so the request cannot be classified.
        """
        users = [message for message in request.messages if message.role == "user"]
        systems = [m for m in request.messages if m.role in ("system", "developer")]
        return any(self._matches(message.text) for message in (*users[-1:], *systems))

    def _matches(self, text: str) -> bool:
        beginning = text[:BEGINNING].lstrip()
        rest = max(BEGINNING, len(text) - ENDING)
        between = "\n" if rest > BEGINNING else ""
        excerpt = (beginning + between + text[rest:]).rstrip()
        return bool(beginning) and any(pattern.match(excerpt) for pattern in self._patterns)


def keep_local(request: ChatRequest) -> ChatRequest:
    """Return the same request, for the local model alone."""
    options = request.inferdpt.model_copy(update={"local_only": True})
    return request.model_copy(update={"inferdpt": options})
