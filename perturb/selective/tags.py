"""Write tags: a type and a number, such as `PERSON_417`, in place of a part.

A tag is one word of capitals, so that it stands in code, JSON, CSV, HTML, addresses and prose
without breaking them, and no text holds it by chance. It carries no ε: it shows the type of its
part, and which parts are equal.
"""

from __future__ import annotations

import re

from perturb.errors import ReleaseError
from perturb.release import Link, RequestLink
from perturb.rng import draw_below

__all__ = ["TagCheck", "is_tag", "write_tag"]

LEAST, NUMBERS = 100, 9900  # of a tag: a smaller one could be a place in a list
TRIES = 200  # draws of a number that is free in the request
_TAG = re.compile(r"([A-Z][A-Z0-9_]*)_([1-9][0-9]{2,3})")


def write_tag(type_: str, raw: str, link: Link) -> str:
    """Return the tag of a part: equal for equal parts under one link.

    With a `RequestLink`, different parts of its request have different tags, and none that one of
    its texts holds already.

    >>> from perturb.rng import seeded_generator
    >>> write_tag("PERSON", "Anna", lambda entity: seeded_generator(1))
    'PERSON_4644'
    """
    noise = link(f"tag {type_} {raw}")
    for _ in range(TRIES):
        tag = f"{type_}_{LEAST + draw_below(NUMBERS, noise)}"
        if not isinstance(link, RequestLink) or link.taken.take_whole(tag, raw):
            break
    return tag


def is_tag(text: str, type_: str) -> bool:
    """Tell if a text is a tag of a type.

    >>> is_tag("PERSON_417", "PERSON"), is_tag("PERSON_417", "NAME")
    (True, False)
    """
    found = _TAG.fullmatch(text)
    return found is not None and found[1] == type_


class TagCheck:
    """Check the tags of one text: equal parts have equal tags, and different parts different
    ones."""

    def __init__(self) -> None:
        self._tags: dict[tuple[str, str], str] = {}
        self._raws: dict[str, str] = {}

    def check(self, type_: str, raw: str, tag: str) -> None:
        """Check one tag, which is of the type.

        Raises:
            ReleaseError: it does not fit the others.
        """
        if self._tags.setdefault((type_, raw), tag) != tag:
            raise ReleaseError("equal marked parts have different replacements")
        if self._raws.setdefault(tag, raw) != raw:
            raise ReleaseError("two marked parts have one tag")
