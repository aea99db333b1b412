"""Define fields that fail at their first error, so that many errors cost no more than one."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Discriminator, FailFast, Field, Tag

__all__ = ["EFFORTS", "Effort", "Items", "Terms", "Texts"]

T = TypeVar("T")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")  # that may be sent


class _FirstError(FailFast):
    """Stop at a list's first bad item, since each error costs a kilobyte."""

    __hash__ = object.__hash__  # a union of types needs distinct members


Items = Annotated[list[T], _FirstError()]
# They are looked for in every text of the request.
Terms = Annotated[Items[Annotated[str, Field(max_length=200)]], Field(max_length=200)]


def _drop_unknown(value: Any) -> Any:
    """Drop an effort that is not on the list of forwarded ones."""
    return None if isinstance(value, str) and value not in EFFORTS else value


Effort = Annotated[str | None, BeforeValidator(_drop_unknown)]


def _find_kind(value: Any) -> str | None:
    """Find the form of texts by the first of them.

    A union without this would try every form and collect the errors of each.
    """
    if isinstance(value, str):
        return "<text>"
    if not isinstance(value, list):
        return None
    first = value[0] if value else ""
    kinds = {int: "<tokens>", list: "<token lists>"}
    return kinds.get(type(first), "<texts>")


Texts = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Items[str], Tag("<texts>")]
    | Annotated[Items[int], Tag("<tokens>")]
    | Annotated[Items[Items[int]], Tag("<token lists>")],
    Discriminator(
        _find_kind,
        custom_error_type="texts",
        custom_error_message="it should be a string, a list of strings, or token ids",
    ),
]
