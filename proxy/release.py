"""Define releases: a private text and its perturbation, from the memo to the socket."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from perturb import Perturbation, Sanitizer
from perturb.selective.patterns.composed import split_humps

__all__ = ["Release", "pair_details", "pair_parts", "pair_runs"]

# An escape of JSON in the text ends a run: it is a line break where the answer is read.
_RUN = re.compile(r"\\[nrtbf\"]|(?P<run>[^\s\"'<>\\]++)|\\")
# An address as it is repeated on its own: without what a line or a list has before and after it.
_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9+.-])(?P<run>[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>\\`,;|]{1,400}+)"
)
_TAG = re.compile(r"<[A-Za-z][^<>]{1,390}>|\]\([^()\s]{1,390}\)")  # or a target of Markdown
# What stands between the words of an address: numbers, with their letters, and other signs.
_NUMBERS = re.compile(
    r"(?:\W{0,4}\b\d\w{0,12}(?:[-/]\w{1,12})?\b\W{0,4}|\s{0,4}[,;\n|]\s{0,4}){1,8}"
)
_WORD = re.compile(r"\w+(?:[.,]\d\w*)*")  # or a number


@dataclass(frozen=True)
class Release:
    """Hold a private text and its perturbation, for as long as its request lives.

    Attributes:
        raw: the text as the client wrote it.
        sanitized: its perturbation. The store may hold another replica's, so it is a proposal
            until `Memo.settle` returns the release that counts.
        sanitizer: made the perturbation.
        key: the name of the text in the store, see `proxy.storage.digests`.
        fresh: whether the text is released for the first time.
    """

    raw: str
    sanitized: Perturbation
    sanitizer: Sanitizer
    key: bytes
    fresh: bool = True

    @cached_property
    def secrets(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the sensitive parts of the raw text: all of them, and those that no release
        holds by chance, see `Sanitizer.secrets`.

        A release cannot change, so it is verified once, however often the guard asks.

        Raises:
            ReleaseError: the sanitizer cannot return this perturbation of the text.
        """
        self.sanitizer.verify(self.raw, self.sanitized)
        return (
            self.sanitizer.secrets(self.raw, self.sanitized),
            self.sanitizer.secrets(self.raw, self.sanitized, unrepeatable=True),
        )

    def verify(self) -> None:
        """Verify the release unless that is done.

        Raises:
            ReleaseError: as `secrets`.
        """
        _ = self.secrets


