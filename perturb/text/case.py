"""Write a word in the capitals of another."""

from __future__ import annotations

__all__ = ["match_case"]


def match_case(word: str, run: str) -> str:
    """Return a released word in the capitals of the run it stands for.

    >>> match_case("table", "MONDAY"), match_case("Table", "monday"), match_case("table", "Monday")
    ('TABLE', 'table', 'Table')
    """
    if run.isupper() and len(run) > 1:
        return word.upper()
    if run[0].isupper():
        return word[0].upper() + word[1:].lower()
    return word.lower() if run.islower() else word
