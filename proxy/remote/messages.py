"""Spell the body of a chat as one of the Messages API.

Every text stays a string of its own, so that the guard finds each release byte for byte. The only
strings that are added are the words of the API.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proxy.errors import bad_request, unsupported
from proxy.requests.protocol import MARKS

__all__ = ["MAX_TOKENS", "WORDS", "spell_messages"]

Json = dict[str, Any]
MAX_TOKENS = 4096  # of an answer where the request names no limit: the API demands one
WARMEST = 1.0  # its highest temperature
EFFORTS = {**{name: name for name in ("low", "medium", "high", "xhigh")}, "minimal": "low"}
CHOICES = {"none": "none", "auto": "auto", "required": "any"}
# Fields with a place in the API, and those that have no effect on what is answered.
_SPELLED = frozenset(
    (
        *("model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p"),
        *("top_k", "stop", "stream", "tools", "tool_choice", "parallel_tool_calls", "user"),
        *("response_format", "reasoning_effort", "cache_control"),
    )
)
_DROPPED = frozenset(
    (
        *("stream_options", "store", "seed", "safety_identifier", "prompt_cache_key"),
        *("prediction", "verbosity", "transforms", "usage"),
    )
)
WORDS = frozenset(
    (
        *("model", "messages", "system", "role", "user", "assistant", "content", "type", "text"),
        *("tool_use", "id", "name", "input", "arguments", "tool_result", "tool_use_id"),
        *("max_tokens", "temperature", "top_p", "top_k", "stop_sequences", "stream", "tools"),
        *("description", "input_schema", "object", "strict", "tool_choice", "auto", "any", "tool"),
        *("none", "disable_parallel_tool_use", "metadata", "user_id", "output_config", "effort"),
        *("format", "json_schema", "schema"),
        *EFFORTS.values(),
    )
)


def spell_messages(chat: Mapping[str, Any]) -> Json:
    """Return the body of a chat as the Messages API has it.

    Args:
        chat: a body as the proxy writes it for OpenAI's API.

    Raises:
        ApiError: 400, naming a field that the API does not have, or one that it needs.
    """
    try:
        return _spell(chat)
    except KeyError as exc:  # OpenAI's API would refuse it, too
        raise bad_request(
            f"The request lacks a field '{exc.args[0]}'.", code="invalid_value"
        ) from exc


def _spell(chat: Mapping[str, Any]) -> Json:
    for name, value in chat.items():
        if name not in _SPELLED | _DROPPED and value:
            raise _refuse(name)
    limit = chat.get("max_completion_tokens") or chat.get("max_tokens") or MAX_TOKENS
    body: Json = {"model": chat["model"], "max_tokens": limit, **_spell_turns(chat["messages"])}
    body |= {name: chat[name] for name in ("top_p", "top_k", "stream") if name in chat}
    if "temperature" in chat:
        body["temperature"] = min(chat["temperature"], WARMEST)
    if stop := chat.get("stop"):
        body["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if "user" in chat:
        body["metadata"] = {"user_id": chat["user"]}
    if wanted := _spell_output(chat):
        body["output_config"] = wanted
    body |= {**_spell_tools(chat), **_copy_mark(chat)}
    if (marks := sum(_find_marks(body))) > MARKS:
        raise bad_request(
            f"A request may have at most {MARKS} marks 'cache_control'; this one has {marks}.",
            param="cache_control",
            code="invalid_value",
        )
    return body


def _copy_mark(holder: Mapping[str, Any]) -> Json:
    return {"cache_control": holder["cache_control"]} if "cache_control" in holder else {}


def _find_marks(body: Json) -> Iterator[bool]:
    """Tell of each place for a mark of the prompt cache whether it has one."""
    blocks = [block for turn in body["messages"] for block in turn["content"]]
    inner = [text for block in blocks for text in block.get("content", ())]
    for holder in (body, *body.get("tools", ()), *body.get("system", ()), *blocks, *inner):
        yield "cache_control" in holder


def _refuse(place: str) -> Exception:
    return unsupported(
        place, "the model's remote speaks the Messages API, which has nothing like it"
    )


def _spell_turns(messages: Sequence[Json]) -> Json:
    """Spell a conversation: the system texts before it, and messages with the roles by turns. A
    later system text is a user's."""
    system: list[Json] = []
    turns: list[Json] = []
    for i, message in enumerate(messages):
        role, blocks = _spell_message(message, f"messages[{i}]")
        if role == "system" and not turns:
            system += blocks
        elif blocks:
            role = "assistant" if role == "assistant" else "user"
            if not turns or turns[-1]["role"] != role:
                turns.append({"role": role, "content": []})
            turns[-1]["content"] += blocks
    return {**({"system": system} if system else {}), "messages": turns}


