"""Check the check digits of numbers: cards, accounts, tax numbers, national identifiers and
wallets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from perturb.selective.patterns.shape import digits

__all__ = ["has_national_check", "has_vat_check", "is_iban", "is_wallet", "passes_luhn"]

_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
# Codice fiscale: the value of a character in an odd place; letters count as 0 to 25.
_ODD = (
    1,
    0,
    5,
    7,
    9,
    13,
    15,
    17,
    19,
    21,
    2,
    4,
    18,
    20,
    11,
    3,
    6,
    8,
    12,
    14,
    16,
    10,
    22,
    25,
    24,
    23,
)


def passes_luhn(text: str) -> bool:
    """Check the check digit of ISO/IEC 7812."""
    total = 0
    for place, digit in enumerate(reversed(digits(text))):
        doubled = digit * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)
    return total % 10 == 0


def is_iban(text: str) -> bool:
    """Check by ISO 13616 that the rearranged number is 1 modulo 97."""
    plain = re.sub(r"[\s>|-]", "", text)
    number = "".join(str(int(c, 36)) for c in plain[4:] + plain[:4])
    return 15 <= len(plain) <= 34 and int(number) % 97 == 1


def has_national_check(text: str) -> bool:
    """Check a national identifier: Germany (tax), France (NIR), Spain (DNI, NIE), Italy (codice
    fiscale), the Netherlands (BSN), Poland (PESEL), the United Kingdom (NHS)."""
    plain = re.sub(r"[\s./-]", "", text).upper()
    return any(check(plain) for check in (_german, _french, _spanish, _italian, _dutch, _others))


def has_vat_check(text: str) -> bool:
    """Check a VAT number: the form of its country, and the check digits in Germany, France, Italy,
    Poland and the United Kingdom."""
    plain = re.sub(r"[\s./-]", "", text).upper()
    country, number = plain[:2], plain[2:]
    if plain.startswith("CHE"):
        country, number = "CHE", plain[3:]
    form = _VAT_FORMS.get(country)
    if form is None or not form.fullmatch(number):
        return False
    match country:
        case "DE":
            return _iso_7064(number)
        case "IT":
            return passes_luhn(number)
        case "FR" if number.isdigit():
            return int(number[2:] + "12") % 97 == int(number[:2])
        case "PL":
            return _weighted(number, (6, 5, 7, 2, 3, 4, 5, 6, 7)) == int(number[9])
        case "GB" if number.isdigit():
            total = sum(int(c) * w for c, w in zip(number, range(8, 1, -1), strict=False))
            return (total + int(number[7:9])) % 97 in (0, 42, 55)
    return True


_VAT_FORMS = {
    country: re.compile(form)
    for form, countries in {
        r"\d{8}": "DK FI HU LU MT SI",
        r"\d{9}": "DE EE EL PT",
        r"\d{10}": "PL SK",
        r"\d{11}": "HR IT LV",
        r"\d{12}": "SE",
        r"U\d{8}": "AT",
        r"[01]\d{9}": "BE",
        r"\d{9,10}": "BG",
        r"\d{8}[A-Z]": "CY",
        r"\d{8,10}": "CZ",
        r"[A-Z]\d{7}[A-Z\d]|\d{8}[A-Z]": "ES",
        r"[A-HJ-NP-Z\d]{2}\d{9}": "FR",
        r"\d{9}(?:\d{3})?": "GB LT",
        r"\d[A-Z\d+*]\d{5}[A-Z]{1,2}": "IE",
        r"\d{9}B\d\d": "NL",
        r"\d{7,10}": "RO",
        r"\d{9}(?:MWST|TVA|IVA)?": "CHE",
    }.items()
    for country in countries.split()
}


def _weighted(number: str, weights: Sequence[int], modulus: int = 11) -> int:
    return sum(int(c) * w for c, w in zip(number, weights, strict=False)) % modulus


def _iso_7064(number: str) -> bool:
    """Check ISO 7064 MOD 11,10."""
    product = 10
    for c in number[:-1]:
        product = (int(c) + product) % 10 or 10
        product = product * 2 % 11
    return (11 - product) % 10 == int(number[-1])


def _german(plain: str) -> bool:
    """Check that one digit of the first ten, and no other, occurs two or three times."""
    if len(plain) != 11 or not plain.isdigit() or plain[0] == "0":
        return False
    counts = sorted(map(plain[:10].count, set(plain[:10])))
    return counts[-1] in (2, 3) and counts[-2] == 1 and _iso_7064(plain)


def _french(plain: str) -> bool:
    number = plain.replace("2A", "19", 1).replace("2B", "18", 1)
    if len(number) != 15 or not number.isdigit() or number[0] not in "12378":
        return False
    return 97 - int(number[:13]) % 97 == int(number[13:])


def _spanish(plain: str) -> bool:
    found = re.fullmatch(r"([XYZ]?)(\d{7,8})([A-Z])", plain)
    if not found or len(plain) != 9:
        return False
    number = (str("XYZ".index(found[1])) if found[1] else "") + found[2]
    return _DNI[int(number) % 23] == found[3]


def _italian(plain: str) -> bool:
    if not re.fullmatch(r"[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]", plain):
        return False
    values = [int(c) if c.isdigit() else ord(c) - 65 for c in plain]
    total = sum(_ODD[v] if i % 2 == 0 else v for i, v in enumerate(values[:15]))
    return total % 26 == values[15]


def _dutch(plain: str) -> bool:
    if len(plain) != 9 or not plain.isdigit() or plain == "0" * 9:
        return False
    return _weighted(plain, (9, 8, 7, 6, 5, 4, 3, 2, -1)) == 0


def _others(plain: str) -> bool:
    if not plain.isdigit():
        return False
    if len(plain) == 11:  # PESEL, with a month
        right = _weighted(plain, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), 10) == 0
        return right and 1 <= int(plain[2:4]) % 20 <= 12
    return len(plain) == 10 and (11 - _weighted(plain, range(10, 1, -1))) % 11 == int(plain[9])


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def is_wallet(text: str) -> bool:
    """Check an address of Bitcoin: base58 with its checksum, or bech32 (BIP 173, BIP 350)."""
    return _has_bech32_check(text) if text.lower().startswith("bc1") else _has_base58_check(text)


def _has_base58_check(text: str) -> bool:
    number = 0
    for c in text:
        number = number * 58 + _BASE58.index(c)
    if number.bit_length() > 200:
        return False
    raw = number.to_bytes(25, "big")
    return sha256(sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]


def _has_bech32_check(text: str) -> bool:
    if text not in (text.lower(), text.upper()):
        return False
    prefix, _, data = text.lower().rpartition("1")
    if not set(data) <= set(_BECH32):
        return False
    check = 1
    for value in (
        [ord(c) >> 5 for c in prefix]
        + [0]
        + [ord(c) & 31 for c in prefix]
        + [_BECH32.index(c) for c in data]
    ):
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for place, part in enumerate(_GENERATOR):
            check ^= part if top >> place & 1 else 0
    return check in (1, 0x2BC830A3)
