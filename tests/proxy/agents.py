"""Requests in the forms of coding agents, after their public sources and documentation, with a
value wherever they hold text of the user or of a tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.proxy.conftest import MODEL

Value = Callable[[], Any]
CACHED = {"cache_control": {"type": "ephemeral"}}
CLAUDE_CODE_HEADERS = {
    "anthropic-version": "2023-06-01",
    "anthropic-beta": "claude-code-20250219,context-management-2025-06-27,effort-2025-11-24",
    "anthropic-dangerous-direct-browser-access": "true",
    "x-app": "cli",
    "User-Agent": "claude-cli/2.1.69 (external, cli)",
    "X-Stainless-Lang": "js",
    "X-Claude-Code-Session-Id": "b4e5aaaa-9a3e-47c4-84ad-3a70f38c676e",
}
CODEX_HEADERS = {
    "originator": "codex_cli_rs",
    "session-id": "b4e5aaaa-9a3e-47c4-84ad-3a70f38c676e",
    "User-Agent": "codex_cli_rs/0.98.0 (Debian 12; x86_64)",
    "x-codex-turn-metadata": '{"turn_id": "1"}',
}


def _block(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def _schema(**properties: str) -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text} for name, text in properties.items()
        },
        "required": [next(iter(properties))],
        "additionalProperties": False,
    }


def claude_code(text: Value) -> dict[str, Any]:
    """A turn of Claude Code, `POST /v1/messages?beta=true`, after two calls; one has failed."""
    reminder = f"<system-reminder>\nContents of CLAUDE.md:\n{text()}\n</system-reminder>\n"
    user = {"device_id": text(), "account_uuid": "", "session_id": text()}
    return {
        "model": MODEL,
        "max_tokens": 32000,
        "stream": True,
        "temperature": 1,
        "thinking": {"type": "adaptive", "budget_tokens": 0},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "medium"},
        "metadata": {"user_id": json.dumps(user)},
        "system": [
            _block("x-anthropic-billing-header: cc_version=2.1.69.a1b; cc_entrypoint=cli; cch=0;"),
            _block("You are Claude Code, Anthropic's official CLI for Claude.", **CACHED),
            _block(f"Here is useful information.\nWorking directory: /home/{text()}", **CACHED),
        ],
        "messages": [
            {"role": "user", "content": [_block(reminder), _block(text(), **CACHED)]},
            {"role": "system", "content": f"Available agent types:\n- {text()}"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": text(), "signature": text()},
                    {"type": "redacted_thinking", "data": text()},
                    _block(text()),
                    {
                        "type": "tool_use",
                        "id": "toolu_01A",
                        "name": "Bash",
                        "input": {"command": f"ls {text()}", "description": text()},
                    },
                    {
                        "type": "tool_use",
                        "id": "toolu_01B",
                        "name": "Read",
                        "input": {"file_path": f"/home/{text()}", "limit": 20},
                        "caller": {"type": "direct"},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_01A",
                        "content": text(),
                        "is_error": True,
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_01B",
                        "content": [_block(text())],
                        **CACHED,
                    },
                    _block(f"<system-reminder>{text()}</system-reminder>", **CACHED),
                ],
            },
        ],
        "tools": [
            {
                "name": "Bash",
                "description": text(),
                "input_schema": _schema(command=text(), description=text()),
            },
            {
                "name": "Read",
                "description": text(),
                "input_schema": _schema(file_path=text()),
                "eager_input_streaming": True,
            },
        ],
    }


def codex(text: Value) -> dict[str, Any]:
    """A turn of Codex after a call: `POST /v1/responses`."""
    environment = f"<environment_context>\n<cwd>/home/{text()}</cwd>\n</environment_context>"
    return {
        "model": MODEL,
        "instructions": "You are a coding agent running in the Codex CLI.",
        "input": [
            {
                "type": "message",
                "id": text(),
                "role": "developer",
                "content": [{"type": "input_text", "text": text()}],
            },
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": environment},
                    {"type": "input_text", "text": text()},
                ],
            },
            {"type": "reasoning", "summary": [], "content": None, "encrypted_content": text()},
            {
                "type": "function_call",
                "name": "exec_command",
                "arguments": json.dumps({"cmd": f"ls {text()}", "workdir": text()}),
                "call_id": "call_1",
            },
            {"type": "function_call_output", "call_id": "call_1", "output": text()},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text()}],
                "phase": "commentary",
            },
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": text()}],
            },
        ],
        "tools": [
            {
                "type": "function",
                "name": "exec_command",
                "description": text(),
                "strict": False,
                "defer_loading": True,
                "parameters": _schema(cmd=text(), workdir=text()),
            },
            {
                "type": "function",
                "name": "view_image",
                "strict": False,
                "parameters": _schema(p=""),
            },
        ],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"effort": "medium", "summary": "auto", "context": None},
        "store": False,
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": text(),
        "text": {"verbosity": "low"},
        "service_tier": "priority",
        "client_metadata": {
            "session_id": text(),
            "thread_id": text(),
            "turn_id": text(),
            "x-codex-installation-id": text(),
            "x-codex-window-id": f"{text()}:0",
            "x-codex-turn-metadata": json.dumps({"workspaces": {text(): {"branch": text()}}}),
        },
    }


# Tools of Codex that are no functions of the client: its server, or its own grammar, runs them.
CODEX_TOOLS: list[dict[str, Any]] = [
    {
        "type": "custom",
        "name": "apply_patch",
        "description": "Use this to edit files.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"},
    },
    {"type": "web_search", "external_web_access": False},
    {"type": "image_generation", "output_format": "png"},
    {"type": "tool_search", "execution": "client", "description": "x", "parameters": {}},
    {"type": "local_shell"},
    {
        "type": "namespace",
        "name": "mcp__docs",
        "description": "x",
        "tools": [{"type": "function", "name": "f", "strict": False, "parameters": {}}],
    },
]
# Calls in Codex's own grammar, which are served like calls of functions.
CODEX_PATCH: list[dict[str, Any]] = [
    {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin\n+x"},
    {"type": "custom_tool_call_output", "call_id": "c", "output": "Done!"},
]
# Items of Codex's history that are no messages and no calls of its own.
CODEX_ITEMS: list[dict[str, Any]] = [
    {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}},
    {"type": "compaction", "encrypted_content": "x"},
]
