"""Look at a server's certificate and its clock, without sending it any text or key."""

from __future__ import annotations

import asyncio
import ssl
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from extraction.http.client import Unreachable, find_proxy

__all__ = ["Identity", "UntrustedCertificate", "look_at"]

SECONDS = 10.0  # for the connection and the head of the answer
HEAD_BYTES = 2**16


class UntrustedCertificate(Exception):
    """Report a certificate that is not accepted; the message says why."""


@dataclass(frozen=True)
class Identity:
    """Hold what a server shows of itself.

    Attributes:
        expires_in: seconds until its certificate expires; None without TLS.
        ahead: seconds by which its clock is ahead of this machine's, to about a second; None if
            it does not tell the time.
    """

    expires_in: float | None
    ahead: float | None


async def look_at(base_url: str) -> Identity | None:
    """Connect to a server and request the base URL's `/models`.

    Returns:
        None if nothing can be seen: it does not answer, or lies behind a proxy of the environment.

    Raises:
        UntrustedCertificate: its certificate has expired, has another name or an unknown issuer.
    """
    try:
        if find_proxy(base_url) is not None:
            return None
        async with asyncio.timeout(SECONDS):
            return await _look(base_url)
    except ssl.SSLCertVerificationError as exc:
        raise UntrustedCertificate(exc.verify_message) from None
    except (Unreachable, OSError, ValueError, EOFError, asyncio.LimitOverrunError):
        return None


async def _look(base_url: str) -> Identity:
    parts = urlsplit(base_url)
    secure = parts.scheme == "https"
    reader, writer = await asyncio.open_connection(
        parts.hostname,
        parts.port or (443 if secure else 80),
        ssl=ssl.create_default_context() if secure else None,
        limit=HEAD_BYTES,
    )
    try:
        now = time.time()
        expires_in = None
        if secure:
            shown = writer.get_extra_info("peercert")
            expires_in = ssl.cert_time_to_seconds(shown["notAfter"]) - now
        host = parts.netloc.rpartition("@")[2]
        path = parts.path.rstrip("/") + "/models"
        head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode("ascii"))
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        now = time.time()
    finally:
        writer.close()
    fields = (line.partition(":") for line in lines)
    told = next((value for name, _, value in fields if name.lower() == "date"), None)
    ahead = None if told is None else parsedate_to_datetime(told.strip()).timestamp() - now
    return Identity(expires_in, ahead)
