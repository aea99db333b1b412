"""Name the entries of the store by HMACs under its secret, so that no key holds text."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from proxy.release import Release
from proxy.storage.store import Store

__all__ = ["Digests", "batches", "digest", "spell_channel"]

AT_ONCE = 500  # keys in one query
T = TypeVar("T")


class Digests:
    """Name texts, answers and conversations under a store's secret."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, *parts: str) -> bytes:
        """Return the HMAC-SHA-256 of parts, each prefixed with its length: no two lists of parts
        share an encoding."""
        return digest(self._store.secret, *parts)

    def text(self, tenant: str, scope: str, channel: dict[str, Any], text: str) -> bytes:
        """Return the key of a text under a channel."""
        return self.of(tenant, "text", scope, spell_channel(channel), text)

    def release(self, release: Release) -> bytes:
        """Return the key of a release; another draw of the same text has another key."""
        return self.of("release", release.key.hex(), release.sanitized.text)

    def answer(self, tenant: str, scope: str, question: str, answer: str) -> bytes:
        """Return the key of an answer to a turn."""
        return self.of(tenant, "answer", scope, question, answer)

    def conversation(self, tenant: str, opening: Sequence[str]) -> str:
        """Return the name of a conversation with this opening, in hexadecimal."""
        return self.of(tenant, "conversation", *opening).hex()


def digest(secret: bytes, *parts: str) -> bytes:
    """Return the HMAC-SHA-256 of parts under a secret, see `Digests.of`."""
    data = bytearray()
    for part in parts:
        spelled = part.encode("utf-8", "surrogatepass")
        data += len(spelled).to_bytes(8, "big") + spelled
    return hmac.digest(secret, data, "sha256")


def spell_channel(channel: dict[str, Any]) -> str:
    """Return a sanitizer's identity as one string, the same for equal identities."""
    return json.dumps(channel, sort_keys=True)


def batches(items: Sequence[T]) -> Iterable[Sequence[T]]:
    """Cut a list of keys or rows into batches that fit one statement."""
    return (items[i : i + AT_ONCE] for i in range(0, len(items), AT_ONCE))
