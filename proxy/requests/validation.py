"""Parse and validate a body: return a request, or an error that names the field and the rule.

What a lenient parser would accept silently is refused, with a reason. A body is measured before it
is parsed. It may have as many values as `json_values`, of which an eighth may be anything but
numbers in lists. Token ids come by the hundred thousand and cost little; every library copies,
walks and checks the other values. Lists of messages, tools and the like are counted before
validation builds anything from them.

Hosted tools run at a server that would see raw text. Only functions are served; other tools are
refused by their type, or removed from the request if the operator configures it, and neither the
remote nor the local model sees them. A note may stand in the place of an image or a file: an agent
sends its whole history again, and one picture in it would refuse every later turn.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, NoReturn, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from perturb.text.fold import replace_halves
from proxy.config.settings import Limits
from proxy.errors import ApiError, bad_request, too_large, unsupported
from proxy.requests.protocol import Json, Options, StreamOptions

__all__ = [
    "HINT",
    "HOSTED",
    "INPUTS",
    "ITEMS",
    "KEYS",
    "TOOLS",
    "check_counts",
    "clean_name",
    "keep_functions",
    "name_attachment",
    "note_attachments",
    "parse_object",
    "validate",
]


Body = TypeVar("Body", bound=BaseModel)
NAME_CHARACTERS = 64  # the most of an unknown field's name in its error
# Fields that other servers know and this one refuses, with the reason for the error.
REJECTED = {
    "previous_response_id": "the remote keeps no state",
    "conversation": "the remote keeps no state",
    "background": "the remote keeps no state",
    "audio": "only text is served",
    "plugins": "they run at a server, which would see raw text; only functions are served",
    "use_beam_search": "beam search is not served",
    "length_penalty": "beam search is not served",
    "prompt_logprobs": "the prompt's own log probabilities are not served",
    "extra_body": "SDKs merge its content into the body; send its fields at the top",
}


def validate(model: type[Body], body: Json, rejected: Mapping[str, str] = REJECTED) -> Body:
    """Parse a body; `rejected` names the fields that are refused, with the reason.

    Raises:
        ApiError: 400, naming the first field that breaks its rule and the rule, never its value.
    """
    # SDKs and clients spell "not set" as null, also for fields that are not served.
    body = {k: v for k, v in body.items() if v is not None or k not in (*rejected, "inferdpt")}
    for name, why in rejected.items():
        if name in body and name not in model.model_fields:
            raise unsupported(name, why)
    _refuse_media(body.get("messages"))
    try:
        return model.model_validate(body)
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_context=False, include_input=False)
        raise _make_error(model, errors) from None


def _refuse_media(messages: Any) -> None:
    if not isinstance(messages, list):
        return
    for i, message in enumerate(messages):
        parts = message.get("content") if isinstance(message, dict) else None
        for j, part in enumerate(parts if isinstance(parts, list) else ()):
            kind = part.get("type") if isinstance(part, dict) else None
            if name_attachment(kind):
                raise bad_request(
                    f"Only text parts are supported; images, audio and files are not. {HINT}",
                    param=f"messages[{i}].content[{j}]",
                    code="unsupported_content",
                )


def _make_error(model: type[BaseModel], errors: list[Any]) -> Exception:
    """Turn pydantic's list into one error: an unknown field first, else the first one found."""
    error = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    location = error["loc"]
    if error["type"] == "extra_forbidden":
        where, name = _spell_path(model, location[:-1]), clean_name(str(location[-1]))
        near = get_close_matches(name, _find_fields(model, location[:-1]), n=1)
        return bad_request(
            f"Unknown field '{name}' in {where or 'the body'}; unknown fields are refused."
            + (f" Did you mean '{near[0]}'?" if near else ""),
            param=f"{where}.{name}" if where else name,
            code="unknown_parameter",
        )
    where = _spell_path(model, location)
    said = error["msg"].removeprefix("Value error, ")
    rule = "is required" if error["type"] == "missing" else f"is invalid: {said}"
    return bad_request(f"'{where}' {rule}.", param=where, code="invalid_value")


