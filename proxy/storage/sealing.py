"""Encrypt rows of the store under its secret.

A row has a nonce of its own, and its key is an HMAC of the nonce under the secret. SHAKE-256 makes
the key into a stream that masks the row.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from sqlalchemy import Table

from proxy.errors import ApiError
from proxy.storage.digests import Digests

__all__ = ["mask", "open_sealed", "place_of", "reseal", "seal"]

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
