"""Name the entries of the store by HMACs under its secret, so that no key holds text."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from perturb import Sanitizer
from proxy.release import Release
from proxy.storage.store import Store

__all__ = ["Digests", "batches", "digest", "find_channel", "spell_channel"]

AT_ONCE = 500  # keys in one query
CHANNELS = 64  # sanitizers whose identities are kept
T = TypeVar("T")


class Digests:
    """Name texts, answers and conversations under a store's secret."""

    def __init__(self, store: Store) -> None:
        self._keyed = hmac.new(store.secret, digestmod="sha256")  # copied: keying takes longer

    def of(self, *parts: str) -> bytes:
        """Return the HMAC-SHA-256 of parts, each prefixed with its length: no two lists of parts
        share an encoding."""
        found = self._keyed.copy()
        found.update(_encode(parts))
        return found.digest()

    def family(self, *parts: str) -> Callable[[str], bytes]:
        """Return `of` for these parts and a last one."""
        begun = self._keyed.copy()
        begun.update(_encode(parts))

        def complete(last: str) -> bytes:
            found = begun.copy()
            found.update(_encode((last,)))
            return found.digest()

        return complete

    def text(self, tenant: str, scope: str, channel: str, text: str) -> bytes:
        """Return the key of a text under a channel, see `spell_channel`."""
        return self.of(tenant, "text", scope, channel, text)

    def release(self, release: Release) -> bytes:
        """Return the key of a release; another draw of the same text has another key."""
        return self.of("release", release.key.hex(), release.sanitized.text)

    def answer(self, tenant: str, scope: str, question: str, answer: str) -> bytes:
        """Return the key of an answer to a turn."""
        return self.of(tenant, "answer", scope, question, answer)

    def record(self, before: bytes, tenant: str, number: int, time: float, value: str) -> bytes:
        """Return the hash of a row of the audit record; `before` is that of the row before it."""
        return self.of("record", before.hex(), tenant, str(number), repr(time), value)

    def conversation(self, tenant: str, opening: Sequence[str]) -> str:
        """Return the name of a conversation with this opening, in hexadecimal."""
        return self.of(tenant, "conversation", *opening).hex()


def digest(secret: bytes, *parts: str) -> bytes:
    """Return the HMAC-SHA-256 of parts under a secret, see `Digests.of`."""
    return hmac.digest(secret, _encode(parts), "sha256")


def spell_channel(channel: dict[str, Any]) -> str:
    """Return a sanitizer's identity as one string, the same for equal identities."""
    return json.dumps(channel, sort_keys=True)


@lru_cache(maxsize=CHANNELS)
def find_channel(sanitizer: Sanitizer) -> str:
    """Return the identity of a sanitizer, which never changes, as one string."""
    return spell_channel(sanitizer.identity())


def _encode(parts: Iterable[str]) -> bytes:
    pieces = []
    for part in parts:
        spelled = part.encode("utf-8", "surrogatepass")
        pieces += [len(spelled).to_bytes(8, "big"), spelled]
    return b"".join(pieces)


def batches(items: Sequence[T]) -> Iterable[Sequence[T]]:
    """Cut a list of keys or rows into batches that fit one statement."""
    return (items[i : i + AT_ONCE] for i in range(0, len(items), AT_ONCE))
