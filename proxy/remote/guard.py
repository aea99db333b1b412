"""Guard the remote: check every request body one last time before it is sent.

The guard trusts no earlier step. It reads the finished bytes and lets them pass only if

- every private segment in them is a text that the mechanism returned, without any part that was
  marked as sensitive in it or before it;
- nothing else in them repeats the private text or holds a marked part of it;
- the mechanism changed as many words as its channel states.

A gateway's requests may have any form (`StringClearance`): each string is a release, or a word
of the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from extraction.codec import is_written_whole, load
from perturb import ReleaseError
from perturb.selective.verify import find_parts
from perturb.text.fold import find_words
from perturb.work import SHORT, hash_values, select_texts
from proxy.errors import GuardRefused
from proxy.release import Release

__all__ = [
    "Clearance",
    "Cleared",
    "StringClearance",
    "are_brief",
    "check",
    "check_releases",
    "repeats",
]

SHORTEST = 3  # words of the shortest private text that counts as a whole
CONSTANTS = 64  # templates and names of models whose windows are kept
WINDOW = 5  # consecutive private words that nothing else in the body may repeat


class Cleared(Protocol):
    """Decide if one finished body may be sent."""

    @property
    def brief(self) -> bool:
        """Tell if the check of a short body takes about a millisecond, so that it needs no
        thread."""

    def check(self, body: bytes) -> None:
        """Check a finished body; raise `GuardRefused` if it may not be sent."""


@dataclass(frozen=True)
class Clearance:
    """Hold the permitted contents of one outgoing body.

    Attributes:
        pieces: the operator's public demonstrations, the releases, and the remote's own earlier
            words, as they occur in the message contents, in order.
        private: every raw text of the request, also those of which nothing is sent.
        constants: the operator's own templates and model names, which hold nothing private.
        public: texts in the body that the user or the operator made public, the instruction
            among them. A sensitive part of a release that occurs in one of them may occur
            anywhere outside the releases.
    """

    pieces: tuple[Release | str, ...]
    private: tuple[str, ...]
    constants: tuple[str, ...]
    public: tuple[str, ...] = ()

    @property
    def brief(self) -> bool:
        """Tell if the check of a short body needs no thread."""
        releases = [piece for piece in self.pieces if isinstance(piece, Release)]
        return sum(map(len, self.private)) <= SHORT and are_brief(releases)

    def check(self, body: bytes) -> None:
        """Check a finished body; raise `GuardRefused`."""
        check(body, self)


def are_brief(releases: Sequence[Release]) -> bool:
    """Tell if the checks of releases take about a millisecond."""
    return sum(len(r.raw) for r in releases) <= SHORT and all(
        r.sanitizer.is_brief(r.raw) for r in releases
    )


def check(body: bytes, clearance: Clearance) -> None:
    """Check a finished body.

    Raises:
        GuardRefused: it breaks a rule; `rule` names it.
    """
    try:
        contents, others = _split_strings(load(body))
    except (ValueError, TypeError, LookupError):
        raise GuardRefused("the body is not a chat request") from None
    secrets = check_releases([p for p in clearance.pieces if isinstance(p, Release)])
    texts = [p.sanitized.text if isinstance(p, Release) else p for p in clearance.pieces]
    rest = [*_cut_out(contents, texts), *others]
    if repeats(rest, clearance.private, clearance.constants):
        raise GuardRefused("text outside the private segments repeats private words")
    found = find_parts(secrets, *rest) if secrets else frozenset[str]()
    if found and found - find_parts(secrets, *clearance.constants, *clearance.public):
        raise GuardRefused("text outside the private segments holds a sensitive part")


def check_releases(releases: Sequence[Release]) -> set[str]:
    """Check releases in order, before they are stored and again before they are sent.

    Returns:
        The sensitive parts of their texts, which may occur nowhere else.

    Raises:
        GuardRefused: its mechanism cannot return one of them, or one holds a sensitive part.
    """
    secrets: set[str] = set()
    certain: list[tuple[str, ...]] = []  # of each, those that no release holds by chance
    for release in releases:
        try:
            parts, unrepeatable = release.secrets
        except ReleaseError as exc:
            raise GuardRefused(str(exc)) from None
        secrets.update(parts)
        certain.append(unrepeatable)
    # One look for all parts in all texts; an honest request has none to look at more closely.
    texts = [release.sanitized.text for release in releases]
    suspect = _find_suspects({part for own in certain for part in own}, texts)
    so_far: set[str] = set()
    for own, text in zip(certain, texts, strict=True) if suspect else ():
        so_far.update(suspect.intersection(own))
        if find_parts(so_far, text):
            raise GuardRefused("a private segment holds a sensitive part")
    return secrets


def _find_suspects(parts: set[str], texts: Sequence[str]) -> frozenset[str]:
    """Return the parts that occur in texts."""

    def select(unknown: list[str]) -> list[str]:
        found = find_parts(parts, *unknown)
        return [text for text in unknown if find_parts(found, text)] if found else []

    held = select_texts(select, "suspects", texts, hash_values(sorted(parts))) if parts else []
    return find_parts(parts, *held)


def repeats(texts: Sequence[str], private: Sequence[str], constants: Sequence[str]) -> bool:
    """Tell if a text repeats five consecutive words of a private one, apart from constants.

    A shorter private text counts as a whole if it has three words or more: any template may hold
    one or two words ("yes", "the report").
    """
    windows: dict[int, set[tuple[str, ...]]] = {}  # by their number of words
    for text in private:
        words = find_words(text)
        size = min(WINDOW, len(words))
        if size >= SHORTEST:
            windows.setdefault(size, set()).update(_make_grams(words, size))
    for text in constants if windows else ():
        grams = _make_all_grams(text)
        for own in windows.values():
            own -= grams
    for text in texts if windows else ():
        if text.isascii() and text.isidentifier():  # one word: a key or a role
            continue
        words = find_words(text)
        if any(not own.isdisjoint(_make_grams(words, size)) for size, own in windows.items()):
            return True
    return False


def _cut_out(contents: list[str], texts: list[str]) -> list[str]:
    """Return the message contents without the texts, which occur in them in order.

    Raises:
        GuardRefused: one of the texts does not occur, byte for byte.
    """
    rest = []
    waiting = [text for text in texts if text.strip()]
    waiting.reverse()
    for content in contents:
        place = 0
        while waiting and (found := content.find(waiting[-1], place)) >= 0:
            rest.append(content[place:found])
            place = found + len(waiting.pop())
        rest.append(content[place:])
    if waiting:
        raise GuardRefused("a private segment is not what the mechanism returned")
    return rest


@lru_cache(maxsize=CONSTANTS)
def _make_all_grams(constant: str) -> frozenset[tuple[str, ...]]:
    """Return the windows of all sizes of a constant of the operator's."""
    words = find_words(constant)
    return frozenset().union(*(_make_grams(words, n) for n in range(SHORTEST, WINDOW + 1)))