def clean_name(name: str) -> str:
    """Clean the name of an unknown field for an error and a line of the log.

    The error names the field because only its author can correct it.
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in name[:NAME_CHARACTERS])


def _find_fields(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """Return the field names of the object at a location, as far as it is known."""
    known: dict[str, type[BaseModel]] = {"inferdpt": Options, "stream_options": StreamOptions}
    names = [part for part in location if isinstance(part, str)]
    if not names:
        return list(model.model_fields)
    return list(known[names[-1]].model_fields) if names[-1] in known else []


def _spell_path(model: type[BaseModel], location: tuple[str | int, ...]) -> str:
    """Spell a location as clients write it, `messages[0].content`: declared names and indices
    only."""
    out = ""
    for part in location:
        if isinstance(part, int):
            out += f"[{part}]"
        elif part in _find_declared(model):
            out += f".{part}" if out else part
    return out


@cache
def _find_declared(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of a body's fields and of the fields of the objects in it."""
    names = {field.alias or name for name, field in model.model_fields.items()}
    inner = [m for f in model.model_fields.values() for m in _find_models(f.annotation)]
    return frozenset(names.union(*map(_find_declared, inner)))


def _find_models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models within a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _find_models(part)


KEYS = 2000  # of one object
ITEMS = 10_000  # of one list that holds anything but numbers

# A string literal without escaped quotes, or one structural character; only structure outside
# strings counts. Possessive: a backtracking literal would keep a frame for every character.
_TOKENS = re.compile(rb'"[^"]*+"?|[\[\]{},]')
_TOKENS_OF_A_VALUE = 4  # at most, in valid JSON: a comma, a key, and a string or two brackets
_COMMA, _OBJECT = b",{"


def parse_object(body: bytes, limits: Limits) -> dict[str, Any]:
    """Parse a request body into an object.

    Raises:
        ApiError: 400 for invalid UTF-8 or JSON, a duplicate key, NaN or Infinity, nesting
            beyond `limits.json_depth`, or anything but an object at the top. 413 for more
            values, keys or items than a body may have.
    """
    _measure(body, limits)
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except ApiError:
        raise
    except (ValueError, RecursionError):
        raise _not_json("The body is not valid JSON.") from None
    if not isinstance(value, dict):
        raise _not_json("The body must be a JSON object.")
    if b"\\ud" in body or b"\\uD" in body:  # only an escape can spell half of a surrogate pair
        return {_replace_halves(key): _replace_halves(item) for key, item in value.items()}
    return value


def _measure(body: bytes, limits: Limits) -> None:
    """Count the values in a body before it is parsed; raise `ApiError` for too many."""
    most = limits.json_values
    numbers, others = 0, 1
    room = [most]  # the number of further items that each open container may have
    # Every quote that is left is one of a literal's two, in its old place.
    unescaped = body.replace(rb"\\", b"__").replace(rb"\"", b"__")
    for tokens, token in enumerate(_TOKENS.finditer(unescaped)):
        kind = body[token.start()]
        if kind == _COMMA:
            if room[-1] > ITEMS:
                numbers += 1
            else:
                others += 1
            room[-1] -= 1
        elif kind in b"]}":
            if len(room) == 1:
                raise _not_json("The body is not valid JSON.")
            room.pop()
        elif room[-1] > ITEMS:  # no longer a list of numbers alone
            room[-1] -= most - ITEMS
        if kind in b"[{":
            others += 1
            if len(room) > limits.json_depth:
                raise _not_json(f"The body is nested deeper than {limits.json_depth} levels.")
            room.append(KEYS if kind == _OBJECT else most)
        if numbers > most or others > most // 8 or tokens > _TOKENS_OF_A_VALUE * most:
            raise too_large(
                f"A body may hold at most {most} numbers in lists, and {most // 8} other values."
            )
        if room[-1] <= 0:
            raise too_large(
                f"A list in the body may have at most {ITEMS} items that are not numbers, and an "
                f"object at most {KEYS} keys."
            )


