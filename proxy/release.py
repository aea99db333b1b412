"""Define releases: a private text and its perturbation, from the memo to the socket."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from perturb import Perturbation, Sanitizer

__all__ = ["Release", "pair_parts"]


@dataclass(frozen=True)
class Release:
    """Hold a private text and its perturbation, for as long as its request lives.

    Attributes:
        raw: the text as the client wrote it.
        sanitized: its perturbation. The store may hold another replica's, so it is a proposal
            until `Memo.settle` returns the release that counts.
        sanitizer: made the perturbation.
        key: the name of the text in the store, see `proxy.storage.digests`.
        fresh: whether the text is released for the first time.
    """

    raw: str
    sanitized: Perturbation
    sanitizer: Sanitizer
    key: bytes
    fresh: bool = True

    @cached_property
    def secrets(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the sensitive parts of the raw text: all of them, and those that no release
        holds by chance, see `Sanitizer.secrets`.

        A release cannot change, so it is verified once, however often the guard asks.

        Raises:
            ReleaseError: the sanitizer cannot return this perturbation of the text.
        """
        self.sanitizer.verify(self.raw, self.sanitized)
        return (
            self.sanitizer.secrets(self.raw, self.sanitized),
            self.sanitizer.secrets(self.raw, self.sanitized, unrepeatable=True),
        )


def pair_parts(releases: Iterable[Release]) -> tuple[list[tuple[str, str]], str]:
    """Return each replacement with its raw value, and the text that was released beside them.

    Releases of which everything was perturbed have none.
    """
    pairs: list[tuple[str, str]] = []
    kept: list[str] = []
    for release in releases:
        if release.sanitized.replaced is None:
            continue
        end = 0
        for part in release.sanitized.replaced:
            pairs.append((part.text, release.raw[part.start : part.end]))
            kept.append(release.raw[end : part.start])
            end = part.end
        kept.append(release.raw[end:])
    return pairs, "\n".join(kept)
