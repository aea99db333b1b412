"""A remote on loopback whose model repairs what it sees: chats, messages and responses.

It knows where a bug is by the code of the folder's `wrong`, which is not private, and copies
everything else from the request: the path, and the lines around the bug with what stands in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from benchmarks.fidelity.agent import FENCE, Agent, Call, Reply, Tool

__all__ = ["Coder", "Conversation"]

Json = dict[str, Any]
PIECE = 5  # characters of an event: replacements are cut
AROUND = 3  # lines before and after the bug
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


@dataclass(frozen=True)
class Conversation:
    """Hold what a model reads in a request of any of the three forms.

    Attributes:
        texts: of the user and of tools, in their order.
        answers: how many answers of the model it holds.
        tools: those offered.
    """

    texts: tuple[str, ...]
    answers: int
    tools: tuple[Tool, ...]


@dataclass
class Coder:
    """Answer as the model of one agent, and keep the bodies that arrive.

    Attributes:
        agent: the agent that asks; only its form and the code of the bug are used.
        alter: changes the lines to search and those that replace them, for controls.
        left: the last request, as it arrived.
        written: the answer to it.
    """

    agent: Agent | None = None
    alter: Callable[[list[str], list[str]], tuple[list[str], list[str]]] | None = None
    left: Json | None = None
    written: Reply | None = None

    def build_app(self) -> web.Application:
        """Return the remote's application."""
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._answer_chat)
        app.router.add_post("/v1/messages", self._answer_messages)
        app.router.add_post("/v1/responses", self._answer_response)
        return app

    def answer(self, seen: Conversation) -> Reply:
        """Return the next answer to a conversation, and keep it."""
        self.written = self._write(seen)
        return self.written

    def _write(self, seen: Conversation) -> Reply:
        agent = self.agent
        assert agent is not None
        folder = agent.folder
        step = agent.steps[min(seen.answers - agent.own_answers, len(agent.steps) - 1)]
        path = _find_path(seen.texts, folder.name)
        if path is None:
            return Reply("I cannot tell which file is meant.")
        if step == "read":
            return agent.ask_read(seen.tools, path)
        if step == "run":
            return agent.ask_run(seen.tools, path.rpartition("/")[0])
        shown = [lines for text in reversed(seen.texts) if (lines := agent.read_shown(text))]
        repairs = [(lines, *folder.repair(lines)) for lines in shown]
        found = [repair for repair in repairs if repair[2] is not None]
        lines, repaired, place = (found or repairs or [([], [], None)])[0]
        if step == "tell":
            return Reply("\n".join(["The repaired file:", "", FENCE, *repaired, FENCE]))
        if place is None:
            return Reply("I cannot find the bug.")
        start, end = _find_window(lines, place)
        old, new = lines[start:end], repaired[start:end]
        if self.alter is not None:
            old, new = self.alter(old, new)
        return agent.ask_edit(seen.tools, path, old, new)

    async def _answer_chat(self, request: web.Request) -> web.StreamResponse:
        body = await self._read(request)
        texts, answers = [], 0
        for message in body["messages"]:
            if message["role"] == "assistant":
                answers += 1
            elif message["role"] in ("user", "tool"):
                texts.append(_join(message["content"]))
        tools = [_read_tool(tool["function"], "parameters") for tool in body.get("tools", ())]
        reply = self.answer(Conversation(tuple(texts), answers, tuple(tools)))
        head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in _cut(reply.text)]
        if reply.call:
            opened = {"name": reply.call.name, "arguments": ""}
            call = {"index": 0, "id": _make_id("call", answers), "type": "function"}
            deltas.append({"tool_calls": [{**call, "function": opened}]})
            deltas += [
                {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
                for piece in _cut(json.dumps(reply.call.arguments))
            ]
        end = "tool_calls" if reply.call else "stop"
        steps = [*((delta, None) for delta in deltas), ({}, end)]
        chunks: list[Json] = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
            for delta, finish in steps
        ]
        chunks.append({**head, "choices": [], "usage": USAGE})
        return await _stream(request, [*map(json.dumps, chunks), "[DONE]"])

    async def _answer_messages(self, request: web.Request) -> web.StreamResponse:
        body = await self._read(request)
        texts, answers = [], 0
        for message in body["messages"]:
            if message["role"] == "assistant":
                answers += 1
                continue
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            texts += [_join(block.get("content", block.get("text", ""))) for block in blocks]
        tools = [_read_tool(tool, "input_schema") for tool in body.get("tools", ())]
        reply = self.answer(Conversation(tuple(texts), answers, tuple(tools)))
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        if reply.call:
            block = {"type": "tool_use", "id": _make_id("toolu", answers), "input": {}}
            block["name"] = reply.call.name
            text = json.dumps(reply.call.arguments)
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in _cut(text)]
        else:
            block = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _cut(reply.text)]
        end = {"stop_reason": "tool_use" if reply.call else "end_turn", "stop_sequence": None}
        events: list[Json] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            *({"type": "content_block_delta", "index": 0, "delta": each} for each in deltas),
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        return await _stream(request, map(json.dumps, events))

    async def _answer_response(self, request: web.Request) -> web.StreamResponse:
        body = await self._read(request)
        texts, answers = [], 0
        for item in body["input"]:
            if item["type"].endswith("_output"):
                texts.append(_join(item["output"]))
            elif item["type"].endswith("_call") or item.get("role") == "assistant":
                answers += 1
            elif item.get("role") == "user":
                texts.append(_join(item["content"]))
        tools = [
            Tool(tool["name"], ("input",), custom=True)
            if tool["type"] == "custom"
            else _read_tool(tool, "parameters")
            for tool in body.get("tools", ())
        ]
        reply = self.answer(Conversation(tuple(texts), answers, tuple(tools)))
        item = _make_item(reply, answers)
        response: Json = {"id": "resp_1", "object": "response", "status": "completed"}
        events: list[Json] = [
            {"type": "response.created", "response": {**response, "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "output": [item]}},
        ]
        return await _stream(request, map(json.dumps, events))

    async def _read(self, request: web.Request) -> Json:
        body: Json = await request.json()
        self.left = body
        return body


def _find_path(texts: Iterable[str], name: str) -> str | None:
    """Return the first path of a file that a conversation names."""
    pattern = re.compile(rf"/[^\s\"'`<>:]{{0,200}}/{re.escape(name)}(?!\w)")
    return next((found[0] for text in texts if (found := pattern.search(text))), None)


def _find_window(lines: Sequence[str], place: int) -> tuple[int, int]:
    """Return where the lines around one start and end.

    The first and the last of them occur once, so that an edit may name its place by them.
    """
    start, last = max(place - AROUND, 0), min(place + AROUND, len(lines) - 1)
    while start > 0 and lines.count(lines[start]) > 1:
        start -= 1
    while last < len(lines) - 1 and lines.count(lines[last]) > 1:
        last += 1
    return start, last + 1


def _read_tool(tool: Json, schema: str) -> Tool:
    return Tool(tool["name"], tuple(tool[schema]["properties"]))


def _join(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _make_id(head: str, answers: int) -> str:
    return f"{head}_{answers + 1}"


def _make_item(reply: Reply, answers: int) -> Json:
    call: Call | None = reply.call
    if call is None:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        return {"type": "message", "id": "m1", "role": "assistant", "content": [part]}
    made = {"id": f"i{answers}", "call_id": _make_id("call", answers), "name": call.name}
    if call.input is not None:
        return {"type": "custom_tool_call", "input": call.input, **made}
    return {"type": "function_call", "arguments": json.dumps(call.arguments), **made}


def _cut(text: str) -> Iterator[str]:
    return (text[i : i + PIECE] for i in range(0, len(text), PIECE))


async def _stream(request: web.Request, events: Iterable[str]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events:
        await response.write(f"data: {event}\n\n".encode())
    return response
