"""Find numbers of cards, accounts, persons, files and cases."""

from __future__ import annotations

import re

from perturb.selective.patterns.checks import (
    has_national_check,
    has_vat_check,
    is_iban,
    passes_luhn,
)
from perturb.selective.patterns.shape import (
    all_clues,
    any_figure,
    any_listed,
    any_match,
    any_of,
    digits,
    least_digits,
    shape,
)

__all__ = ["IDENTIFIERS", "OTHERS"]

_VAT = "AT|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|CHE"
_ID = "|".join(
    (
        # Germany, the Netherlands, the United Kingdom; 10.251.111.130 is of a network
        r"(?!\d{2,3}(?:\.[012]\d\d){3}(?!\d))\d{2,3}(?:[ ./-]?\d{3}){3}",
        r"\d{3} \d{3} \d{4}|\d{11}",
        r"[12378] ?\d\d ?[0-9]\d ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d",  # France
        r"[XYZ]?-?\d{1,2}\.?\d{3}\.?\d{3}-?[A-Z]|[XYZ]-?\d{7}-?[A-Z]",  # Spain
        r"[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]",  # Italy
    )
)
_NUMBERED = "bsn burgerservicenummer sofinummer nhs"
_CASE_WORDS = any_of(
    "case docket file az. az aktenzeichen sp._zn. spis._zn. č.j. sygn._akt sygnatura dossier",
    "n°_rg expediente autos procedimiento causa proc. processo procedimento zaaknummer rolnummer",
    "дело дело_№ ügyszám",
)
_FILED_LIST = """
    order invoice contract claim insurance loyalty membership reservation booking policy mandate
    hospital customer account bestellung auftrag rechnung vertrag kundennummer police versicherung
    aktenzeichen facture commande contrat dossier client pedido factura contrato expediente póliza
    ordine fattura contratto bestelling factuur polis zamówienie faktura umowa
"""
_FILED = any_of(_FILED_LIST) + r"(?: (?:no|nr|number|num|id|n[°º])\b\.?)?"
_STANDARDS = re.compile(
    r"(?:AES|CIS|CVE|DIN|EN|GPU|HTTP|IEC|IEEE|IP|ISO|JDK|K8|MS|NEN|NIST|PCI|PEP|RFC|RSA|RTX|S3|SHA|SOC|TLS|USB|UTF)(?![A-Za-z])",
    re.IGNORECASE,
)


def _is_filed(code: str) -> bool:
    """Check the number of somebody's file; a standard has the form of one."""
    return len(digits(code)) > 3 and not _STANDARDS.match(code)


_CASES = "|".join(
    (
        # 18403/91, 74025 / 01, 12/2001; also several after one `nos.`
        r"(?<![\d./-])\d{3,6} ?/ ?\d{2}(?:\d\d)?|(?<![\d./-])\d{1,5}/(?:19|20)\d\d",
        r"(?<![\d/])\d{1,6}(?>(?:/\d{1,6}){2,9})",
        # 1 BvR 123/08, VII ZR 12/05, 3 K 17/20
        r"(?:[IVX]{1,5}|\d{1,3}) [A-Z][A-Za-z]{0,3} \d{1,5}/\d{2,4}",
        r"\d:\d\d-[a-z]{2}-\d{3,6}(?:-[A-Z]{2,4}){0,2}",  # 1:19-cv-01234
        r"\[\d{4}\] (?:\d{1,3} )?[A-Z]{2,6}(?: \([A-Z][a-z]+\))? \d{1,5}",  # [2001] UKHL 26
        # no. 4/95: after the word for a number, a short one counts, too
        r"(?:(?i:nos?|nr|núm|n[°º]|az|case|file|application|ref)\.?:? ?)"
        r"(?P<part>\d{1,6} ?/ ?\d{1,4}(?:(?:,| and) \d{1,6}/\d{1,4}){0,9})",
    )
)


def _is_identifier(text: str) -> bool:
    """Check for letters mixed with three digits or more: a case number, not `MP3` or `GPT-4`."""
    return not text.isalpha() and len(digits(text)) >= 3 and any(c.isalpha() for c in text)


def _is_no_date(text: str) -> bool:
    """Check that a number with strokes is no date."""
    parts = text.split("/")
    return not (len(parts) == 3 and all(len(part) in (1, 2, 4) for part in parts))


