"""Restore raw values in a remote's generation where it uses their replacements.

The result is raw text: it goes to the local model and nowhere else. A client that shows the
answer may load the addresses in it, so nothing is restored inside an address.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from perturb.text.fold import decode_entities, read
from perturb.text.prefixes import Prefixes

__all__ = ["choose_restorable", "restore"]

SHORTEST = 3  # characters of a replacement that can be told from ordinary text
LONGEST = 64  # tokens of a replacement that is searched for: bounds the work at each place
_TOKEN = re.compile(r"\w+|[^\w\s]")
_RUN = re.compile(r"\S+")
# An address may span several runs: in a Markdown target, or in an HTML attribute.
_TARGET = re.compile(r"\]\([^)]*|\b(?:href|src)\s*=\s*(?:\"[^\"]*|'[^']*)", re.IGNORECASE)

Key = tuple[bool, str]  # whether white space stands before a token, and the token


def restore(generation: str, pairs: Iterable[tuple[str, str]], kept: str = "") -> str:
    """Restore raw values in place of their replacements: whole words, the longest first, in the
    case in which they were released, whatever the white space between words.

    A raw value is restored on one line. If it is written in two ways, with entities of HTML or
    characters of no width, the shorter one is used. A replacement is left alone where it could
    mean something else: two raw values share it, it also occurs in `kept`, it is a single word
    without a capital, or it has fewer than three letters and digits. The words of a replacement of
    several words are also restored one by one ("Mr. Miller" for "John Miller"), under the same
    rules. Nothing is restored inside an address: a remote could write one to exfiltrate the value.

    The time is linear in the length of the texts.

    Args:
        generation: the remote's text.
        pairs: (replacement, raw value), in any order, repeated or not.
        kept: the text that was released unchanged beside the replacements.
    """
    usable = choose_restorable(pairs, kept)
    tokens = _tokenize(generation)
    linked = _find_linked(generation, tokens)
    out: list[str] = []
    end = 0
    for ends in _find_matches(generation, tokens, usable):
        last, new = ends[-1]
        first = last - len(_find_keys(new))
        start, stop = tokens[first].start, tokens[last - 1].end
        if start >= end and not any(linked[first:last]):
            out += [generation[end:start], usable[new]]
            end = stop
    out.append(generation[end:])
    return "".join(out)


def choose_restorable(
    pairs: Iterable[tuple[str, str]], kept: str = "", *, shortest: int = SHORTEST
) -> dict[str, str]:
    """Return the raw value of each replacement that can be told from other text, by the rules of
    `restore`, whose arguments these are.

    Args:
        pairs, kept: as for `restore`.
        shortest: the fewest letters and digits of a replacement.
    """
    raw_of: dict[str, dict[str, str]] = {}  # for each replacement, raw values as they are read
    for new, raw in dict.fromkeys(pairs):
        for part, value in ((new, raw), *_pair_words(new, raw)):
            raws, value = raw_of.setdefault(" ".join(part.split()), {}), " ".join(value.split())
            shown = read(value).text
            raws[shown] = min(raws.get(shown, value), value, key=len)
    usable = {
        new: next(iter(raws.values()))
        for new, raws in raw_of.items()
        if len(raws) == 1 and _is_distinctive(new, shortest)
    }
    for ends in _find_matches(kept, _tokenize(kept), tuple(usable)):
        for _, new in ends:
            usable.pop(new, None)
    return usable


def _pair_words(new: str, raw: str) -> Iterable[tuple[str, str]]:
    """Pair each word of a replacement with its raw word."""
    ours, theirs = new.split(), decode_entities(raw).split()
    if not 1 < len(ours) == len(theirs):
        return ()
    pairs = zip(ours, theirs, strict=True)
    return [(word, value) for word, value in pairs if word.isalpha() and value.isalpha()]


def _is_distinctive(new: str, shortest: int) -> bool:
    """Return whether a replacement stands out from ordinary text."""
    if sum(c.isalnum() for c in new) < shortest:
        return False
    return not new.isalpha() or not new.islower()


@dataclass(frozen=True, slots=True)
class _Token:
    """Hold a word, or a character that is neither part of a word nor white space."""

    key: Key
    start: int
    end: int


def _tokenize(text: str) -> list[_Token]:
    out: list[_Token] = []
    end = 0
    for found in _TOKEN.finditer(text):
        out.append(_Token((found.start() > end, found[0]), found.start(), found.end()))
        end = found.end()
    return out


def _find_keys(new: str) -> list[Key]:
    """Return the tokens of a replacement. White space before the first is ignored."""
    return [(i > 0 and token.key[0], token.key[1]) for i, token in enumerate(_tokenize(new))]


def _find_matches(
    text: str, tokens: Sequence[_Token], replacements: Iterable[str]
) -> Iterator[list[tuple[int, str]]]:
    """Yield, for each token at which replacements begin as whole words, the token after which each
    ends and the replacement, the longest last."""
    keys = {new: _find_keys(new) for new in replacements}
    forms = {_spell(own): new for new, own in keys.items() if 0 < len(own) <= LONGEST}
    begin = {own[0][1] for own in keys.values() if own}
    prefixes = Prefixes(forms)
    shown = _spell([token.key for token in tokens])
    ends = list(accumulate(len(word) + blank for blank, word in (token.key for token in tokens)))
    for first, token in enumerate(tokens):
        if token.key[1] not in begin:  # most words begin no replacement
            continue
        start = ends[first] - len(token.key[1])
        found = []
        for form in prefixes.find(shown, start):
            last = bisect_left(ends, start + len(form))  # or its end is inside a word
            if ends[last] == start + len(form) and _stands_alone(
                text, token.start, tokens[last].end
            ):
                found.append((last + 1, forms[form]))
        if found:
            yield found[::-1]


def _spell(keys: Iterable[Key]) -> str:
    """Return tokens as a text, with one blank for white space."""
    return "".join(f" {word}" if blank else word for blank, word in keys)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text is not inside a longer word."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_is_word_character(before) or _is_word_character(after))


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"


def _find_linked(text: str, tokens: Sequence[_Token]) -> list[bool]:
    """Return for each token whether it belongs to an address: a run with `//` or `www.` in it, or
    one that a Markdown target or an HTML attribute touches."""
    targets = [found.span() for found in _TARGET.finditer(text)]
    out: list[bool] = []
    place = 0
    runs = _RUN.finditer(text)
    end, linked = 0, False
    for token in tokens:
        while token.start >= end:
            run = next(runs)
            end = run.end()
            while place < len(targets) and targets[place][1] <= run.start():
                place += 1
            touched = place < len(targets) and targets[place][0] < end
            linked = touched or "//" in run[0] or "www." in run[0].lower()
        out.append(linked)
    return out