def _make_grams(words: list[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[i:] for i in range(size)), strict=False)


def _split_strings(body: Any) -> tuple[list[str], list[str]]:
    """Return the message contents of a body in order, and all its other strings and keys. In the
    Messages API, `system` holds the first contents."""
    messages = body["messages"]
    contents = [body["system"]] if "system" in body else []
    contents += [message["content"] for message in messages]
    rest = [{k: v for k, v in message.items() if k != "content"} for message in messages]
    others = {k: v for k, v in body.items() if k not in ("messages", "system")}
    return [text for each in contents for text in _list_texts(each)], list(_walk([others, rest]))


def _list_texts(content: Any) -> list[str]:
    """Return the texts of a content, which is a text or consists of blocks of text alone."""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [block["text"] for block in blocks if block == {"type": "text", "text": block["text"]}]
    if len(texts) < len(blocks) or not all(isinstance(text, str) for text in texts):
        raise TypeError
    return texts


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item)


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
        content = json.loads(text, object_pairs_hook=_read_pairs, parse_float=_read_number)
    except ValueError:
        raise GuardRefused("a string is not what the mechanism returned") from None
    yield from _check_strings(content, cleared)


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise `ValueError` if a name stands in it twice: one value is not seen."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _read_number(written: str) -> float:
    """Return a number; raise `ValueError` if it is written with digits that are not in it."""
    number = float(written)
    if not is_written_whole(written, number):
        raise ValueError
    return number
