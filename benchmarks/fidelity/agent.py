"""What coding agents have in common: a folder, a session, and one of three APIs.

An agent has two sides. The client keeps the real folder, sends requests and does what the answers
say. `ask_…` are answers that a model would write in the agent's form, about what it has received.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from benchmarks.fidelity.folders import Folder
from benchmarks.fidelity.gateway import MODEL

__all__ = [
    "FENCE",
    "Agent",
    "Call",
    "ChatAgent",
    "MessagesAgent",
    "Reply",
    "ResponsesAgent",
    "Step",
    "Tool",
    "get_text",
    "make_schema",
    "read_events",
    "replace_once",
]

Json = dict[str, Any]
Step = Literal["read", "edit", "run", "tell"]
FENCE = "````"
NO_MATCH = "The edit does not match the file."
NO_FILE = "There is no such file."


@dataclass(frozen=True)
class Tool:
    """Describe a tool as it stands in a request.

    Attributes:
        parameters: the names of its arguments; `input` alone for text in a form of its own.
        custom: whether it is called with text in place of arguments.
    """

    name: str
    parameters: tuple[str, ...]
    custom: bool = False

    def call(self, *values: Any) -> Reply:
        """Return an answer that calls it with these arguments, in their order."""
        return Reply(call=Call(self.name, dict(zip(self.parameters, values, strict=True))))


@dataclass(frozen=True)
class Call:
    """Hold a call of a tool; `input` is the text for a custom one."""

    name: str
    arguments: Json = field(default_factory=dict)
    input: str | None = None
    id: str = ""


@dataclass(frozen=True)
class Reply:
    """Hold an answer of the model: a text or a call."""

    text: str = ""
    call: Call | None = None


class Agent(ABC):
    """Play an agent that repairs a folder.

    Attributes:
        name: the agent's.
        path: of the endpoint that it uses, after `/v1/`.
        steps: what its model does, an answer each.
        own_answers: how many answers the agent itself writes into a conversation.
        public: what it sends with every request, JSON that holds nothing private.
        text: the file as it is now.
        applied: whether an edit has been applied.
        quoted: whether the last answer quotes the repaired file.
    """

    name: ClassVar[str]
    path: ClassVar[str]
    steps: ClassVar[tuple[Step, ...]]
    own_answers: ClassVar[int] = 0
    public: ClassVar[tuple[Any, ...]]

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.text = folder.text
        self.applied = False
        self.quoted = False
        self.history: list[Json] = []

    @abstractmethod
    def make_body(self) -> Json:
        """Return the next request; `history` is a part of it."""

    @abstractmethod
    def read_stream(self, events: Sequence[Json]) -> Reply:
        """Read the answer to it."""

    @abstractmethod
    def remember(self, reply: Reply, result: str) -> None:
        """Add an answer and its result to the history."""

    @abstractmethod
    def ask_read(self, tools: Sequence[Tool], path: str) -> Reply:
        """Return the answer that reads a file."""

    @abstractmethod
    def ask_edit(
        self, tools: Sequence[Tool], path: str, old: Sequence[str], new: Sequence[str]
    ) -> Reply:
        """Return the answer that replaces lines of a file."""

    def ask_run(self, tools: Sequence[Tool], root: str) -> Reply:
        """Return the answer that runs a folder's test."""
        raise NotImplementedError

    @abstractmethod
    def read_wish(self, reply: Reply) -> tuple[Step, str, str] | None:
        """Return what an answer wants: to read or change a file (its path) or to run a command.

        The third part is the edit, in the agent's form.
        """

    @abstractmethod
    def apply(self, edit: str) -> str | None:
        """Return the file after an edit; None if the edit does not match it."""

    def show(self) -> str:
        """Return the file as the agent shows it to its model."""
        return self.text

    @abstractmethod
    def read_shown(self, text: str) -> list[str]:
        """Return the lines of the file, as the model reads them from a text that shows it."""

    def take(self, reply: Reply) -> bool:
        """Do what an answer says; return whether the session goes on."""
        wish = self.read_wish(reply)
        if wish is None:
            quote = reply.text.partition(f"{FENCE}\n")[2].rpartition(FENCE)[0]
            self.quoted = quote == self.folder.repaired
            return False
        step, target, edit = wish
        self.remember(reply, self._do(step, target, edit))
        return True

    def _do(self, step: Step, target: str, edit: str) -> str:
        if step == "run":
            known = self.folder.root in target
            return self.run_test() if known else f"sh: {target}: No such file or directory"
        if target not in (self.folder.path, self.folder.name):
            return NO_FILE
        if step == "read":
            return self.show()
        changed = self.apply(edit)
        if changed is None:
            return NO_MATCH
        self.text, self.applied = changed, True
        return f"The file {target} has been changed.\n{self.run_test()}"

    def run_test(self) -> str:
        """Run the folder's test; return what it prints."""
        return "1 passed in 0.02s" if self.folder.passes(self.text) else self.folder.report

    def request(self) -> str:
        """Return what the user asks for."""
        return (
            f"The test of {self.folder.path} fails:\n\n{self.folder.report}\n\n"
            "Find the bug, repair it, and quote the repaired file."
        )


