"""Find the sensitive parts of a request: a part found in one of its texts counts in all."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from perturb import Sanitizer
from perturb.release import EMPTY, Known
from perturb.text.fold import display_small
from perturb.text.once import compute_once
from perturb.work import check_work
from proxy.storage.digests import find_channel, spell_channel

__all__ = ["Findings", "find"]


@dataclass(frozen=True)
class _Found:
    """Hold a sensitive part: its type, the turn it was first found in, and its displayed form in
    lower case."""

    type: str
    turn: int
    displayed: str


@dataclass(frozen=True)
class Findings:
    """Hold the sensitive parts in the turns of a request.

    A new text is released without any of them. A text with an earlier release is sent as it was
    released then, when only some of them were known.

    Attributes:
        sanitizer: the sanitizer that found them.
        parts: the parts in the order of the turns.
        own: each text's own parts.
    """

    sanitizer: Sanitizer
    parts: Mapping[str, _Found]
    own: Mapping[str, Known]
    _known: dict[int, Known] = field(default_factory=dict)

    def channels(self, text: str, turn: int) -> tuple[tuple[str, ...], Known]:
        """Return the identities under which a text of a turn may have been released, oldest
        first, see `spell_channel`, and the parts that are sensitive in it if it is released now,
        under the last identity."""
        if not self.parts:
            return (find_channel(self.sanitizer),), EMPTY
        identity = self.sanitizer.identity()
        shown = compute_once(display_small, text)
        later = {
            found.turn
            for found in self.parts.values()
            if found.turn > turn and found.displayed in shown
        }
        # The text's own parts change nothing, wherever else they occur.
        own = self.own[text]
        here: Known = EMPTY
        channels: list[str] = []
        for last in (turn, *sorted(later)):
            here = self.sanitizer.known_in(text, self._find_known(last))
            others = {part: kind for part, kind in here.items() if part not in own}
            channel = spell_channel({**identity, "known": others} if others else identity)
            if channel not in channels:
                channels.append(channel)
        return tuple(channels), here

    def _find_known(self, last: int) -> Known:
        """Return the parts that were found up to a turn, prepared once for all texts: most turns
        find nothing new."""
        count = bisect_right(self._turns, last)
        if count not in self._known:
            known = {part: found.type for part, found in islice(self.parts.items(), count)}
            self._known[count] = self.sanitizer.index_known(known)
        return self._known[count]

    @cached_property
    def _turns(self) -> list[int]:
        return [found.turn for found in self.parts.values()]


def find(sanitizer: Sanitizer, turns: Iterable[Iterable[str]]) -> Findings:
    """Find the sensitive parts of a request.

    Args:
        turns: the private texts of each turn, in order.
    """
    parts: dict[str, _Found] = {}
    own: dict[str, Known] = {}
    for turn, texts in enumerate(turns):
        for text in dict.fromkeys(texts):
            if text not in own:
                check_work()
                own[text] = sanitizer.findings(text)
            for part, kind in own[text].items():
                if part not in parts:
                    parts[part] = _Found(kind, turn, display_small(part))
    return Findings(sanitizer, parts, own)
