"""Check the addresses and keys of models.

No error message repeats an address or a key: an address may hold a password.
"""

from __future__ import annotations

import os
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr
from yarl import URL

__all__ = ["BaseUrl", "check_key", "read_key"]


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        URL(url)
    except ValueError:
        raise ValueError("must be an address such as https://host:port/v1") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError("must begin with http:// or https://")
    if not host or port == 0 or not url.isprintable() or " " in url:
        raise ValueError("must name a host and, if any, a port from 1 to 65535")
    if "?" in url or "#" in url:
        raise ValueError("must not have a query (?) or a fragment (#): paths are appended to it")
    return url


BaseUrl = Annotated[str, AfterValidator(_check_url)]


def read_key(given: SecretStr | None, variable: str | None) -> str | None:
    """Return the configured key, else the one in the environment's variable."""
    if given is not None:
        return given.get_secret_value()
    return None if variable is None else os.environ.get(variable)


def check_key(given: SecretStr | None, variable: str | None) -> None:
    """Check that a key can stand in a header.

    Raises:
        ValueError: it cannot; the message names the source of the key.
    """
    key = read_key(given, variable)
    if key is not None and not key.strip().isprintable():
        name = variable if given is None else "api_key"
        raise ValueError(f"{name} must hold printable characters only")