def _locate_case(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the number of a case; None for a span of years or a month, `1964/69`
    and `09/2026`, without the word for a number before it."""
    if match["part"]:
        return match.span("part")
    return None if _MONTH.fullmatch(match[0]) or _is_year_span(match[0]) else match.span()


_MONTH = re.compile(r"0[1-9] ?/ ?(?:19|20)\d\d")
_YEARS = re.compile(r"(?:1[5-9]|20)(\d\d) ?/ ?(\d\d)")
_LONGEST_SPAN = 40  # years


def _is_year_span(text: str) -> bool:
    """Tell if two numbers are a year and a later one, without its century."""
    years = _YEARS.fullmatch(text)
    return years is not None and 0 < (int(years[2]) - int(years[1])) % 100 <= _LONGEST_SPAN


def _locate_social(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a social security number; None for one that is printed everywhere,
    where no word says that it is somebody's."""
    before = match.string[max(0, match.start() - _OWNED) : match.start()]
    printed = re.sub(r"\D", "", match[0]) in _PRINTED and not _NUMBER_WORD.search(before)
    return None if printed else match.span()


# A row of digits, or one over and over.
_PRINTED = frozenset(("123456789", "111111111", "000000000"))
_OWNED = 40  # characters before a number that its label is in
_NUMBER_WORD = re.compile(r"ssn|social|security|\b(?:number|id|no|nr)\b", re.IGNORECASE)


def _is_card(text: str) -> bool:
    """Check a card number: the first digits and the length of an issuer, and the check digit."""
    number = "".join(filter(str.isdigit, text))
    return _CARDS.fullmatch(number) is not None and passes_luhn(number)


def _locate_iban(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the longest account number that a match begins with."""
    for end in range(match.end(), match.start() + 14, -1):
        found = match.string[match.start() : end]
        if found[-1].isalnum() and not match.string[end : end + 1].isalnum() and is_iban(found):
            return match.start(), end
    return None


# Visa, Mastercard, American Express, Diners Club, JCB, and the others that begin with a 6.
_CARDS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3[0689]\d{12}|35\d{14}"
    r"|6\d{15,18}|5[06-9]\d{14}"
)
# A digit next to a letter, or with one sign in between.
_MIXED = r"\d(?:(?=[-/_]?[A-Za-z])|(?<=[A-Za-z].)|(?<=[A-Za-z][-/_].))"

_IBAN_COUNTRIES = (
    "a[delt]|b[aegry]|c[hyz]|d[ek]|e[es]|f[ior]|g[beilr]|h[ru]|i[elst]|l[ituv]|m[cdekt]|n[lo]|p[lt]"
    "|r[os]|s[aeikm]|t[rn]|ua|vg|xk"
)
_CODE = r"[A-TV-Z]\d[\dA-Z](?:\.[\dA-Z]{1,4})?"  # of ICD-10 and ICD-11's foundation
IDENTIFIERS = (
    shape(
        "CREDIT_CARD",
        r"(?:(?<!\w)|(?<=%B))(?<![\w.]-)(?:\d[ -]?){12,18}\d(?!\w|-\w)",
        _is_card,
        clue=all_clues(least_digits(13), any_figure(r"\d(?:[ -]?\d){12}")),
        reach=30,
    ),
    shape(
        "IBAN_CODE",
        # Also over the end of a line; what follows may look like another group.
        r"(?<!\w)[A-Z]{2}\d{2}(?:(?:[ -]|[ \t]{0,4}\r?\n[ \t>|]{0,8})?[A-Z0-9]{1,4}){3,12}(?!\w)",
        clue=all_clues(least_digits(4), any_figure(r"\d(?<=[A-Z][A-Z].)\d")),
        locate=_locate_iban,
        reach=4,
    ),
    shape(  # typed in small letters: it counts with the right check digits alone
        "IBAN_CODE",
        rf"(?<!\w)(?:{_IBAN_COUNTRIES})\d{{2}}"
        r"(?:[a-z0-9]{11,30}|(?:[ -][a-z0-9]{4}){2,7}(?:[ -][a-z0-9]{1,3})?)(?!\w)",
        clue=all_clues(least_digits(8), any_figure(r"\d(?<=[a-z][a-z].)\d[ -]?[a-z0-9]{4}")),
        locate=_locate_iban,
        reach=4,
    ),
    shape(
        "US_SSN",
        r"(?<![\w-])\d{3}[- ]\d{2}[- ]\d{4}(?![\w-])",
        clue=all_clues(least_digits(9), any_figure(r"\d{3}[- ]\d\d[- ]\d{4}")),
        locate=_locate_social,
        reach=4,
    ),
    shape(
        "VAT_NUMBER",
        rf"(?<!\w)(?:{_VAT})[ -]?(?:[A-Z0-9][ .-]?){{7,11}}[A-Z0-9](?!\w)",
        has_vat_check,
        clue=all_clues(
            least_digits(7), any_match(r"[A-Z](?<!\w.)[A-Z]{1,2}[ -]?(?:[A-Z\d][ .-]?){3}")
        ),
        reach=4,
    ),
    shape(
        "NATIONAL_ID",
        rf"(?<![\w.-])(?:{_ID})(?![\w-])",
        has_national_check,
        clue=all_clues(least_digits(7), any_figure(r"\d(?:(?:[ ./-]?\d){6}|[A-Z]\d{3}[A-Z])")),
        reach=24,
    ),
    shape(  # 9 or 10 digits in one pass a check by chance: one in eleven does
        "NATIONAL_ID",
        rf"(?<!\w){any_of(_NUMBERED)}\b[^\w\n]{{1,4}}(?:(?:is|no|nr|number)\b[^\w\n]{{1,4}})?"
        r"(?P<part>\d{9,10})(?!\w)",
        has_national_check,
        case=False,
        clue=all_clues(least_digits(9), any_listed(_NUMBERED)),
        reach=4,
    ),
    shape(
        "NATIONAL_ID",  # National Insurance number
        r"(?<!\w)(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]"
        r"(?: ?\d\d){3} ?[A-D](?!\w)",
        clue=all_clues(least_digits(6), any_figure(r"\d\d ?\d\d ?\d\d")),
        reach=8,
    ),
    shape(  # sp. zn. 12 C 345/2023
        "CASE_NUMBER",
        rf"(?<!\w){_CASE_WORDS}(?: ?(?:no|nr|number|núm|n[°º]|№)\b\.?)?[ :]{{1,3}}"
        r"(?P<part>(?-i:\d{1,3} ?[A-Z][A-Za-z]{0,3} |[IVX]{1,5} [A-Z][A-Za-z]{0,3} )?"
        r"\d{1,6}/\d{2,4})(?![\w/])",
        case=False,
        clue=any_figure(r"/(?<=\d/)\d"),
        reach=52,
    ),
    shape(
        "CASE_NUMBER",
        rf"(?<!\w)(?:{_CASES})(?![\w/])",
        _is_no_date,
        locate=_locate_case,
        clue=any_match(r"[/\[:](?:(?:(?<=\d/)|(?<=\d /)) ?\d|(?<=\[)\d{4}\]|(?<=:)\d\d-)"),
        reach=52,
    ),
    shape(  # order HK-77310, facture F-2024-0318; a number alone may be of anything
        "CASE_NUMBER",
        rf"(?<!\w){_FILED}(?: is| was| with| ist)?[ :#(]{{1,3}}"
        r"(?P<part>(?-i:[A-Z]{1,4}[ -]?\d|\d{1,5}-[A-Z])(?-i:[\dA-Z/-]{2,24}))(?<=\w)(?![\w/-])",
        _is_filed,
        case=False,
        clue=all_clues(least_digits(4), any_listed(_FILED_LIST)),
        reach=4,
    ),
    shape(
        "DIAGNOSIS_CODE",
        rf"(?<!\w)(?i:icd(?:[ -]?(?:9|10|11)(?:-?[cg]m)?)?|diagnos(?:e|es|is)(?: codes?)?|dx)"
        r"[ :]{1,3}(?:(?i:codes?)[ :]{1,2})?"
        rf"(?P<part>{_CODE}(?:(?:,| and| und| et| y|;|/) ?{_CODE}){{0,9}})(?!\w)",
        clue=any_figure(r"[A-TV-Z]\d[\dA-Z]"),
    ),
)
OTHERS = (  # that no other type claims
    shape(
        "ID",
        r"(?<![\w-])[A-Za-z0-9]++(?:[-/_][A-Za-z0-9]++)*(?!\w)",
        _is_identifier,
        clue=all_clues(least_digits(3), any_match(_MIXED)),
    ),
    shape(
        "NUMBER",
        r"(?<!\w)\d(?:\d|[,. -](?=\d))*",
        lambda found: len(digits(found)) > 2,
        clue=least_digits(3),
    ),
)
