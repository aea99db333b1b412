"""Define releases: a private text and its perturbation, from the memo to the socket."""

from __future__ import annotations

from dataclasses import dataclass

from perturb import Perturbation, Sanitizer

__all__ = ["Release"]


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
