"""Guard the remote: check every request body one last time before it is sent.

The guard trusts no earlier step. It reads the finished bytes and lets them pass only if

- every private segment in them is a text that the mechanism returned, without any part that was
  marked as sensitive in it or before it;
- nothing else in them repeats the private text or holds a marked part of it;
- the mechanism changed as many words as its channel states.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from perturb import ReleaseError
from perturb.selective.verify import find_parts
from proxy.errors import GuardRefused
from proxy.release import Release
from proxy.words import find_words

__all__ = ["Clearance", "check", "check_releases", "repeats"]

SHORTEST = 3  # words of the shortest private text that counts as a whole
WINDOW = 5  # consecutive private words that nothing else in the body may repeat


@dataclass(frozen=True)
class Clearance:
    """Hold the permitted contents of one outgoing body.

    Attributes:
        pieces: the releases and the remote's own earlier words in the message contents, in order.
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


def check(body: bytes, clearance: Clearance) -> None:
    """Check a finished body.

    Raises:
        GuardRefused: it breaks a rule; `rule` names it.
    """
    try:
        contents, others = _split_strings(json.loads(body))
    except (ValueError, TypeError, LookupError):
        raise GuardRefused("the body is not a chat request") from None
    secrets = check_releases([p for p in clearance.pieces if isinstance(p, Release)])
    texts = [p.sanitized.text if isinstance(p, Release) else p for p in clearance.pieces]
    rest = [*_cut_out(contents, texts), *others]
    if repeats(rest, clearance.private, clearance.constants):
        raise GuardRefused("text outside the private segments repeats private words")
    allowed = find_parts(secrets, "\n".join((*clearance.constants, *clearance.public)))
    if find_parts(secrets, "\n".join(rest)) - allowed:
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
        sanitizer, raw, sanitized = release.sanitizer, release.raw, release.sanitized
        try:
            sanitizer.verify(raw, sanitized)
        except ReleaseError as exc:
            raise GuardRefused(str(exc)) from None
        secrets.update(sanitizer.secrets(raw, sanitized))
        certain.append(sanitizer.secrets(raw, sanitized, unrepeatable=True))
    # One look for all parts in all texts; an honest request has none to look at more closely.
    texts = [release.sanitized.text for release in releases]
    suspect = find_parts({part for own in certain for part in own}, "\n".join(texts))
    so_far: set[str] = set()
    for own, text in zip(certain, texts, strict=True) if suspect else ():
        so_far.update(suspect.intersection(own))
        if find_parts(so_far, text):
            raise GuardRefused("a private segment holds a sensitive part")
    return secrets


def repeats(texts: Sequence[str], private: Sequence[str], constants: Sequence[str]) -> bool:
    """Tell if a text repeats five consecutive words of a private one, apart from constants.

    A shorter private text counts as a whole if it has three words or more: any template may hold
    one or two words ("yes", "the report").
    """
    windows: set[tuple[str, ...]] = set()
    for text in private:
        words = find_words(text)
        if len(words) >= SHORTEST:
            windows |= _make_grams(words, min(WINDOW, len(words)))
    sizes = range(SHORTEST, WINDOW + 1)
    for text in constants:
        words = find_words(text)
        windows.difference_update(*(_make_grams(words, size) for size in sizes))
    return any(
        not windows.isdisjoint(_make_grams(words, size))
        for words in map(find_words, texts)
        for size in sizes
    )


def _cut_out(contents: list[str], texts: list[str]) -> list[str]:
    """Return the message contents without the texts, which occur in them in order.

    Raises:
        GuardRefused: one of the texts does not occur, byte for byte.
    """
    rest = []
    waiting = [text for text in texts if text]
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


def _make_grams(words: list[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}


def _split_strings(body: Any) -> tuple[list[str], list[str]]:
    """Return the message contents of a body in order, and all its other strings and keys."""
    contents = [message["content"] for message in body["messages"]]
    if not all(isinstance(content, str) for content in contents):
        raise TypeError
    rest = [{k: v for k, v in message.items() if k != "content"} for message in body["messages"]]
    return contents, list(_walk([{k: v for k, v in body.items() if k != "messages"}, rest]))


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
