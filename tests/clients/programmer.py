"""A scripted model that repairs a file with the functions that a coding agent offers.

It reads the file, sends an edit that repeats the lines around the bug as they were read, and says
that it is done. It knows the bug by its code, and everything else from the conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

__all__ = ["Programmer"]

Json = dict[str, Any]
PIECE = 4  # characters of one event
AROUND = 3  # lines before and after the bug
_NUMBERED = re.compile(r"\s*\d+(?:\t|→|: |\| )")
_READS = ("read", "read_file")
_EDITS = ("edit", "replace")
_SHELLS = ("exec_command", "shell_command", "shell")
_HEAD = {"id": "x", "created": 1, "object": "chat.completion.chunk"}
_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


@dataclass
class Programmer:
    """Serve `/v1/chat/completions`, and keep the bodies that arrive.

    Attributes:
        name: of the file to repair.
        wrong, right: the code of the bug, and what repairs it.
    """

    name: str
    wrong: str
    right: str
    bodies: list[Json] = field(default_factory=list)

    def build_app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        text, call = self._reply(body)
        function = {"name": call[0], "arguments": json.dumps(call[1])} if call else None
        calls = [{"id": f"call_{len(self.bodies)}", "type": "function", "function": function}]
        end = "tool_calls" if call else "stop"
        if not body.get("stream"):
            message = {"role": "assistant", "content": text, "tool_calls": calls if call else None}
            choices = [{"index": 0, "message": message, "finish_reason": end}]
            return web.json_response({**_HEAD, "object": "chat.completion", "choices": choices})
        deltas: list[Json] = [{"role": "assistant"}, *({"content": p} for p in _cut(text))]
        if function:
            opened = {**calls[0], "index": 0, "function": {**function, "arguments": ""}}
            deltas.append({"tool_calls": [opened]})
            for piece in _cut(function["arguments"]):
                deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        steps = [*((delta, None) for delta in deltas), ({}, end)]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for delta, finish in steps:
            choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
            await _write(response, {**_HEAD, "model": body["model"], "choices": choices})
        await _write(response, {**_HEAD, "model": body["model"], "choices": [], "usage": _USAGE})
        await response.write(b"data: [DONE]\n\n")
        return response

    def _reply(self, body: Json) -> tuple[str, tuple[str, Json] | None]:
        """Return the text and the call of the next answer."""
        texts = [t for m in body["messages"] if m["role"] in ("user", "tool") for t in _read(m)]
        tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools", ())}
        found = re.search(rf"/[^\s\"'`<>:]{{0,200}}/{re.escape(self.name)}", "\n".join(texts))
        done = sum(bool(message.get("tool_calls")) for message in body["messages"])
        if found is None or not tools:
            return "A title", None
        if done == 0:
            return "I read the file first.", _read_file(tools, found[0])
        if done == 1:
            shown = next(text for text in reversed(texts) if self.wrong in text)
            lines = [_NUMBERED.sub("", line, count=1) for line in shown.split("\n")]
            place = next(i for i, line in enumerate(lines) if self.wrong in line)
            old = lines[max(0, place - AROUND) : place + AROUND]
            new = [line.replace(self.wrong, self.right) for line in old]
            return "", _edit_file(tools, found[0], old, new)
        return f"{found[0]} is repaired.", None


def _read_file(tools: Mapping[str, Json], path: str) -> tuple[str, Json]:
    for name, tool in tools.items():
        if name.lower() in _READS:
            return name, {_find(tool, "path", "file"): path}
    return _run(tools, f"cat {path}")


def _edit_file(
    tools: Mapping[str, Json], path: str, old: list[str], new: list[str]
) -> tuple[str, Json]:
    for name, tool in tools.items():
        if name.lower() in _EDITS:
            both = {_find(tool, "old"): "\n".join(old), _find(tool, "new"): "\n".join(new)}
            return name, {_find(tool, "path", "file"): path, **both}
    pairs = zip(old, new, strict=True)
    lines = [f" {a}" if a == b else f"-{a}\n+{b}" for a, b in pairs]
    patch = "\n".join(
        ["*** Begin Patch", f"*** Update File: {path}", "@@", *lines, "*** End Patch", ""]
    )
    if "apply_patch" in tools:
        return "apply_patch", {_find(tools["apply_patch"], "patch", "input"): patch}
    return _run(tools, f"apply_patch <<'EOF'\n{patch}EOF\n")


def _run(tools: Mapping[str, Json], command: str) -> tuple[str, Json]:
    name = next(name for name in _SHELLS if name in tools)
    key = _find(tools[name], "cmd", "command")
    is_list = tools[name]["parameters"]["properties"][key].get("type") == "array"
    return name, {key: ["bash", "-lc", command] if is_list else command}


def _find(tool: Json, *words: str) -> str:
    """Return the first parameter in whose name one of some words is."""
    names = tool["parameters"]["properties"]
    return next(name for name in names if any(word in name.lower() for word in words))


def _read(message: Json) -> list[str]:
    content = message.get("content") or ""
    parts = [{"text": content}] if isinstance(content, str) else content
    return [part.get("text", "") for part in parts]


def _cut(text: str) -> Iterator[str]:
    return (text[i : i + PIECE] for i in range(0, len(text), PIECE))


async def _write(response: web.StreamResponse, event: Json) -> None:
    await response.write(f"data: {json.dumps(event)}\n\n".encode())
