"""Errors of the HTTP client.

    HttpError
    ├── Unreachable    there is no connection, or it broke before the answer began
    ├── Blocked        the certificate or the environment's proxy prevents the connection
    ├── TimedOut       no answer, or no next event, in time
    └── Unreadable     the answer is not HTTP, not JSON, or over a limit
        └── CutShort   the answer began and broke off

A request is worth repeating only after `Unreachable`: a server that began to answer may have
counted it. No message holds anything that was sent or received.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError, HttpProcessingError

__all__ = [
    "CUT",
    "Blocked",
    "CutShort",
    "HttpError",
    "TimedOut",
    "Unreachable",
    "Unreadable",
    "map_errors",
]

CUT = "the answer was cut short"
ENCODED = "the answer is in an encoding that cannot be read"


class HttpError(Exception):
    """Serve as the base of every error of the client."""


class Unreachable(HttpError):
    """Report a connection that cannot be made, or that broke before the answer began."""


class Blocked(HttpError):
    """Report a certificate that is not trusted, or a proxy that refuses to connect."""


class TimedOut(HttpError):
    """Report an answer, or a next event, that did not come in time."""


class Unreadable(HttpError):
    """Report an answer that is not HTTP, not JSON, or over a limit."""


class CutShort(Unreadable):
    """Report an answer that began and broke off."""


@contextmanager
def map_errors() -> Iterator[None]:
    """Map the library's errors, most specific first."""
    try:
        yield
    except HttpError:
        raise
    except aiohttp.ConnectionTimeoutError as exc:
        raise Unreachable("no connection in time") from exc
    except TimeoutError as exc:
        raise TimedOut("no answer in time") from exc
    except aiohttp.ClientConnectorCertificateError as exc:
        raise Blocked(
            "its certificate is not trusted (SSL_CERT_FILE can name its issuer)"
        ) from exc
    except aiohttp.ClientHttpProxyError as exc:
        raise Blocked("the environment's HTTP proxy refused to connect to it") from exc
    except aiohttp.ClientPayloadError as exc:
        if isinstance(exc.__cause__, ContentEncodingError):
            raise Unreadable(ENCODED) from exc
        raise CutShort(CUT) from exc
    except (aiohttp.ClientResponseError, HttpProcessingError) as exc:
        # aiohttp has no exception for an unknown encoding
        encoded = "content-encoding" in str(getattr(exc, "message", ""))
        raise Unreadable(ENCODED if encoded else "the answer is not HTTP") from exc
    except (aiohttp.ClientError, OSError) as exc:
        raise Unreachable("the connection cannot be made, or broke") from exc
    except ValueError as exc:  # an address, or a header
        raise Unreachable("the address or the key cannot be used") from exc
