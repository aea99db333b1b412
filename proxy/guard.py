"""The guard: the last look at a request body before it goes to the remote.

It trusts nothing that came before it. It reads the finished bytes, and lets them pass only if
every private segment in them is what the mechanism returned and holds nothing that was marked as
sensitive in it or before it, nothing else in them repeats the private text or holds a marked part
of it, and the mechanism changed as many words as its channel says it does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from perturb import Perturbation, ReleaseError, Sanitizer
from perturb.verify_parts import standing
from proxy.errors import GuardRefused

__all__ = ["Clearance", "Segment", "check", "check_segments", "repeats", "words_of"]

SHORTEST = 3  # words of a private text that counts as a whole
WINDOW = 5  # consecutive private words that nothing else in the body may repeat
# Scripts that do not part words by blanks count by the character: Thai, Lao, Khmer, kana, Han,
# Hangul.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


@dataclass(frozen=True)
class Segment:
    """A private text, what was released for it, and what released it. Lives for one request."""

    raw: str
    released: Perturbation
    sanitizer: Sanitizer


@dataclass(frozen=True)
class Clearance:
    """What may be in one outgoing body.

    Attributes:
        pieces: what stands in the message contents, in order: private segments, and texts the
            remote wrote itself (its earlier generations).
        private: every raw text of the request, whether its perturbation is sent or not.
        constants: the operator's own words, templates and model names: they cannot leak.
        public: texts in the body that the user or the operator made public. A sensitive part
            that stands in one of them may stand anywhere beside the segments.
    """

    pieces: tuple[Segment | str, ...]
    private: tuple[str, ...]
    constants: tuple[str, ...]
    public: tuple[str, ...] = ()


def check(body: bytes, clearance: Clearance) -> None:
    """Look at a finished body.

    Raises:
        GuardRefused: it breaks a rule; `rule` says which.
    """
    try:
        contents, others = _strings(json.loads(body))
    except (ValueError, TypeError, LookupError):
        raise GuardRefused("the body is not a chat request") from None
    secrets = check_segments([p for p in clearance.pieces if isinstance(p, Segment)])
    texts = [p.released.text if isinstance(p, Segment) else p for p in clearance.pieces]
    rest = [*_rest(contents, texts), *others]
    if repeats(rest, clearance.private, clearance.constants):
        raise GuardRefused("text outside the private segments repeats private words")
    allowed = standing(secrets, "\n".join((*clearance.constants, *clearance.public)))
    if standing(secrets, "\n".join(rest)) - allowed:
        raise GuardRefused("text outside the private segments holds a sensitive part")


def check_segments(segments: Sequence[Segment]) -> set[str]:
    """Look at what was released for private texts, in their order: also before it is stored.

    Returns:
        The parts marked as sensitive in them, which may stand nowhere else.

    Raises:
        GuardRefused: one is not what its mechanism may return, or holds a sensitive part.
    """
    secrets: set[str] = set()
    certain: set[str] = set()  # those that no segment holds by chance
    for segment in segments:
        try:
            segment.sanitizer.verify(segment.raw, segment.released)
        except ReleaseError as exc:
            raise GuardRefused(str(exc)) from None
        look = segment.sanitizer.secrets
        secrets.update(look(segment.raw, segment.released))
        certain.update(look(segment.raw, segment.released, unrepeatable=True))
        if standing(certain, segment.released.text):
            raise GuardRefused("a private segment holds a sensitive part")
    return secrets


def repeats(texts: Sequence[str], private: Sequence[str], constants: Sequence[str]) -> bool:
    """Whether a text repeats five consecutive words of a private one, constants aside.

    A private text shorter than that counts as a whole from three words on: one or two words
    ("yes", "the report") are in any template.
    """
    windows: set[tuple[str, ...]] = set()
    for text in private:
        words = words_of(text)
        if len(words) >= SHORTEST:
            windows |= _grams(words, min(WINDOW, len(words)))
    sizes = range(SHORTEST, WINDOW + 1)
    for text in constants:
        words = words_of(text)
        windows.difference_update(*(_grams(words, size) for size in sizes))
    return any(
        not windows.isdisjoint(_grams(words, size))
        for words in map(words_of, texts)
        for size in sizes
    )


def _rest(contents: list[str], texts: list[str]) -> list[str]:
    """What is left of the message contents without the texts, which stand in them in order.

    Raises:
        GuardRefused: a text that should be there, byte for byte, is not.
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


def _grams(words: list[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}


def words_of(text: str) -> list[str]:
    """The words of a text, without capitals."""
    return _WORD.findall(text.casefold())


def _strings(body: Any) -> tuple[list[str], list[str]]:
    """The message contents of a body in order, and every other string in it, keys included."""
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
