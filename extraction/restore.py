"""Raw values put back into a remote's generation where it uses their replacements.

The result is raw text: it goes to the local model and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["restore"]

SHORTEST = 3  # characters of a replacement that can be told from ordinary text


def restore(generation: str, pairs: Iterable[tuple[str, str]], kept: str = "") -> str:
    """Put raw values back for their replacements: whole words, the longest first, in the case
    that left, whatever the white space between words.

    A replacement is left where it could mean something else: two raw values share it, it stands
    in `kept` as well, it is a single word without a capital, or it has fewer than three letters
    and digits. The words of a replacement of several are put back one by one, too ("Mr. Miller"
    for "John Miller"), under the same rules.

    Args:
        generation: what the remote wrote.
        pairs: (replacement, raw value), in any order, repeated or not.
        kept: what left unchanged beside the replacements.
    """
    raw_of: dict[str, set[str]] = {}
    for new, raw in pairs:
        for part, value in ((new, raw), *_words(new, raw)):
            raw_of.setdefault(" ".join(part.split()), set()).add(value)
    usable = {new: raws.pop() for new, raws in raw_of.items() if len(raws) == 1 and _clear(new)}
    usable = {new: raw for new, raw in usable.items() if not _stands_in(new, kept)}
    if not usable:
        return generation
    return _expression(usable).sub(lambda found: usable[" ".join(found[0].split())], generation)


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


def _stands_in(new: str, kept: str) -> bool:
    first = new.split()[0]  # the quick look: most replacements are nowhere else
    return first in kept and _expression([new]).search(kept) is not None


def _expression(replacements: Iterable[str]) -> re.Pattern[str]:
    """Matches any of them as whole words."""
    longest_first = sorted(replacements, key=len, reverse=True)
    written = (r"\s+".join(map(re.escape, new.split())) for new in longest_first)
    return re.compile(rf"(?<!\w)(?:{'|'.join(written)})(?!\w)")
