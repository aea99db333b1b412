"""Read addresses of e-mail and of the web and names of users: the names and numbers that one is
made of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal
from urllib.parse import unquote

from perturb.selective.patterns.composed import is_full_name, split_humps
from perturb.selective.patterns.contact import is_ip_address
from perturb.selective.patterns.given import is_ordinary_word
from perturb.selective.surrogates.names import Cast, NameWord, load_names
from perturb.selective.surrogates.phrases import PATH_WORDS
from perturb.text.fold import fold_name, match_case

__all__ = [
    "DOMAIN",
    "Address",
    "UrlPiece",
    "is_made_of_names",
    "read_address",
    "read_handle",
    "read_humps",
    "read_url",
    "recase_address",
]

DOMAIN = ".example"  # reserved (RFC 2606): no letter to a surrogate reaches anybody
_LATIN = "A-Za-zÀ-ÖØ-öø-ɏ"  # as `read_script` has it
_ADDRESS = re.compile(rf"([{_LATIN}0-9._%+'-]+)@([{_LATIN}0-9-]+(?:\.[{_LATIN}0-9-]+)+)")
_HANDLE = re.compile(rf"@?[._%+'-]*+[{_LATIN}0-9][{_LATIN}0-9._%+'-]*")
_TOKEN = re.compile(rf"[{_LATIN}]+|[0-9]+|[^{_LATIN}0-9]")


@dataclass(frozen=True)
class Address:
    """An address: the runs of letters, of digits and the signs of its local part, and its
    domain in small letters, which is "" for the name of a user."""

    tokens: tuple[str, ...]
    domain: str

    @property
    def key(self) -> str:
        """Return the part of it that its digits are drawn by."""
        letters = "".join(t.lower() if t.isalpha() else t[0] for t in self.tokens)
        return f"{letters}@{self.domain}"

    def read_names(self, cast: Cast) -> dict[int, list[NameWord]]:
        """Return the words that each run of letters is made of, by its place.

        Runs that the cast does not know are read by their places: the first is a given name, the
        others are surnames; a run that stands alone is read like a single word of a name.
        """
        full = [i for i, t in enumerate(self.tokens) if t.isalpha() and len(t) > 1]
        out: dict[int, list[NameWord]] = {}
        for i in full:
            token = fold_name(self.tokens[i])
            if words := cast.split(token):
                out[i] = words
            elif len(full) == 1:
                out[i] = [NameWord("alone", token)]
            else:
                out[i] = [NameWord("given" if i == full[0] else "surname", token)]
        surname = next(
            (w.key for i in reversed(full) for w in out[i] if cast.role_of(w) == "surname"), ""
        )
        for i, token in enumerate(self.tokens):
            if token.isalpha() and len(token) == 1:
                out[i] = [NameWord("initial", fold_name(token), surname)]
        return out


def read_address(raw: str) -> Address | None:
    """Return an address; None for one with letters that are not Latin.

    >>> read_address("a.schmidt82@Example.org")
    Address(tokens=('a', '.', 'schmidt', '82'), domain='example.org')
    """
    found = _ADDRESS.fullmatch(raw)
    return Address(tuple(_TOKEN.findall(found[1])), found[2].lower()) if found else None


def read_handle(raw: str) -> Address | None:
    """Return the name of a user, with or without an @ before it, as the local part of an address;
    None for one with other signs.

    >>> read_handle("@mholzapfel_7").tokens
    ('@', 'mholzapfel', '_', '7')
    """
    return Address(tuple(_TOKEN.findall(raw)), "") if _HANDLE.fullmatch(raw) else None


_SHORT = 4  # letters; a shorter word beside a full name stays


def read_humps(token: str, cast: Cast) -> list[tuple[str, NameWord | None]] | None:
    """Return the words of a run of letters in camel case that holds a full name, each with what it
    is in a name: None for an ordinary word beside it, which stays.

    >>> words = read_humps("getTamsinAchterbergIT", Cast()) or ()
    >>> [(word, name and name.role) for word, name in words]
    [('get', None), ('Tamsin', 'given'), ('Achterberg', 'surname'), ('IT', None)]
    """
    humps = split_humps(token)
    named: dict[int, NameWord] = {}
    for i, (first, second) in enumerate(pairwise(humps)):
        words = cast.split(fold_name(first + second)) or []
        if len(words) != 2 and is_full_name(first, second):
            words = [NameWord("given", fold_name(first)), NameWord("surname", fold_name(second))]
        if len(words) == 2 and i not in named:
            named |= {i: words[0], i + 1: words[1]}
    if not named:
        return None
    for i, hump in enumerate(humps):
        if i not in named and len(hump) >= _SHORT and not is_ordinary_word(hump):
            named[i] = NameWord("surname", fold_name(hump))
    return [(hump, named.get(i)) for i, hump in enumerate(humps)]


def recase_address(new: str, raw: str) -> str | None:
    """Return the surrogate of an address or of the name of a user, in the capitals of its raw
    value; None if they do not pair up.

    >>> recase_address("mara.tarn7@melby.example", "JO.HOLT4@site.test")
    'MARA.TARN7@melby.example'
    """
    ours, theirs = (read_address(text) or read_handle(text) for text in (new, raw))
    if ours is None or theirs is None or len(ours.tokens) != len(theirs.tokens):
        return None
    pairs = zip(ours.tokens, theirs.tokens, strict=True)
    local = "".join(match_case(one, own) if one.isalpha() else one for one, own in pairs)
    return f"{local}@{ours.domain}" if ours.domain else local


def is_made_of_names(token: str) -> bool:
    """Tell if a run of letters is a person's public name, an initial, or two of these."""
    plain = token.lower()
    return _is_name(plain) or any(
        _is_name(plain[:cut]) and _is_name(plain[cut:]) for cut in range(1, len(plain))
    )


def _is_name(plain: str) -> bool:
    return len(plain) == 1 or load_names()["latin"].role_of(plain) in ("given", "surname")


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