def _spell_message(message: Json, at: str) -> tuple[str, list[Json]]:
    """Return the role and the blocks of a message."""
    role = message["role"]
    if role == "function" or "function_call" in message:
        raise _refuse(f"{at}.function_call")
    texts = _spell_texts(message.get("content"))
    if role == "tool":
        block: Json = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
        return role, [{**block, **({"content": texts} if texts else {}), **_copy_mark(message)}]
    calls = [_spell_call(call) for call in message.get("tool_calls") or ()]
    if marked := texts or calls:
        marked[-1] |= _copy_mark(message)
    return ("system" if role == "developer" else role), [*texts, *calls]


def _spell_texts(content: Any) -> list[Json]:
    """Return the blocks of a content; the API takes no blank ones."""
    parts = [{"text": content}] if isinstance(content, str) else content or ()
    return [
        {"type": "text", "text": part["text"], **_copy_mark(part)}
        for part in parts
        if part["text"].strip()
    ]


def _spell_call(call: Json) -> Json:
    function = call["function"]
    found = _read_arguments(function["arguments"])
    block: Json = {"type": "tool_use", "id": call["id"], "name": function["name"], "input": found}
    return {**block, **_copy_mark(call)}


def _read_arguments(text: str) -> Json:
    """Return arguments as an object. Anything else is put into one, under `arguments`."""
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
        json.dumps(found, allow_nan=False)
    except (ValueError, RecursionError):
        return {"arguments": text}
    if isinstance(found, dict):
        return found
    return {"arguments": found if isinstance(found, list) else text}


def _spell_output(chat: Mapping[str, Any]) -> Json:
    """Return the effort and the form of the answer."""
    found: Json = {}
    if (effort := EFFORTS.get(chat.get("reasoning_effort") or "")) is not None:
        found["effort"] = effort
    form = chat.get("response_format") or {"type": "text"}
    if form["type"] == "json_schema":
        schema = form["json_schema"].get("schema", {"type": "object"})
        found["format"] = {"type": "json_schema", "schema": schema}
    elif form["type"] != "text":
        raise _refuse("response_format.type")
    return found


def _spell_tools(chat: Mapping[str, Any]) -> Json:
    """Return the tools and the choice between them."""
    if not chat.get("tools"):
        return {}
    out: Json = {"tools": [_spell_tool(tool) for tool in chat["tools"]]}
    alone = chat.get("parallel_tool_calls") is False
    if "tool_choice" not in chat and not alone:
        return out
    wanted = chat.get("tool_choice", "auto")
    if isinstance(wanted, str) and wanted in CHOICES:
        choice: Json = {"type": CHOICES[wanted]}
    elif isinstance(wanted, dict) and wanted["type"] == "function":
        choice = {"type": "tool", "name": wanted["function"]["name"]}
    else:
        raise _refuse("tool_choice")
    if alone and choice["type"] != "none":
        choice["disable_parallel_tool_use"] = True
    return {**out, "tool_choice": choice}


def _spell_tool(tool: Json) -> Json:
    function = tool["function"]
    schema = function.get("parameters") or {"type": "object"}
    found: Json = {"name": function["name"], "input_schema": schema, **_copy_mark(tool)}
    return found | {name: function[name] for name in ("description", "strict") if name in function}
