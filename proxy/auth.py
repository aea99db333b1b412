"""Client keys: stored as SHA-256, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from proxy.config import ClientKey
from proxy.errors import unauthorized

__all__ = ["ANONYMOUS", "new_key", "tenant_of"]

ANONYMOUS = "anonymous"  # the one tenant of a proxy without keys


def tenant_of(authorization: str | None, keys: Sequence[ClientKey]) -> str:
    """The tenant an `Authorization: Bearer …` header belongs to.

    Keys are 256 random bits, so a plain hash cannot be searched. Every key is compared, found or
    not.

    Raises:
        ApiError: 401.
    """
    if not keys:
        return ANONYMOUS
    scheme, _, key = (authorization or "").partition(" ")
    digest = hashlib.sha256(key.strip().encode("utf-8", "surrogatepass")).hexdigest()
    found = None
    for entry in keys:
        if hmac.compare_digest(entry.sha256, digest):
            found = entry.tenant
    if scheme.lower() != "bearer" or found is None:
        raise unauthorized()
    return found


def new_key() -> tuple[str, str]:
    """A fresh key and its SHA-256: the key goes to the client, the hash into config.yaml."""
    key = "sk-inferdpt-" + secrets.token_urlsafe(32)
    return key, hashlib.sha256(key.encode()).hexdigest()