def replace_once(text: str, old: str, new: str) -> str | None:
    """Replace a part of a text; return None if it does not occur exactly once."""
    return text.replace(old, new) if old and text.count(old) == 1 else None


def _read_call(name: str, arguments: str, id_: str) -> Call:
    try:
        read = json.loads(arguments or "{}")
    except ValueError:
        read = {}
    return Call(name, read if isinstance(read, dict) else {}, id=id_)


def get_text(call: Call | None, name: str) -> str:
    """Return an argument of a call; an empty text if it has none, or another type."""
    value = call.arguments.get(name) if call else None
    return value if isinstance(value, str) else ""


def make_schema(**properties: str) -> Json:
    """Return the JSON Schema of texts, each with its description."""
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text} for name, text in properties.items()
        },
        "required": list(properties),
        "additionalProperties": False,
    }


def read_events(stream: str) -> list[Json]:
    """Read the events of a stream of any of the three APIs."""
    lines = (line for line in stream.split("\n") if line.startswith("data: {"))
    return [json.loads(line[6:]) for line in lines]


class MessagesAgent(Agent):
    """Speak the Messages API."""

    path = "messages"

    def read_stream(self, events: Sequence[Json]) -> Reply:
        text, block, arguments = "", Json(), ""
        for event in events:
            if event["type"] == "content_block_start":
                started = event["content_block"]
                block = started if started["type"] == "tool_use" else block
                text += started.get("text", "")
            elif event["type"] == "content_block_delta":
                text += event["delta"].get("text", "")
                arguments += event["delta"].get("partial_json", "")
        call = _read_call(block["name"], arguments, block["id"]) if block else None
        return Reply(text, call)

    def remember(self, reply: Reply, result: str) -> None:
        call = reply.call
        assert call is not None
        use = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        told = {"type": "tool_result", "tool_use_id": call.id, "content": result}
        self.history += [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [told]},
        ]


class ResponsesAgent(Agent):
    """Speak the Responses API."""

    path = "responses"

    def read_stream(self, events: Sequence[Json]) -> Reply:
        done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
        text, call = "", None
        for item in done:
            if item["type"] == "message":
                text += "".join(part.get("text", "") for part in item["content"])
            elif item["type"] == "function_call":
                call = _read_call(item["name"], item["arguments"], item["call_id"])
            elif item["type"] == "custom_tool_call":
                call = Call(item["name"], input=item["input"], id=item["call_id"])
        return Reply(text, call)

    def remember(self, reply: Reply, result: str) -> None:
        call = reply.call
        assert call is not None
        if call.input is None:
            arguments = json.dumps(call.arguments)
            told = {"type": "function_call", "name": call.name, "arguments": arguments}
            end = "function_call_output"
        else:
            told = {"type": "custom_tool_call", "name": call.name, "input": call.input}
            end = "custom_tool_call_output"
        output = json.dumps({"output": result, "metadata": {"exit_code": 0}})
        self.history += [
            {**told, "call_id": call.id},
            {"type": end, "call_id": call.id, "output": output},
        ]


class ChatAgent(Agent):
    """Speak the API of chat completions."""

    path = "chat/completions"
    tools: ClassVar[list[Json]] = []

    def make_body(self) -> Json:
        more = {"tools": self.tools} if self.tools else {}
        return {
            "model": MODEL,
            "messages": [*self.history],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0,
            **more,
        }

    def read_stream(self, events: Sequence[Json]) -> Reply:
        text, arguments, name, id_ = "", "", "", ""
        for event in events:
            for choice in event["choices"]:
                delta = choice["delta"]
                text += delta.get("content") or ""
                for call in delta.get("tool_calls") or ():
                    id_ = call.get("id") or id_
                    name = call["function"].get("name") or name
                    arguments += call["function"].get("arguments") or ""
        return Reply(text, _read_call(name, arguments, id_) if name else None)

    def remember(self, reply: Reply, result: str) -> None:
        call = reply.call
        if call is None:
            self.history += [
                {"role": "assistant", "content": reply.text},
                {"role": "user", "content": [{"type": "text", "text": result}]},
            ]
            return
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        told = {"id": call.id, "type": "function", "function": function}
        self.history += [
            {"role": "assistant", "content": None, "tool_calls": [told]},
            {"role": "tool", "tool_call_id": call.id, "content": result},
        ]