def _replace_halves(value: Any) -> Any:
    """Replace every lone surrogate, which UTF-8 cannot encode, by U+FFFD."""
    if isinstance(value, str):
        return replace_halves(value)
    if isinstance(value, dict):
        return {_replace_halves(key): _replace_halves(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_halves(item) for item in value]
    return value


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _not_json("An object in the body has a duplicate key.")
    return out


def _parse_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        _refuse_constant("a number too large")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise _not_json(f"Numbers must be finite, got {name}.")


def _not_json(message: str) -> ApiError:
    return bad_request(message, code="invalid_json")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_build_object, parse_constant=_refuse_constant, parse_float=_parse_float
)


INPUTS = 2048  # inputs of an embeddings request, OpenAI's limit
TOOLS = 1024
_PARTS = ("content", "output", "summary", "tool_calls")  # the lists in a message or an item


def check_counts(
    body: Mapping[str, Any], most: Mapping[str, int], *, parts: int, tokens: str | None = None
) -> None:
    """Count the items of a body's lists.

    Args:
        body: the parsed body, before validation.
        most: the limit of each list.
        parts: the limit of parts in all messages or items together.
        tokens: the list that counts as one text, however long, if it holds token ids.

    Raises:
        ApiError: 413, naming the first list that is too long.
    """
    found = 0
    for name, limit in most.items():
        items = body.get(name)
        if not isinstance(items, list) or not items:
            continue
        if name == tokens and type(items[0]) is int:
            continue
        if len(items) > limit:
            raise too_large(f"A request may have at most {limit} of '{name}'.", param=name)
        found += sum(_count_parts(item) for item in items)
    if found > parts:
        raise too_large(f"The messages of a request may have at most {parts} parts in all.")


def _count_parts(item: Any, depth: int = 2) -> int:
    """Count the parts of an item, and the parts of its parts: results of tools have some."""
    if not isinstance(item, dict) or not depth:
        return 0
    lists = [item[name] for name in _PARTS if isinstance(item.get(name), list)]
    inner = (_count_parts(part, depth - 1) for each in lists for part in each)
    return sum(map(len, lists)) + sum(inner)


# Every type of the current SDK but `function`. Errors name only these types.
HOSTED = frozenset(
    (
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use_preview",
        "custom",
        "file_search",
        "image_generation",
        "local_shell",
        "mcp",
        "namespace",
        "programmatic_tool_calling",
        "shell",
        "tool_search",
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
    )
)


def keep_functions(body: Mapping[str, Any], *, ignore: bool) -> Json:
    """Return a body without hosted tools and without a choice of one.

    Args:
        body: the body of a chat completion or a response. Malformed parts are left to its
            model.
        ignore: remove hosted tools instead of refusing them.

    Raises:
        ApiError: 400, naming the place and type of the first one.
    """
    out = dict(body)
    if ignore:
        out.pop("plugins", None)  # hosted tools of OpenRouter
    if isinstance(out.get("tools"), list):
        out["tools"] = _keep_functions(out["tools"], "tools", ignore=ignore)
    out["tool_choice"] = _keep_choice(out.get("tool_choice"), ignore=ignore)
    if body.get("tools") and not out["tools"]:  # local servers refuse a choice without tools
        del out["tools"], out["tool_choice"]
    return out


def _keep_functions(tools: list[Any], where: str, *, ignore: bool) -> list[Any]:
    """Return the functions among tools; raise `ApiError` for others."""
    kept = []
    for i, tool in enumerate(tools):
        if not _is_hosted(tool):
            kept.append(tool)
        elif not ignore:
            raise _refuse_tool(f"{where}[{i}].type", tool)
    return kept


