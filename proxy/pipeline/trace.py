"""Take notes for a request's line in the log as it runs, so that a failed request is logged up to
its failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.pipeline.receipt import RemoteOutcome
from proxy.remote.generation import Ending

__all__ = ["Trace"]


class Trace:
    """Take notes for the log alone. They hold no text.

    Args:
        outcomes: for each prompt, its outcome if nothing is sent for it.
    """

    def __init__(self, outcomes: Sequence[RemoteOutcome]) -> None:
        self._seconds: dict[str, float] = {}
        self._outcomes = list(outcomes)
        self._endings: dict[int, Ending] = {}
        self._failures: dict[int, dict[str, Any]] = {}

    def note_stage(self, name: str, seconds: float) -> None:
        """Note the duration of a stage."""
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def note_outcome(self, prompt: int, outcome: RemoteOutcome) -> None:
        """Note the outcome of the remote call for a prompt, by its number."""
        self._outcomes[prompt] = outcome

    def note_ending(self, prompt: int, ending: Ending) -> None:
        """Note that the remote's answer was not read to its end."""
        if ending != "whole":
            self._endings[prompt] = ending

    def note_failure(self, prompt: int, names: dict[str, Any] | None) -> None:
        """Note the known names in the remote's error."""
        if names:
            self._failures[prompt] = names

    @property
    def seconds(self) -> Mapping[str, float]:
        """Return the seconds of each stage."""
        return self._seconds

    @property
    def outcomes(self) -> list[RemoteOutcome]:
        """Return the outcome for each prompt, in order."""
        return list(self._outcomes)

    @property
    def endings(self) -> list[Ending]:
        """Return how the answers ended that were not read to their end, in the order of the
        prompts."""
        return [ending for _, ending in sorted(self._endings.items())]

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Return the known names in the remote's errors, in the order of the prompts."""
        return [names for _, names in sorted(self._failures.items())]
