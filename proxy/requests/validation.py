"""Validate a parsed body: return a request, or raise an error that names the field and rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from proxy.errors import ApiError, bad_request
from proxy.requests.attachments import HINT, name_attachment
from proxy.requests.protocol import Json, Options, StreamOptions

__all__ = ["clean_name", "unsupported", "validate"]

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


def unsupported(param: str, why: str) -> ApiError:
    """Return a 400 for a known field, or value of a field, that is not supported."""
    return bad_request(
        f"'{param}' is not supported: {why}.", param=param, code="unsupported_parameter"
    )


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
