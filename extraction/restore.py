"""Raw values put back into a remote's generation where it uses their replacements.

The result is raw text: it goes to the local model and nowhere else. What a client may show of the
answer can still load an address, so nothing is put back inside one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["restore"]

SHORTEST = 3  # characters of a replacement that can be told from ordinary text
LONGEST = 64  # tokens of a replacement that is looked for: bounds the work at each place
_TOKEN = re.compile(r"\w+|[^\w\s]")
_RUN = re.compile(r"\S+")
# What is not one run of an address may still be a part of it: a Markdown target, an attribute.
_TARGET = re.compile(r"\]\([^)]*|\b(?:href|src)\s*=\s*(?:\"[^\"]*|'[^']*)", re.IGNORECASE)
_END = ""  # the key of a replacement in the tree: no token is empty

Key = tuple[bool, str]  # whether white space stands before a token, and the token


def restore(generation: str, pairs: Iterable[tuple[str, str]], kept: str = "") -> str:
    """Put raw values back for their replacements: whole words, the longest first, in the case
    that left, whatever the white space between words.

    A replacement is left where it could mean something else: two raw values share it, it stands
    in `kept` as well, it is a single word without a capital, or it has fewer than three letters
    and digits. The words of a replacement of several are put back one by one, too ("Mr. Miller"
    for "John Miller"), under the same rules. Nothing is put back inside an address, which a
    remote may write to carry it off.

    The time it takes grows with the length of the texts.

    Args:
        generation: what the remote wrote.
        pairs: (replacement, raw value), in any order, repeated or not.
        kept: what left unchanged beside the replacements.
    """
    raw_of: dict[str, set[str]] = {}
    for new, raw in dict.fromkeys(pairs):
        for part, value in ((new, raw), *_words(new, raw)):
            raw_of.setdefault(" ".join(part.split()), set()).add(value)
    usable = {new: raws.pop() for new, raws in raw_of.items() if len(raws) == 1 and _clear(new)}
    tree = _tree(usable)
    for ends in _matches(kept, _tokens(kept), tree):
        for _, new in ends:
            usable.pop(new, None)
    tokens = _tokens(generation)
    linked = _linked(generation, tokens)
    out: list[str] = []
    end = 0
    for ends in _matches(generation, tokens, _tree(usable)):
        last, new = ends[-1]
        first = last - len(_keys(new))
        start, stop = tokens[first].start, tokens[last - 1].end
        if start >= end and not any(linked[first:last]):
            out += [generation[end:start], usable[new]]
            end = stop
    out.append(generation[end:])
    return "".join(out)


def _words(new: str, raw: str) -> Iterable[tuple[str, str]]:
    """The words of a replacement with the raw word each stands for."""
    ours, theirs = new.split(), raw.split()
    if not 1 < len(ours) == len(theirs):
        return ()
    pairs = zip(ours, theirs, strict=True)
    return [(word, value) for word, value in pairs if word.isalpha() and value.isalpha()]


def _clear(new: str) -> bool:
    """Whether a replacement stands out from ordinary text."""
    if sum(c.isalnum() for c in new) < SHORTEST:
        return False
    return not new.isalpha() or not new.islower()


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, or a character that is neither of a word nor white space."""

    key: Key
    start: int
    end: int


def _tokens(text: str) -> list[_Token]:
    out: list[_Token] = []
    end = 0
    for found in _TOKEN.finditer(text):
        out.append(_Token((found.start() > end, found[0]), found.start(), found.end()))
        end = found.end()
    return out


def _keys(new: str) -> list[Key]:
    """The tokens of a replacement; white space before the first says nothing."""
    return [(i > 0 and token.key[0], token.key[1]) for i, token in enumerate(_tokens(new))]


def _tree(replacements: Iterable[str]) -> dict[Any, Any]:
    tree: dict[Any, Any] = {}
    for new in replacements:
        keys = _keys(new)
        if len(keys) <= LONGEST:
            node = tree
            for key in keys:
                node = node.setdefault(key, {})
            node[_END] = new
    return tree


def _matches(
    text: str, tokens: Sequence[_Token], tree: Mapping[Any, Any]
) -> Iterator[list[tuple[int, str]]]:
    """For each token at which replacements begin as whole words: behind which token each ends,
    and the replacement, the longest last."""
    for first, token in enumerate(tokens):
        node, key = tree, (False, token.key[1])
        ends = []
        for i in range(first, len(tokens)):
            if i > first:
                key = tokens[i].key
            if (following := node.get(key)) is None:
                break
            node = following
            if _END in node and _apart(text, token.start, tokens[i].end):
                ends.append((i + 1, node[_END]))
        if ends:
            yield ends


def _apart(text: str, start: int, end: int) -> bool:
    """Whether no word goes on over the edges of a part."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_of_word(before) or _of_word(after))


def _of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _linked(text: str, tokens: Sequence[_Token]) -> list[bool]:
    """For each token, whether it is of an address: of a run with `//` or `www.` in it, or one
    that a Markdown target or an HTML attribute touches."""
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