def pair_parts(releases: Iterable[Release]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return each replacement with its raw value, and the texts that were released beside them.

    An address is also told without its numbers. Releases of which everything was perturbed have
    none.
    """
    pairs: list[tuple[str, str]] = []
    kept: list[str] = []
    for release in releases:
        if release.sanitized.replaced is None:
            continue
        end = 0
        for part in release.sanitized.replaced:
            raw = release.raw[part.start : part.end]
            pairs.append((part.text, raw))
            if part.type == "STREET_ADDRESS":
                pairs += _pair_streets(part.text, raw)
            kept.append(release.raw[end : part.start])
            end = part.end
        kept.append(release.raw[end:])
    return pairs, [text for text in kept if text]


def _pair_streets(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Pair the street and the town of an address, without their numbers."""
    ours, theirs = (list(map(str.strip, _NUMBERS.split(text))) for text in (new, raw))
    if len(ours) == len(theirs):
        for word, value in zip(ours, theirs, strict=True):
            if word and value and word != value:
                yield word, value


def pair_details(releases: Iterable[Release]) -> list[tuple[str, str]]:
    """Pair the shorter ways in which a remote may tell a replacement with those of its raw value:
    the lines of an address and its numbers before or after the street, a firm without its legal
    form, a person of several given names or surnames by the first and the last, or by a half of a
    double-barrelled surname, the one inside an identifier, the name and the
    domain of a machine, and the firm in an address of
    e-mail.
    """
    parts = {  # a conversation holds the same ones again and again
        (part.type, part.text, release.raw[part.start : part.end]): None
        for release in releases
        for part in release.sanitized.replaced or ()
        if part.type in _DETAILS
    }
    pairs: dict[tuple[str, str], None] = {}
    for type_, new, raw in parts:
        for ours, theirs in _DETAILS[type_](new, raw):
            if ours and theirs and ours != theirs and ours != new:
                pairs[ours, theirs] = None
    return [*pairs]


def _pair_lines(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Pair the lines of an address that have a number and words."""
    lines = [[line.strip(" .") for line in _LINE.split(text)] for text in (new, raw)]
    if len(lines[0]) != len(lines[1]):
        return
    for ours, theirs in zip(*lines, strict=True):
        if not _NUMBERED.fullmatch(ours) or not _NUMBERED.fullmatch(theirs):
            continue
        yield ours, theirs
        ours, theirs = _drop_beginning(ours, theirs)  # such as `flat at`
        yield ours, theirs
        yield _drop_end(ours, theirs)  # the kind of street may be written in short: 12 Baker St


def _drop_beginning(new: str, raw: str) -> tuple[str, str]:
    """Return two texts without the words at their beginning that are the same."""
    ours, theirs = new.split(), raw.split()
    while len(ours) > 2 and len(theirs) > 2 and ours[0] == theirs[0] and ours[0].isalpha():
        del ours[0], theirs[0]
    return " ".join(ours), " ".join(theirs)


def _drop_end(new: str, raw: str) -> tuple[str, str]:
    """Return two texts without the words at their end that are the same."""
    ours, theirs = new.split(), raw.split()
    while len(ours) > 1 and len(theirs) > 1 and ours[-1] == theirs[-1]:
        del ours[-1], theirs[-1]
    return " ".join(ours), " ".join(theirs)


def _pair_firms(new: str, raw: str) -> Iterator[tuple[str, str]]:
    ours, theirs = _drop_end(new, raw)
    if ours != new:
        yield ours.rstrip(","), theirs.rstrip(",")


def _pair_ends(new: str, raw: str) -> Iterator[tuple[str, str]]:
    ours, theirs = new.split(), raw.split()
    if 2 < len(ours) == len(theirs) < 5:
        yield f"{ours[0]} {ours[-1]}", f"{theirs[0]} {theirs[-1]}"
        if len(ours) == 3:  # the surname of the mother comes last in Spanish
            yield " ".join(ours[1:]), " ".join(theirs[1:])
    halves, own = (words[-1].split("-") for words in (ours, theirs))
    if 1 < len(halves) == len(own) and all(len(half) > 2 for half in (*halves, *own)):
        yield from zip(halves, own, strict=True)


def _pair_humps(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Pair a full name inside a run in camel case: a remote may write it in another identifier."""
    ours, theirs = split_humps(new), split_humps(raw)
    if len(ours) != len(theirs):
        return
    changed = [i for i, word in enumerate(ours) if word != theirs[i]]
    if len(changed) == 2 and changed[1] == changed[0] + 1:
        names = [" ".join(words[i].capitalize() for i in changed) for words in (ours, theirs)]
        yield names[0], names[1]


def _pair_hosts(new: str, raw: str) -> Iterator[tuple[str, str]]:
    ours, theirs = new.split("."), raw.split(".")
    if min(len(ours), len(theirs)) < 2 or not _LABEL.fullmatch(ours[0]):
        return
    if _OWN_LABEL.fullmatch(theirs[0]):
        yield ours[0], theirs[0]
    if 2 < len(ours) == len(theirs) and ours[1:] != theirs[1:]:
        yield ".".join(ours[1:]), ".".join(theirs[1:])


def _pair_mail_firms(new: str, raw: str) -> Iterator[tuple[str, str]]:
    domain, own_domain = (text.rpartition("@")[2].rstrip(">") for text in (new, raw))
    yield domain, own_domain
    ours, theirs = domain.split(".")[0], own_domain.split(".")[0]
    if _LABEL.fullmatch(ours) and _OWN_LABEL.fullmatch(theirs):
        yield ours, theirs


_LINE = re.compile(r"\s{0,4}[,;|\n]\s{0,4}")
_NUMBERED = re.compile(r"(?=.{0,80}[0-9])(?=.{0,80}[^\W\d_]{3}).{4,100}")
_LABEL = re.compile(r"(?=[^.]*[A-Za-z])[A-Za-z0-9-]{4,63}")
_OWN_LABEL = re.compile(r"[A-Za-z0-9-]{1,63}")
_DETAILS = {
    "EMAIL_ADDRESS": _pair_mail_firms,
    "INTERNAL_HOST": _pair_hosts,
    "NAME": _pair_ends,
    "ORGANIZATION": _pair_firms,
    "PERSON": _pair_ends,
    "USERNAME": _pair_humps,
    "STREET_ADDRESS": _pair_lines,
}


def pair_runs(releases: Iterable[Release]) -> list[tuple[str, str]]:
    """Pair the words, numbers and addresses that hold a replacement, as released, with their raw
    form: a replacement in `STRING_id` or in `https://host/STRING` is no word that can be found. So
    do whole tags of HTML and targets of Markdown, in which nothing else is restored.
    """
    pairs: list[tuple[str, str]] = []
    for release in releases:
        text, end, grown = release.sanitized.text, 0, 0
        spans: list[tuple[int, int, int]] = []  # and how much longer the raw text is so far
        shape: list[str] = []  # the text with every replacement as a part of a word
        addresses: list[str] = []  # the text with the slashes of addresses that were replaced
        for part in release.sanitized.replaced or ():
            start, before = part.start - grown, text[end : part.start - grown]
            end = start + len(part.text)
            grown += part.end - part.start - len(part.text)
            spans.append((start, end, grown))
            shape += [before, re.sub(r"\W", "w", part.text)]
            is_address = "//" in release.raw[part.start : part.end]
            addresses += [before, "/" * len(part.text) if is_address else part.text]
        if spans:
            shape.append(text[end:])
            addresses.append(text[end:])
            words = (run.span() for run in _WORD.finditer("".join(shape)))
            tags = (tag.span() for tag in _TAG.finditer(text))
            shown = "".join(addresses)
            for runs in (
                words,
                _find_addresses(_RUN, shown),
                _find_addresses(_ADDRESS, shown),
                tags,
            ):
                pairs += _pair(release, spans, runs)
    return pairs


def _find_addresses(runs: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield the runs that hold a `//` with something after it, without the signs at their end."""
    for run in runs.finditer(text):
        shown = run["run"] or ""
        end = len(shown.rstrip(".,;:!?)]}"))
        if 0 <= shown.find("//") < end - 2:
            yield run.start(), run.start() + end


def _pair(
    release: Release, spans: Sequence[tuple[int, int, int]], runs: Iterable[tuple[int, int]]
) -> Iterator[tuple[str, str]]:
    """Pair the runs of a released text that hold more than one replacement alone."""
    i = 0
    for start, end in runs:
        while i < len(spans) and spans[i][1] <= start:
            i += 1
        first = i
        while i < len(spans) and spans[i][0] < end:
            i += 1
        if first == i:
            continue
        begin, stop = min(start, spans[first][0]), max(end, spans[i - 1][1])
        if (begin, stop) != spans[first][:2]:
            before = spans[first - 1][2] if first else 0
            raw = release.raw[begin + before : stop + spans[i - 1][2]]
            yield release.sanitized.text[begin:stop], raw
        i -= spans[i - 1][1] > end  # it may be in the next run, too
