"""Prepare the way back of a request: what is restored in the answer to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from extraction.restore import choose_restorable, find_unrestorable
from proxy.release import Release, pair_parts, pair_runs
from proxy.restoring.altered import count_altered
from proxy.restoring.json_text import JsonRestorer
from proxy.restoring.text import Replacements, TextRestorer, spell_pieces

__all__ = ["Restored", "RestoredText", "WayBack", "build_way_back"]

SHORTEST = 2  # letters and digits of a replacement: nobody reads the answer before its reader does


@dataclass(frozen=True)
class WayBack:
    """Hold what restores the answers to one request.

    Attributes:
        replacements: the raw value of each replacement that can be told from other text.
        wholes: the raw string of each sanitized one that comes back as a whole in JSON.
        names: those of them that are names of functions.
        writes_json: whether the client requested an answer in JSON.
        ambiguous: how many replacements cannot be told from other text.
    """

    replacements: Replacements
    wholes: Mapping[str, str]
    names: Mapping[str, str]
    writes_json: bool = False
    ambiguous: int = 0

    def read_content(self) -> RestoredText:
        """Return what restores the text of one answer."""
        return RestoredText(self, json=self.writes_json)

    def read_json(self) -> RestoredText:
        """Return what restores the arguments of one call."""
        return RestoredText(self, json=True)


@dataclass(frozen=True)
class Restored:
    """Count the replacements in an answer: restored, and left in another form, in an address, or
    because two values share them."""

    restored: int = 0
    unrestored: int = 0

    def __add__(self, other: Restored) -> Restored:
        return Restored(self.restored + other.restored, self.unrestored + other.unrestored)


@dataclass
class RestoredText:
    """Restore one text of an answer as it comes."""

    way_back: WayBack
    json: bool
    _parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        back = self.way_back
        self._json = JsonRestorer(back.replacements, back.wholes) if self.json else None
        self._text = TextRestorer(back.replacements)

    def feed(self, text: str) -> str:
        """Take the next piece, and return what is certain now."""
        self._parts.append(text)
        return self._json.feed(text) if self._json else spell_pieces(self._text.feed(text))

    def finish(self) -> str:
        """Return the rest."""
        return self._json.finish() if self._json else spell_pieces(self._text.finish())

    def count(self) -> Restored:
        """Count what was restored, once the text is finished."""
        used = self._json or self._text
        altered = count_altered("".join(self._parts), self.way_back.replacements)
        return Restored(used.restored, used.left + altered)


def build_way_back(
    releases: Sequence[Release],
    wholes: Collection[str],
    names: Collection[str],
    *,
    writes_json: bool = False,
) -> WayBack:
    """Build the way back of a request.

    Args:
        releases: of every string that was sanitized.
        wholes: the raw strings that come back as a whole.
        names: those of them that are names of functions.
    """
    sanitized = {release.raw: release.sanitized.text for release in releases}
    changed = _invert({raw: sanitized[raw] for raw in wholes})
    pairs, kept = pair_parts(releases)
    pairs += pair_runs(releases)
    usable = choose_restorable([*pairs, *changed.items()], kept, shortest=SHORTEST)
    replacements = Replacements(usable, find_unrestorable(pairs, usable))
    sought = replacements.raw_of
    return WayBack(
        replacements=replacements,
        wholes=changed,
        names={new: raw for new, raw in changed.items() if raw in names},
        writes_json=writes_json,
        ambiguous=len({new for new, _ in pairs if " ".join(new.split()) not in sought}),
    )


def _invert(sanitized: Mapping[str, str]) -> dict[str, str]:
    """Return the raw form of each string that was changed, unless two share it."""
    raws: dict[str, list[str]] = {}
    for raw, new in sanitized.items():
        raws.setdefault(new, []).append(raw)
    return {new: raw for new, (raw, *others) in raws.items() if not others and new != raw}
