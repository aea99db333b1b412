"""Clear bodies of any form by their strings: each one is a release, or a word of the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from perturb.selective.verify import find_parts
from proxy.errors import GuardRefused
from proxy.release import Release
from proxy.remote.guard import are_brief, check_releases

__all__ = ["StringClearance"]


@dataclass(frozen=True)
class StringClearance:
    """Hold every string that one outgoing body may be made of.

    Attributes:
        releases: of the private strings, in the order of the conversation.
        words: of the protocol, of the operator, and made by the proxy.
        public: the texts that the operator made public.
    """

    releases: tuple[Release, ...]
    words: frozenset[str]
    public: tuple[str, ...] = ()

    @property
    def brief(self) -> bool:
        """Tell if the check of a short body needs no thread."""
        return are_brief(self.releases)

    def check(self, body: bytes) -> None:
        """Check a finished body, which may be JSON of any form.

        Every string and every key in it is, byte for byte, a release, a word, public text, or
        JSON made of those. No number is a sensitive part.

        Raises:
            GuardRefused: it breaks a rule; `rule` names it.
        """
        secrets = check_releases(self.releases)
        cleared = {*self.words, *self.public, *(r.sanitized.text for r in self.releases)}
        try:
            numbers = list(_check_strings(json.loads(body), cleared))
        except (ValueError, RecursionError):
            raise GuardRefused("the body is not JSON") from None
        allowed = find_parts(secrets, *self.public)
        if find_parts(secrets, *numbers) - allowed:
            raise GuardRefused("a number holds a sensitive part")


def _check_strings(value: Any, cleared: set[str]) -> Iterator[str]:
    """Check every string of a value, and yield every number that is not a release."""
    match value:
        case str():
            yield from _check_string(value, cleared)
        case dict():
            for key, item in value.items():
                yield from _check_string(key, cleared)
                yield from _check_strings(item, cleared)
        case list():
            for item in value:
                yield from _check_strings(item, cleared)
        case int() | float() if not isinstance(value, bool) and json.dumps(value) not in cleared:
            yield json.dumps(value)


def _check_string(text: str, cleared: set[str]) -> Iterator[str]:
    if text in cleared or not text.strip():
        return
    if text.startswith("#/") and all(p in cleared or not p for p in text[2:].split("/")):
        return  # a pointer into a schema
    if not text.startswith(("{", "[")):
        raise GuardRefused("a string is not what the mechanism returned")
    try:
        content = json.loads(text)
    except ValueError:
        raise GuardRefused("a string is not what the mechanism returned") from None
    yield from _check_strings(content, cleared)
