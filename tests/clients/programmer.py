"""A scripted model that repairs a file with the functions that a real coding agent offers.

It reads the file, sends an edit that repeats the lines around the bug as they were read, and says
that it is done. It knows the bug by its code, and everything else from the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from benchmarks.fidelity.agent import Call, Reply, Tool
from benchmarks.fidelity.coder import AROUND, Coder, Conversation

__all__ = ["Programmer"]

_NUMBERED = re.compile(r"\s*\d+(?:\t|→|: |\| )")
_READS = ("read", "read_file")
_EDITS = ("edit", "replace")
_SHELLS = ("exec_command", "shell_command", "bash")


@dataclass
class Programmer(Coder):
    """Answer any agent's model, and keep the bodies that arrive.

    Attributes:
        name: of the file to repair.
        wrong, right: the code of the bug, and what repairs it.
    """

    name: str = ""
    wrong: str = ""
    right: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def _read(self, request: web.Request) -> dict[str, Any]:
        self.bodies.append(await super()._read(request))
        return self.bodies[-1]

    def _write(self, seen: Conversation) -> Reply:
        tools = {tool.name.lower(): tool for tool in seen.tools}
        texts = "\n".join(seen.texts)
        found = re.search(rf"/[^\s\"'`<>:]{{0,200}}/{re.escape(self.name)}", texts)
        if found is None or not tools:
            return Reply("A title")
        if seen.answers == 0:
            return _read_file(tools, found[0])
        if seen.answers == 1:
            shown = next(text for text in reversed(seen.texts) if self.wrong in text)
            lines = [_NUMBERED.sub("", line, count=1) for line in shown.split("\n")]
            place = next(i for i, line in enumerate(lines) if self.wrong in line)
            old = lines[max(0, place - AROUND) : place + AROUND]
            new = [line.replace(self.wrong, self.right) for line in old]
            return _edit_file(tools, found[0], old, new)
        return Reply(f"{found[0]} is repaired.")


def _read_file(tools: Mapping[str, Tool], path: str) -> Reply:
    for name in _READS:
        if name in tools:
            return _call(tools[name], {("path", "file"): path})
    return _run(tools, f"cat {path}")


def _edit_file(tools: Mapping[str, Tool], path: str, old: list[str], new: list[str]) -> Reply:
    before, after = "\n".join(old), "\n".join(new)
    for name in _EDITS:
        if name in tools:
            return _call(tools[name], {("path", "file"): path, ("old",): before, ("new",): after})
    pairs = zip(old, new, strict=True)
    lines = [f" {a}" if a == b else f"-{a}\n+{b}" for a, b in pairs]
    head = ("*** Begin Patch", f"*** Update File: {path}", "@@")
    patch = "\n".join([*head, *lines, "*** End Patch", ""])
    if "apply_patch" in tools:
        return _call(tools["apply_patch"], {("patch", "input"): patch})
    return _run(tools, f"apply_patch <<'EOF'\n{patch}EOF\n")


def _run(tools: Mapping[str, Tool], command: str) -> Reply:
    name = next(name for name in _SHELLS if name in tools)
    return _call(tools[name], {("cmd", "command"): command})


def _call(tool: Tool, values: Mapping[tuple[str, ...], str]) -> Reply:
    """Call a tool; each value has the first argument in whose name one of its words is."""
    arguments = {
        next(
            name for name in tool.parameters if any(word in name.lower() for word in words)
        ): value
        for words, value in values.items()
    }
    return Reply(call=Call(tool.name, arguments))
