"""The exclusion list: obscenities and slurs that no mechanism over words releases.

`data/exclusions.txt` states the criterion for a string. The list is public. It is versioned
because V depends on it: every change of the list is a new version.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from perturb.errors import VocabularyError

__all__ = ["EXCLUSIONS", "EXCLUSIONS_VERSION", "excluded_strings"]

EXCLUSIONS = Path(__file__).parents[1] / "data" / "exclusions.txt"
EXCLUSIONS_VERSION = 1


@lru_cache(maxsize=1)
def excluded_strings() -> frozenset[str]:
    """Return the strings of the list, in lower case.

    >>> "river" in excluded_strings()
    False

    Raises:
        VocabularyError: the list cannot be read, or has another version.
    """
    try:
        title, *lines = EXCLUSIONS.read_text("ascii").splitlines()
    except (OSError, ValueError) as exc:
        raise VocabularyError(f"cannot read the exclusion list {EXCLUSIONS.name}") from exc
    if title != f"# Exclusion list, version {EXCLUSIONS_VERSION}":
        raise VocabularyError(f"{EXCLUSIONS.name} is not version {EXCLUSIONS_VERSION}")
    return frozenset(line for line in lines if not line.startswith("#"))