def _keep_choice(choice: Any, *, ignore: bool) -> Any:
    """Return the choice of a tool, or `auto` for that of a hosted one; raise `ApiError`."""
    if not isinstance(choice, dict):
        return choice
    if choice.get("type") != "allowed_tools":
        if not _is_hosted(choice):
            return choice
        if not ignore:
            raise _refuse_tool("tool_choice.type", choice)
        return "auto"
    # The Responses API spells the allowed tools flat, chat completions in an object of their own.
    nested = choice.get("allowed_tools")
    where = "tool_choice.allowed_tools.tools" if isinstance(nested, dict) else "tool_choice.tools"
    allowed = nested if isinstance(nested, dict) else choice
    tools = allowed.get("tools")
    if not isinstance(tools, list):
        return choice
    kept = _keep_functions(tools, where, ignore=ignore)
    if tools and not kept:
        return "auto"
    kept_choice = {**allowed, "tools": kept}
    return {**choice, "allowed_tools": kept_choice} if allowed is nested else kept_choice


def _is_hosted(tool: Any) -> bool:
    return isinstance(tool, dict) and tool.get("type", "function") != "function"


def _refuse_tool(where: str, tool: Json) -> ApiError:
    kind = tool["type"]
    name = f"'{kind}'" if isinstance(kind, str) and kind in HOSTED else "this type of tool"
    return unsupported(
        where, f"{name} runs at a server or in the client's own way; only functions are served"
    )


HINT = "With server.attachments: note, a note stands in the place of such a part."
# The kinds that a note names, and what the types of parts that hold one contain.
_KINDS = {
    **dict.fromkeys(("image", "screenshot"), "image"),
    "audio": "audio",
    "video": "video",
    **dict.fromkeys(("file", "document", "container_upload"), "file"),
}
# Other parts without a text that can be read, by their whole type.
_OTHERS = {
    "compaction": "earlier conversation",  # encrypted for the server that wrote it
    "search_result": "search result",
    "tool_reference": "reference to a tool",
}
_LISTS = ("content", "output")  # of the parts of a message, an item or a block


def note_attachments(body: Mapping[str, Any]) -> Json:
    """Return a body with a text, such as `[image left out]`, in place of each image, audio, file
    or the like of its conversation. Nothing of them is kept, nor their names.

    Args:
        body: of a chat, a response or a message; malformed parts are left to its model.

    >>> note_attachments({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})
    {'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': '[image left out]'}]}]}
    """
    out = dict(body)
    for name in ("messages", "input"):
        if isinstance(out.get(name), list):
            out[name] = [_note_in(item, flat=name == "input") for item in out[name]]
    return out


def _note_in(item: Any, *, flat: bool) -> Any:
    """Return a message, an item of the Responses API (`flat`) or a block with notes in it."""
    if not isinstance(item, dict):
        return item
    if flat and item.get("type") == "compaction":
        note = {"type": "input_text", "text": _spell_note("compaction")}
        return {"type": "message", "role": "user", "content": [note]}
    text = "text"
    if flat:
        text = "output_text" if item.get("role") == "assistant" else "input_text"
    return {
        key: [_note_part(part, text) for part in value]
        if key in _LISTS and isinstance(value, list)
        else value
        for key, value in item.items()
    }


def _note_part(part: Any, text: str) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "tool_result":
        return _note_in(part, flat=False)
    return {"type": text, "text": _spell_note(kind)} if name_attachment(kind) else part


def _spell_note(kind: Any) -> str:
    return f"[{name_attachment(kind)} left out]"


def name_attachment(kind: Any) -> str:
    """Return the name of what a part of a type holds; "" if no note can stand in its place."""
    if not isinstance(kind, str):
        return ""
    return _OTHERS.get(kind) or next((name for word, name in _KINDS.items() if word in kind), "")
