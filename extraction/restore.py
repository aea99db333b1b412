"""Restore raw values in a remote's generation where it uses their replacements.

The result is raw text: it goes to the local model and nowhere else. A client that shows the
answer may load the addresses in it, so nothing is restored inside an address (`Addresses`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from extraction.addresses import LOOK_AHEAD, Addresses
from perturb.text.fold import decode_entities, read
from perturb.text.search import Prefixes
from perturb.vocabulary.word_list import dictionary_words

__all__ = ["choose_restorable", "find_unrestorable", "restore"]

SHORTEST = 3  # characters of a replacement that can be told from ordinary text
LONGEST = 64  # tokens of a replacement that is searched for: bounds the work at each place
_NAME = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
_TOKEN = re.compile(r"\w+|[^\w\s]")

Key = tuple[bool, str]  # whether white space stands before a token, and the token


def restore(generation: str, pairs: Iterable[tuple[str, str]], kept: str = "") -> str:
    """Restore raw values in place of their replacements: whole words, the longest first, in the
    case in which they were released, whatever the white space between words.

    A raw value is restored on one line. If it is written in two ways, with entities of HTML or
    characters of no width, the shorter one is used. A replacement is left alone where it could
    mean something else: two raw values share it, it also occurs in `kept`, it is an ordinary
    word in small letters, or it has fewer than three letters and digits. Nor is a shorter one
    restored inside of it. The words of a replacement of several words, without digits, are also
    restored one by one ("Mr. Miller" for "John Miller"), under the same rules. Nothing is restored
    inside an address: a remote could write one to exfiltrate the value.

    The time is linear in the length of the texts.

    Args:
        generation: the remote's text.
        pairs: (replacement, raw value), in any order, repeated or not.
        kept: the text that was released unchanged beside the replacements.
    """
    pairs = list(pairs)
    usable = choose_restorable(pairs, kept)
    usable = {new: new for new in find_unrestorable(pairs, usable)} | usable
    tokens = _tokenize(generation)
    addresses = Addresses()
    out: list[str] = []
    end = 0
    for ends in _find_matches(generation, tokens, usable):
        last, new = ends[-1]
        first = last - len(_find_keys(new))
        start, stop = tokens[first].start, tokens[last - 1].end
        if start < end:
            continue
        addresses.read(generation[end:start])
        out.append(generation[end:start])
        following, end = generation[stop : stop + LOOK_AHEAD], stop
        allowed = addresses.admits(new, usable[new], following, whole=True)
        out.append(usable[new] if allowed else generation[start:stop])
        addresses.read(out[-1])
    out.append(generation[end:])
    return "".join(out)


def choose_restorable(
    pairs: Iterable[tuple[str, str]],
    kept: str = "",
    *,
    shortest: int = SHORTEST,
    on_one_line: bool = True,
) -> dict[str, str]:
    """Return the raw value of each replacement that can be told from other text, by the rules of
    `restore`, whose arguments these are.

    Args:
        pairs, kept: as for `restore`.
        shortest: the fewest letters and digits of a replacement.
        on_one_line: whether white space in a raw value becomes one blank.
    """
    raw_of: dict[str, dict[str, str]] = {}  # for each replacement, raw values as they are read
    for new, raw in dict.fromkeys(pairs):
        for part, value in ((new, raw), *_pair_words(new, raw)):
            raws, line = raw_of.setdefault(" ".join(part.split()), {}), " ".join(value.split())
            shown = read(line).text
            value = line if on_one_line else _trim(value, part)
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


def find_unrestorable(pairs: Iterable[tuple[str, str]], usable: Container[str]) -> set[str]:
    """Return the replacements that stand out from ordinary text but cannot be restored. They are
    left where they stand, and no part of them is restored either.

    Args:
        pairs: as for `restore`.
        usable: see `choose_restorable`.
    """
    wholes = {" ".join(new.split()) for new, _ in pairs}
    return {new for new in wholes if new not in usable and _is_distinctive(new, 2)}


def _pair_words(new: str, raw: str) -> Iterable[tuple[str, str]]:
    """Pair each word of a replacement with its raw word; a name with a hyphen or an apostrophe is
    one. A date or an amount has no such words: with one of them restored, it would be a third
    one."""
    if any(map(str.isdigit, new)):
        return ()
    ours, theirs = new.split(), decode_entities(raw).split()
    if not 1 < len(ours) == len(theirs):
        return ()
    pairs = [
        (word.rstrip(","), value.rstrip(",")) for word, value in zip(ours, theirs, strict=True)
    ]
    return [(word, raw) for word, raw in pairs if _NAME.fullmatch(word) and _NAME.fullmatch(raw)]


def _trim(raw: str, new: str) -> str:
    """Return a raw value without the white space that its replacement begins and ends with."""
    inner = new.strip()
    before, _, after = new.partition(inner) if inner else ("", "", "")
    return raw.removeprefix(before).removesuffix(after)


def _is_distinctive(new: str, shortest: int) -> bool:
    """Return whether a replacement stands out from ordinary text."""
    if sum(c.isalnum() for c in new) < shortest:
        return False
    return not (new.isalpha() and new.islower()) or new not in dictionary_words()


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, or a character that is neither part of a word nor white space."""

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
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _is_word_character(before[-1:]) or _is_word_character(after[:1]):
        return False
    # 57 is in neither 57.5 nor 3.57.
    ends = text[end - 1].isdigit() and after[:1] in (".", ",") and after[1:].isdigit()
    begins = text[start].isdigit() and before[1:] in (".", ",") and before[:1].isdigit()
    return not (ends or begins)


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"
