"""Read addresses of e-mail and names of users: the names and numbers that one is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perturb.selective.surrogates.names import Cast, NameWord, load_names
from perturb.text.fold import match_case

__all__ = [
    "DOMAIN",
    "Address",
    "is_made_of_names",
    "read_address",
    "read_handle",
    "recase_address",
]

DOMAIN = ".example"  # reserved (RFC 2606): no letter to a surrogate reaches anybody
_ADDRESS = re.compile(r"([A-Za-z0-9._%+'-]+)@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
_HANDLE = re.compile(r"@?[._%+'-]*+[A-Za-z0-9][A-Za-z0-9._%+'-]*")
_TOKEN = re.compile(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]")


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
            token = self.tokens[i].lower()
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
                out[i] = [NameWord("initial", token.lower(), surname)]
        return out


def read_address(raw: str) -> Address | None:
    """Return an address; None for one that is not written in ASCII.

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
