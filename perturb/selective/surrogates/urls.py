"""Read addresses of the web: the host, and what its path and its query are made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from perturb.selective.patterns.contact import is_ip_address
from perturb.selective.surrogates.addresses import Address, read_handle
from perturb.selective.surrogates.generic import PATH_WORDS

__all__ = ["UrlPiece", "read_url"]

_URL = re.compile(
    r"(?P<head>(?:[A-Za-z][A-Za-z0-9+.-]{0,20}:)?(?://)?(?:[Ww]{3}\.)?)"
    r"(?P<host>[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,10})"
    r"(?P<port>(?::[0-9]{1,5})?)(?P<rest>(?:[/?#].*)?)"
)
_RUN = re.compile(r"(?P<escape>%[0-9A-Fa-f]{2})|(?P<token>[A-Za-z0-9._+'-]+)|(?P<sign>[^%])")


_VERSION = re.compile(r"[Vv][0-9]{1,2}(?:\.[0-9]{1,2})?")


@dataclass(frozen=True)
class UrlPiece:
    """A piece of an address: its `host`, a `token` between two signs, or what is `kept`.

    Attributes:
        handle: a token, read as the name of a user.
    """

    kind: Literal["host", "address", "token", "kept"]
    text: str
    handle: Address | None = None


def read_url(raw: str) -> list[UrlPiece] | None:
    """Return the pieces of an address; None for one with a user, with letters beyond ASCII, or
    without anything to draw.

    >>> [piece.text for piece in read_url("https://firm.de/users/anna.schmidt?v=2") or ()]
    ['https://', 'firm.de', '', '/', 'users', '/', 'anna.schmidt', '?', 'v', '=', '2']

    The `address` of a host is that of IPv4.
    """
    found = _URL.fullmatch(raw)
    if found is None or not raw.isascii():
        return None
    host = found["host"]
    pieces = [UrlPiece("kept", found["head"])]
    if is_ip_address(host):
        pieces.append(UrlPiece("address", host))
    elif "." in host:
        pieces.append(UrlPiece("host", host))
    elif host.lower() == "localhost":
        pieces.append(UrlPiece("kept", host))
    else:
        return None
    pieces.append(UrlPiece("kept", found["port"]))
    for run in _RUN.finditer(found["rest"]):
        text = run[0]
        if run["escape"]:
            plain = unquote(text)
            if not plain.isascii() or plain.isalnum():
                return None  # a letter of a name may be written so
        handle = read_handle(text) if run["token"] else None
        if handle and (_VERSION.fullmatch(text) or all(map(_is_technical, handle.tokens))):
            handle = None
        pieces.append(UrlPiece("token" if handle else "kept", text, handle))
    if "".join(piece.text for piece in pieces) != raw:
        return None
    return pieces if any(piece.kind != "kept" for piece in pieces) else None


def _is_technical(token: str) -> bool:
    """Tell if a run of letters, or a sign, of a path is kept."""
    return token.lower() in PATH_WORDS or not token.isalnum()
