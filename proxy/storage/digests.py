"""Name and encrypt the entries of the store under its secret.

Names are HMACs, so that no key holds text. An encrypted row has a nonce of its own, and its key is
an HMAC of the nonce under the secret. SHAKE-256 makes the key into a stream that masks the row.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Table

from perturb import Sanitizer
from proxy.errors import ApiError
from proxy.release import Release
from proxy.storage.store import Store

__all__ = [
    "Digests",
    "digest",
    "find_channel",
    "mask",
    "open_sealed",
    "place_of",
    "reseal",
    "seal",
    "spell_channel",
]


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


# A sanitizer of one request, whose terms are the client's own, goes with the request.
_channels: WeakKeyDictionary[Sanitizer, str] = WeakKeyDictionary()


def find_channel(sanitizer: Sanitizer) -> str:
    """Return the identity of a sanitizer, which never changes, as one string."""
    found = _channels.get(sanitizer)
    if found is None:
        found = _channels[sanitizer] = spell_channel(sanitizer.identity())
    return found


def _encode(parts: Iterable[str]) -> bytes:
    pieces = []
    for part in parts:
        spelled = part.encode("utf-8", "surrogatepass")
        pieces += [len(spelled).to_bytes(8, "big"), spelled]
    return b"".join(pieces)


NONCE = 16
TAG = 32


def mask(digests: Digests, purpose: str, nonce: bytes, data: bytes) -> bytes:
    """Return data masked, or masked data as it was, for one purpose and nonce."""
    stream = hashlib.shake_256(digests.of(purpose, nonce.hex())).digest(len(data))
    masked = int.from_bytes(data, "big") ^ int.from_bytes(stream, "big")
    return masked.to_bytes(len(data), "big")


def seal(digests: Digests, data: bytes, *place: str) -> bytes:
    """Encrypt a row and authenticate it together with its place.

    Args:
        place: names the row. A row that is moved to another place cannot be opened there.
    """
    nonce = secrets.token_bytes(NONCE)
    masked = mask(digests, "sealed value", nonce, data)
    return nonce + _sign(digests, nonce, masked, place) + masked


def open_sealed(digests: Digests, value: bytes, *place: str) -> bytes:
    """Decrypt a row that `seal` made for this place.

    Raises:
        ApiError: 500, the row was changed or moved, or is of another secret.
    """
    nonce, tag, masked = value[:NONCE], value[NONCE : NONCE + TAG], value[NONCE + TAG :]
    if not hmac.compare_digest(tag, _sign(digests, nonce, masked, place)):
        raise ApiError(
            500,
            "A row of the proxy's store was changed, or is of another secret.",
            type="server_error",
            code="store_damaged",
        )
    return mask(digests, "sealed value", nonce, masked)


def reseal(old: Digests, new: Digests, value: bytes, *place: str) -> bytes:
    """Encrypt a row for the same place under another secret; raise as `open_sealed`."""
    return seal(new, open_sealed(old, value, *place), *place)


def place_of(table: Table, *key: str | int) -> tuple[str, ...]:
    """Return the place of a row of a table."""
    return (table.name, *map(str, key))


def _sign(digests: Digests, nonce: bytes, masked: bytes, place: tuple[str, ...]) -> bytes:
    content = hashlib.sha256(masked).hexdigest()
    return digests.of("sealed tag", nonce.hex(), content, *place)
