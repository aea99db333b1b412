"""Play five coding agents: their requests, the answers of a model in their forms, their edits."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from benchmarks.fidelity.agent import (
    FENCE,
    Agent,
    Call,
    ChatAgent,
    MessagesAgent,
    Reply,
    ResponsesAgent,
    Step,
    Tool,
    get_text,
    make_schema,
    replace_once,
)
from benchmarks.fidelity.folders import Folder
from benchmarks.fidelity.gateway import CLAUDE, MODEL

__all__ = ["AGENTS", "Aider", "ClaudeCode", "Cline", "Codex", "Cursor"]

Json = dict[str, Any]
CACHED = {"cache_control": {"type": "ephemeral"}}
_NUMBER = re.compile(r" {0,6}\d{1,6}\t")


class ClaudeCode(MessagesAgent):
    """Play Claude Code: the Messages API, files with numbered lines, exact replacements."""

    name = "Claude Code"
    steps = ("read", "edit", "run", "tell")
    SYSTEM = (
        "You are a coding agent in a terminal.\n"
        "Read a file before you change it. Keep the style of the code around a change.\n"
        "Never add comments about what was asked. Run the tests when you are done."
    )
    TOOLS: ClassVar[list[Json]] = [
        {
            "name": "Read",
            "description": "Reads a file. Lines are numbered from 1, as cat -n does.",
            "input_schema": make_schema(file_path="The absolute path of the file"),
        },
        {
            "name": "Edit",
            "description": "Replaces a string in a file. It must occur once, exactly as given.",
            "input_schema": make_schema(
                file_path="The absolute path of the file",
                old_string="The text to replace",
                new_string="The text that takes its place",
            ),
        },
        {
            "name": "Bash",
            "description": "Runs a command in a shell and returns what it prints.",
            "input_schema": make_schema(command="The command", description="What it does"),
        },
    ]
    REMINDER = (
        "<system-reminder>\nContents of CLAUDE.md:\nUse pytest. Lines have at most 99 characters."
        "\n</system-reminder>"
    )
    public = (SYSTEM, REMINDER, TOOLS)

    def __init__(self, folder: Folder) -> None:
        super().__init__(folder)
        parts = [self.REMINDER, self.request()]
        content = [{"type": "text", "text": text} for text in parts]
        self.history.append({"role": "user", "content": content})

    def make_body(self) -> Json:
        place = f"Working directory: {self.folder.root}\nPlatform: linux\nShell: bash"
        *before, last = self.history
        *blocks, end = last["content"]
        return {
            "model": CLAUDE,
            "max_tokens": 32000,
            "stream": True,
            "metadata": {"user_id": json.dumps({"device_id": "d1", "session_id": "s1"})},
            "system": [
                {"type": "text", "text": self.SYSTEM, **CACHED},
                {"type": "text", "text": place, **CACHED},
            ],
            # The end of the conversation is cached, wherever that is.
            "messages": [*before, {**last, "content": [*blocks, {**end, **CACHED}]}],
            "tools": self.TOOLS,
        }

    def ask_read(self, tools: Sequence[Tool], path: str) -> Reply:
        return tools[0].call(path)

    def ask_edit(
        self, tools: Sequence[Tool], path: str, old: Sequence[str], new: Sequence[str]
    ) -> Reply:
        values = (path, "\n".join(old), "\n".join(new))
        return tools[1].call(*values)

    def ask_run(self, tools: Sequence[Tool], root: str) -> Reply:
        values = (f"cd {root} && python -m pytest -q", "Runs the tests")
        return tools[2].call(*values)

    def read_wish(self, reply: Reply) -> tuple[Step, str, str] | None:
        call = reply.call
        if call is None:
            return None
        if call.name == "Bash":
            return "run", get_text(call, "command"), ""
        edit = json.dumps([get_text(call, "old_string"), get_text(call, "new_string")])
        return ("read" if call.name == "Read" else "edit"), get_text(call, "file_path"), edit

    def apply(self, edit: str) -> str | None:
        return replace_once(self.text, *json.loads(edit))

    def show(self) -> str:
        lines = self.text.splitlines()
        return "\n".join(f"{i:6}\t{line}" for i, line in enumerate(lines, 1))

    def read_shown(self, text: str) -> list[str]:
        return [_NUMBER.sub("", line, count=1) for line in text.split("\n")]


class Codex(ResponsesAgent):
    """Play Codex: the Responses API, commands as lists, patches in a form of their own."""

    name = "Codex"
    steps = ("read", "edit", "run", "tell")
    SYSTEM = (
        "You are a coding agent that runs in a terminal.\n"
        "Use shell for commands and apply_patch for edits. Lines of a patch begin with a space, "
        "a minus or a plus.\n"
        "Fix the cause of a bug and leave everything else."
    )
    TOOLS: ClassVar[list[Json]] = [
        {
            "type": "function",
            "name": "shell",
            "description": "Runs a command and returns what it prints.",
            "strict": False,
            "parameters": {
                "type": "object",
                "properties": {
                    "command": {"type": "array", "items": {"type": "string"}},
                    "workdir": {"type": "string", "description": "The folder to run it in"},
                },
                "required": ["command"],
                "additionalProperties": False,
            },
        },
        {
            "type": "custom",
            "name": "apply_patch",
            "description": "Edits files. The patch is no JSON.",
            "format": {
                "type": "grammar",
                "syntax": "lark",
                "definition": 'start: "*** Begin Patch" LF hunk+ "*** End Patch" LF?',
            },
        },
    ]
    public = (SYSTEM, TOOLS[:1])

    def __init__(self, folder: Folder) -> None:
        super().__init__(folder)
        place = f"<environment_context>\n  <cwd>{folder.root}</cwd>\n  <shell>bash</shell>\n"
        for role, text in (
            ("developer", "Approvals are never asked for."),
            ("user", f"{place}</environment_context>"),
            ("user", self.request()),
        ):
            part = {"type": "input_text", "text": text}
            self.history.append({"type": "message", "role": role, "content": [part]})

    def make_body(self) -> Json:
        return {
            "model": MODEL,
            "instructions": self.SYSTEM,
            "input": [*self.history],
            "tools": self.TOOLS,
            "tool_choice": "auto",
            "parallel_tool_calls": False,
            "store": False,
            "stream": True,
            "include": [],
            "prompt_cache_key": "s1",
        }

    def read_shown(self, text: str) -> list[str]:
        try:
            told = json.loads(text)
        except ValueError:
            return []
        output = told.get("output") if isinstance(told, dict) else None
        return output.splitlines() if isinstance(output, str) else []

    def ask_read(self, tools: Sequence[Tool], path: str) -> Reply:
        folder, _, name = path.rpartition("/")
        return self._ask_shell(tools, ["cat", name], folder)

    def ask_edit(
        self, tools: Sequence[Tool], path: str, old: Sequence[str], new: Sequence[str]
    ) -> Reply:
        lines = [f"*** Update File: {path}", "@@"]
        for before, after in zip(old, new, strict=True):
            lines += [f" {before}"] if before == after else [f"-{before}", f"+{after}"]
        patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
        if len(tools) < 2:
            return self._ask_shell(tools, ["apply_patch", patch], path.rpartition("/")[0])
        tool = tools[1]
        if tool.custom:
            return Reply(call=Call(tool.name, input=patch))
        return tool.call(patch)

    def ask_run(self, tools: Sequence[Tool], root: str) -> Reply:
        return self._ask_shell(tools, ["bash", "-lc", "python -m pytest -q"], root)

    def _ask_shell(self, tools: Sequence[Tool], command: list[str], root: str) -> Reply:
        values = (command, root)
        return tools[0].call(*values)

    def read_wish(self, reply: Reply) -> tuple[Step, str, str] | None:
        call = reply.call
        if call is None:
            return None
        command = call.arguments.get("command")
        if call.name == "apply_patch":
            command = ["apply_patch", call.input or get_text(call, "input")]
        if not isinstance(command, list) or not all(isinstance(c, str) for c in command):
            return "run", "", ""
        root = get_text(call, "workdir")
        if command[:1] == ["apply_patch"]:
            found = re.search(r"^\*\*\* Update File: (.*)$", command[-1], re.MULTILINE)
            return "edit", found[1] if found else "", command[-1]
        if command[:1] == ["cat"]:
            return "read", f"{root}/{command[-1]}", ""
        return "run", root, ""

    def apply(self, edit: str) -> str | None:
        lines = [line for line in edit.split("\n") if not line.startswith(("***", "@@"))]
        old = "\n".join(line[1:] for line in lines if line[:1] in (" ", "-"))
        new = "\n".join(line[1:] for line in lines if line[:1] in (" ", "+"))
        changed = replace_once(f"\n{self.text}", f"\n{old}\n", f"\n{new}\n")
        return None if changed is None else changed[1:]


class Cline(ChatAgent):
    """Play Cline: chats in whose texts tags stand for tools."""

    name = "Cline"
    steps = ("read", "edit", "tell")
    SYSTEM = (
        "You are a coding agent in an editor. You use one tool in each message, written as tags.\n"
        "\n"
        "## read_file\n"
        "<read_file>\n<path>the path of the file</path>\n</read_file>\n"
        "\n"
        "## replace_in_file\n"
        "<replace_in_file>\n<path>the path of the file</path>\n<diff>\n------- SEARCH\n"
        "the lines to find, character for character\n=======\nthe lines that take their place\n"
        "+++++++ REPLACE\n</diff>\n</replace_in_file>\n"
        "\n"
        "## attempt_completion\n"
        "<attempt_completion>\n<result>what you have done</result>\n</attempt_completion>"
    )
    public = (SYSTEM,)

    def __init__(self, folder: Folder) -> None:
        super().__init__(folder)
        texts = (
            f"<task>\n{self.request()}\n</task>",
            f"<environment_details>\n# Current working directory ({folder.root}) Files\n"
            f"{folder.name}\n\n# Current mode\nACT MODE\n</environment_details>",
        )
        content = [{"type": "text", "text": text} for text in texts]
        self.history += [
            {"role": "system", "content": self.SYSTEM},
            {"role": "user", "content": content},
        ]

    def remember(self, reply: Reply, result: str) -> None:
        tag = reply.text[1:].partition(">")[0]
        super().remember(reply, f"[{tag} for '{self.folder.name}'] Result:\n{result}")

    def read_shown(self, text: str) -> list[str]:
        return text.splitlines()[1:]

    def ask_read(self, tools: Sequence[Tool], path: str) -> Reply:
        return Reply(f"<read_file>\n<path>{path}</path>\n</read_file>")

    def ask_edit(
        self, tools: Sequence[Tool], path: str, old: Sequence[str], new: Sequence[str]
    ) -> Reply:
        lines = ("------- SEARCH", *old, "=======", *new, "+++++++ REPLACE")
        diff = "\n".join(lines)
        return Reply(
            f"<replace_in_file>\n<path>{path}</path>\n<diff>\n{diff}\n</diff>\n</replace_in_file>"
        )

    def read_wish(self, reply: Reply) -> tuple[Step, str, str] | None:
        found = re.search(r"<(read|replace_in)_file>\s*<path>(.*?)</path>", reply.text)
        if found is None:
            return None
        return ("read" if found[1] == "read" else "edit"), found[2], reply.text

    def apply(self, edit: str) -> str | None:
        diff = edit.partition("------- SEARCH\n")[2].partition("\n+++++++ REPLACE")[0]
        old, _, new = diff.partition("\n=======\n")
        return replace_once(self.text, f"{old}\n", f"{new}\n")


class Aider(ChatAgent):
    """Play aider: chats with whole files in the messages, and blocks to search and replace."""

    name = "aider"
    steps = ("edit", "tell")
    own_answers = 1
    SYSTEM = (
        "Act as an expert in software.\n"
        "Describe each change with a block: the path of the file, a fence, the lines to search, a "
        "line of equal signs, the lines that replace them.\n"
        "The lines to search must match the file exactly, with all comments and blanks."
    )
    FILES = "These files are in the chat. Their contents below are the newest ones:"
    public = (SYSTEM, FILES)

    def __init__(self, folder: Folder) -> None:
        super().__init__(folder)
        self.done: list[Json] = []  # earlier turns; they stand before the files
        self.asked = self.request()

    def make_body(self) -> Json:
        files = f"{self.FILES}\n\n{self.folder.path}\n{FENCE}\n{self.text}{FENCE}"
        messages = (
            ("system", self.SYSTEM),
            *((told["role"], told["content"]) for told in self.done),
            ("user", files),
            ("assistant", "I will use these contents."),
            ("user", self.asked),
        )
        self.history = [{"role": role, "content": content} for role, content in messages]
        return super().make_body()

    def remember(self, reply: Reply, result: str) -> None:
        self.done += [
            {"role": "user", "content": self.asked},
            {"role": "assistant", "content": reply.text},
        ]
        self.asked = result

    def read_shown(self, text: str) -> list[str]:
        return text.partition(f"{FENCE}\n")[2].splitlines()[:-1]

    def ask_read(self, tools: Sequence[Tool], path: str) -> Reply:
        raise NotImplementedError

    def ask_edit(
        self, tools: Sequence[Tool], path: str, old: Sequence[str], new: Sequence[str]
    ) -> Reply:
        block = ("<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE")
        lines = "\n".join(block)
        return Reply(f"The bug is in one line.\n\n{path}\n{FENCE}\n{lines}\n{FENCE}")

    def read_wish(self, reply: Reply) -> tuple[Step, str, str] | None:
        before, mark, _ = reply.text.partition(f"\n{FENCE}\n<<<<<<< SEARCH\n")
        return ("edit", before.rpartition("\n")[2], reply.text) if mark else None

    def apply(self, edit: str) -> str | None:
        block = edit.partition("<<<<<<< SEARCH\n")[2].partition("\n>>>>>>> REPLACE")[0]
        old, _, new = block.partition("\n=======\n")
        return replace_once(self.text, f"{old}\n", f"{new}\n")


class Cursor(ChatAgent):
    """Play Cursor: chats with functions, and edits that leave out what stays."""

    name = "Cursor"
    steps = ("read", "edit", "tell")
    SYSTEM = (
        "You are a coding agent in an editor, and work with a user as a pair.\n"
        "Write only the lines around a change, and `... existing code ...` for the others."
    )
    GAP = "// ... existing code ..."
    tools: ClassVar[list[Json]] = [
        {
            "type": "function",
            "function": {
                "name": "read_file",
                "description": "Reads the contents of a file.",
                "parameters": make_schema(target_file="The path of the file"),
            },
        },
        {
            "type": "function",
            "function": {
                "name": "edit_file",
                "description": "Proposes an edit of a file.",
                "parameters": make_schema(
                    target_file="The path of the file",
                    instructions="One sentence about the edit",
                    code_edit="The lines around the change, in their order",
                ),
            },
        },
    ]
    public = (SYSTEM, tools)

    def __init__(self, folder: Folder) -> None:
        super().__init__(folder)
        info = f"<user_info>\nWorkspace: {folder.root}\nShell: /bin/bash\n</user_info>"
        self.history += [
            {"role": "system", "content": self.SYSTEM},
            {"role": "user", "content": info},
            {"role": "user", "content": f"<user_query>\n{self.request()}\n</user_query>"},
        ]

    def read_shown(self, text: str) -> list[str]:
        return text.splitlines()

    def ask_read(self, tools: Sequence[Tool], path: str) -> Reply:
        return tools[0].call(path)

    def ask_edit(
        self, tools: Sequence[Tool], path: str, old: Sequence[str], new: Sequence[str]
    ) -> Reply:
        edit = "\n".join([self.GAP, *new, self.GAP])
        values = (path, "I repair the line with the bug.", edit)
        return tools[1].call(*values)

    def read_wish(self, reply: Reply) -> tuple[Step, str, str] | None:
        call = reply.call
        if call is None:
            return None
        step: Step = "read" if call.name == "read_file" else "edit"
        return step, get_text(call, "target_file"), get_text(call, "code_edit")

    def apply(self, edit: str) -> str | None:
        new = [line for line in edit.split("\n") if line != self.GAP]
        lines = self.text.split("\n")
        if not new or lines.count(new[0]) != 1 or lines.count(new[-1]) != 1:
            return None
        start, end = lines.index(new[0]), lines.index(new[-1])
        return "\n".join([*lines[:start], *new, *lines[end + 1 :]])


AGENTS: tuple[type[Agent], ...] = (ClaudeCode, Codex, Cline, Aider, Cursor)
