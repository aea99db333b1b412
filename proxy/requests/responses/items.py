"""Define the input items of `POST /v1/responses`, and normalise their spellings."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from proxy.errors import bad_request, unsupported
from proxy.requests.protocol import Items, Strict
from proxy.requests.validation import HINT

__all__ = [
    "COMPACTION",
    "REFUSED",
    "STATELESS",
    "CallItem",
    "CallOutputItem",
    "InputTextPart",
    "Item",
    "OutputTextPart",
    "Part",
    "ReasoningItem",
    "RefusalContent",
    "ResponsesMessage",
    "spell_items",
]

STATELESS = "the proxy and the remote keep no state; send the whole conversation in 'input'"
COMPACTION = (
    "A conversation is compacted by the client, not by a server: let it ask for a summary, as "
    "Codex does for a provider of its own ([model_providers]) with another name than OpenAI."
)
_ITEMS = ("message", "function_call", "function_call_output", "reasoning")
# Calls of hosted tools, and what these returned.
_HOSTED = frozenset(
    (
        *("apply_patch_call", "apply_patch_call_output", "code_interpreter_call"),
        *("computer_call", "computer_call_output", "file_search_call", "image_generation_call"),
        *("local_shell_call", "local_shell_call_output", "mcp_approval_request"),
        *("mcp_approval_response", "mcp_call", "mcp_list_tools", "program", "program_output"),
        *("shell_call", "shell_call_output", "tool_search_call", "tool_search_output"),
        "web_search_call",
    )
)
# Every type of the current SDK that is not served. Errors name only these.
REFUSED = _HOSTED | {
    *("additional_tools", "compaction", "compaction_trigger", "configuration_update"),
}
_PARTS = ("input_text", "output_text", "refusal")


class InputTextPart(Strict):
    """Hold a text part of a client."""

    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: Any = None


class OutputTextPart(Strict):
    """Hold a text part of an answer; only the text is read."""

    type: Literal["output_text"]
    text: str
    annotations: Any = None
    logprobs: Any = None
    parsed: Any = None


class RefusalContent(Strict):
    """Hold a refusal of an earlier answer; it is dropped."""

    type: Literal["refusal"]
    refusal: str


Part = Annotated[InputTextPart | OutputTextPart | RefusalContent, Field(discriminator="type")]


class ResponsesMessage(Strict):
    """Hold a message, written by a client or sent back from an answer."""

    type: Literal["message"]
    role: Literal["system", "developer", "user", "assistant"]
    content: Items[Part]
    id: Any = None
    phase: Any = None
    status: Any = None


class CallItem(Strict):
    """Hold a function call of an earlier answer."""

    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str
    id: Any = None
    status: Any = None
    # added by SDKs that send an answer back
    async_: Any = Field(None, validation_alias=AliasChoices("async", "async_"))
    caller: Any = None
    created_by: Any = None
    namespace: Any = None
    parsed_arguments: Any = None


class CallOutputItem(Strict):
    """Hold a function's result, which is private text."""

    type: Literal["function_call_output"]
    call_id: str
    output: Items[Part]
    id: Any = None
    status: Any = None
    caller: Any = None
    created_by: Any = None
    name: Any = None
    namespace: Any = None


class ReasoningItem(Strict):
    """Hold the reasoning of another server's model; it is dropped."""

    type: Literal["reasoning"]
    id: Any = None
    content: Any = None
    encrypted_content: Any = None
    status: Any = None
    summary: Any = None


Item = Annotated[
    ResponsesMessage | CallItem | CallOutputItem | ReasoningItem, Field(discriminator="type")
]


def spell_items(given: Any, *, ignore: bool = False) -> Any:
    """Spell the input as a list of typed items, with texts as lists of parts.

    Malformed input is left to the model that validates it. A call of a custom tool, whose input is
    a text, becomes a call of a function with the argument `input`.

    Args:
        ignore: leave out calls of hosted tools and what they returned, in place of an error. An
            item without content stands in their place, so that the others keep their numbers.

    Raises:
        ApiError: 400, naming the place and the type of the first item that is not served.
    """
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list):
        return given
    return [
        {"type": "reasoning"}
        if ignore and isinstance(item, dict) and _is_hosted(item.get("type"))
        else _spell_item(item, f"input[{i}]")
        for i, item in enumerate(given)
    ]


def _is_hosted(kind: Any) -> bool:
    return isinstance(kind, str) and kind in _HOSTED


def _spell_custom(item: dict[str, Any]) -> dict[str, Any]:
    """Spell a call of a custom tool, or its result, as one of a function."""
    kind = item["type"].replace("custom_tool_call", "function_call")
    out = {key: value for key, value in item.items() if key != "input"} | {"type": kind}
    if kind == "function_call":
        out["arguments"] = json.dumps({"input": item.get("input")}, ensure_ascii=False)
    return out


def _spell_item(item: Any, where: str) -> Any:
    if not isinstance(item, dict):
        return item
    if item.get("type") in ("custom_tool_call", "custom_tool_call_output"):
        item = _spell_custom(item)
    kind = item.get("type")
    if kind is None:
        kind = "item_reference" if item.keys() <= {"id", "type"} else "message"
    if kind == "item_reference":
        raise unsupported(where, STATELESS)
    if kind not in _ITEMS:
        name = f"'{kind}'" if isinstance(kind, str) and kind in REFUSED else "this item"
        hints = {"compaction": f" {HINT}", "compaction_trigger": f" {COMPACTION}"}
        raise _refuse_content(
            f"Only messages and function calls with their outputs are served; {name} is not."
            + (hints.get(kind, "") if isinstance(kind, str) else ""),
            where,
        )
    out = {**item, "type": kind}
    for name in ("content", "output"):
        if name in item and kind != "reasoning":
            out[name] = _spell_parts(item[name], kind, item.get("role"), f"{where}.{name}")
    return out


def _spell_parts(given: Any, kind: str, role: Any, where: str) -> Any:
    if isinstance(given, str):
        return [{"type": "output_text" if role == "assistant" else "input_text", "text": given}]
    for i, part in enumerate(given if isinstance(given, list) else ()):
        if isinstance(part, dict) and part.get("type") not in _PARTS:
            raise _refuse_content(
                f"Only text parts are supported; images, audio and files are not. {HINT}",
                f"{where}[{i}]",
            )
    return given


def _refuse_content(message: str, where: str) -> Exception:
    return bad_request(message, param=where, code="unsupported_content")
