"""Persons by the names of keys: in settings, JSON, records in code and the queries of addresses.

Labels of forms and headers of tables are read by `forms` and `tables`.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labels import is_label_alone
from perturb.selective.patterns.persons.written import (
    CAPITALS,
    LABEL_WORDS,
    LETTER,
    LINK,
    NO_NAMES,
    OF_PLACES,
    WRITTEN_PART,
    WRITTEN_WORD,
    is_dealt_with,
)
from perturb.selective.patterns.settings import KeyValue, assigned, is_placeholder, read_setting
from perturb.selective.patterns.shape import (
    all_clues,
    any_listed,
    any_match,
    any_of,
    any_string,
    shape,
    words_of,
)
from perturb.selective.patterns.words import PARTICLES

__all__ = ["KEYS"]

_PERSON_KEYS = """
    first_name firstname given_name givenname forename middle_name middlename last_name lastname
    surname family_name familyname full_name fullname real_name realname display_name displayname
    legal_name maiden_name nickname vorname nachname familienname zuname prénom prenom
    nom_de_famille nombre_completo apellido apellidos nome cognome sobrenome imię imie nazwisko
    lname
    jméno příjmení voornaam achternaam förnamn efternamn patient patient_name customer_name
    client_name contact_name contact_person employee employee_name manager_name holder cardholder
    card_holder cardholder_name account_holder account_name_holder kontoinhaber kontoinhaberin
    ansprechpartner ansprechpartnerin sachbearbeiter mitarbeiter geschäftsführer inhaber recipient
    recipient_name beneficiary payee payer passenger guest_name tenant_name landlord skipper
    applicant guardian next_of_kin emergency_contact spouse buyer_name seller_name shipping_name
    billing_name signed_by written_by prepared_by approved_by solicitante interesado titular
    автор
"""
_ANY_KEYS = """
    name names nom nombre naam namn jmeno customer client kunde kundin cliente author authors autor
    autorin auteur owner maintainer maintainers assignee assigned_to reporter reviewer created_by
    updated_by requested_by contact user sender from to cc attn re betreff mandant mandantin
    primary
    backup oncall on_call leader lead teacher doctor host member artist_name real family given
    latin name_latin namelatin name_native gecos anwesend entschuldigt attendees participants
    representative referee contestant player driver fahrer buyer seller signer witness
"""
# Of these, what people alone are called in programs: a given name is enough.
_ROLE_KEYS = """
    customer client kunde kundin assignee assigned_to reporter reviewer created_by updated_by
    requested_by oncall on_call teacher doctor fahrer buyer seller witness
"""
_MADE_BY_KEYS = words_of("author maintainer reviewer reporter assignee autor auteur")
_PAIR = 2  # words
_PREFIXES = words_of(
    """
    customer client contact patient employee person owner author user buyer seller guest member
    smtp_from from sender recipient artist student teacher doctor manager holder card billing
    shipping data applicant tutor parent guardian admin administrator maintainer approver reviewer
    """
)
_NAMED = re.compile(
    rf"(?:{LETTER}|[\u0300-\u036f]){{1,30}}\.?"
    rf"(?:(?:, ?|[ '’\u00b7.-]){{1,2}}(?:{LETTER}|[\u0300-\u036f]){{1,30}}\.?){{0,5}}"
)
# A value of a query of the web: `?name=Ostrander, Torvald`, `&q="Torvald Ostrander"`.
_QUERIED = words_of("name full_name fullname display_name q query search s term keyword who")
_QUERY_OWNERS = words_of(
    "customer client patient contact employee member student guest owner user author recipient"
)


def _join(key: str) -> str:
    return re.sub(r"[ _-]", "", key.lower())


_SURE_KEYS = frozenset(map(_join, words_of(_PERSON_KEYS)))
_SURE = any_of(_PERSON_KEYS).replace(" ", "[ _-]?")
_UNSURE = any_of(_ANY_KEYS).replace(" ", "[ _-]?")
_ROLE_STEMS = sorted({max(key.split("_"), key=len) for key in _ROLE_KEYS.split()})
_ROLE = any_of(_ROLE_KEYS).replace(" ", "[ _-]?")
# The longest word of each sure key, apart from `name`, of which code is full.
_STEMS = {
    max((word for word in key.split("_") if word != "name"), key=len)
    for key in _PERSON_KEYS.split()
}
# Keys that are a name's beside each other: <given>Mira</given><family>Holzapfel</family>
_PAIRED = r"(?<![^\W_])(?P<key>{})[\"'`]?\W{{1,4}}(?:value=)?[\"'`]?(?P<value>[^\W\d_]{{2,30}})"
_FIRST = re.compile(_PAIRED.format("given|first|fname"), re.IGNORECASE)
_LAST = re.compile(_PAIRED.format("family|last|lname"), re.IGNORECASE)
_BESIDE = 80  # characters between two keys of one name


def _locate_named(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a person's name in a setting by the name of its key."""
    found = read_setting(match)
    if found is None or found.between in ("(", ",", "|", "value"):
        return None
    if found.between == "" or found.between.isalpha():
        return None
    key = _join(found.key)
    sure = key in _SURE_KEYS
    if found.name != found.key and not sure and not _is_prefixed(found):
        return None
    start, value = found.start, _read_value(found)
    stripped = value.strip()
    start += len(value) - len(value.lstrip())
    value = stripped
    if not 2 <= len(value) <= 60 or is_placeholder(value) or not _NAMED.fullmatch(value):
        return None
    words = [word.strip(".,'’").lower() for word in re.split(r"[ ,-]+", value)]
    if any(word in LABEL_WORDS or word in NO_NAMES or is_label_alone(word) for word in words):
        return None
    if sure:
        named = _is_sure_name(value, words, found) and not _is_titled_thing(found, words)
        return (start, start + len(value)) if named else None
    many = len(words) > 1 and all(word[0].isupper() for word in re.split(r"[ ,]+", value) if word)
    unknown = not any(len(word) > 1 and is_ordinary_word(word) for word in words)
    if not value.isascii() and not many and not found.quote:
        return None
    if many and not unknown and len(words) == _PAIR and key in _MADE_BY_KEYS:
        unknown = is_dealt_with(value)  # author: Torvald Fields
    good = many and unknown and not OF_PLACES.intersection(words)
    return (start, start + len(value)) if good else None


def _is_titled_thing(found: KeyValue, words: list[str]) -> bool:
    """Tell if what is displayed belongs to a package, a theme or a grammar, whose identifier is
    the same words beside it: `"displayName": "Light Plus", "name": "light-plus"`."""
    if _join(found.key) not in ("display_name", "displayname"):
        return False
    text, start = found.match.string, found.match.start("key")
    end = found.start + len(found.value)
    slug = "[-_. ]?".join(map(re.escape, words))
    one = rf"[\"'](?:name|id|slug|key)[\"'] ?: ?[\"']{slug}[\"']"
    before, after = text[max(0, start - 120) : start], text[end : end + 120]
    return (
        re.search(rf"{one}|[\"']{slug}[\"'] ?: ?\{{\s*[\"']?\Z", before + after, re.IGNORECASE)
        is not None
    )


def _is_sure_name(value: str, words: list[str], found: KeyValue) -> bool:
    """Tell if what a key such as `last_name` has is a name, and no variable, type or label."""
    if all(map(is_ordinary_word, words)):
        named = len(words) > 1 or is_given(value)
        if not (named and value[0].isupper()):
            return False
    parts = re.split(r"[ ,-]+", value)
    if value[0].isupper() and any(w[:1].islower() and w not in PARTICLES for w in parts):
        return False  # a phrase
    if found.quote or _is_sent(found):
        return True
    small = value[0].islower() and (value.isascii() or not any(map(is_given, parts)))
    if found.after[:1] in (";", "(", ".", "[") or small:
        return False
    sure = found.is_line or found.is_element or "=" in found.between
    return " " in value or not value.isascii() or sure


def _is_sent(found: KeyValue) -> bool:
    """Tell if a key and its value are a field of a form that is sent: in the query of an address,
    or a string by themselves."""
    end = found.start + len(_read_value(found))
    before, after = found.before[-1:], found.match.string[end : end + 1]
    return before in ("?", "&") or after == "&" or (before in ("'", '"') and before == after)


def _is_prefixed(found: KeyValue) -> bool:
    prefix = found.name[: len(found.name) - len(found.key)].lower().strip("_-.")
    return prefix in _PREFIXES


def _read_value(found: KeyValue) -> str:
    """Return the value of a setting; without quotation marks, to the end of the line or field."""
    if found.quote or found.between == ">":
        return found.value
    text = found.match.string
    rest = re.match(r"[^\n,;|<>(){}\[\]\"#]{0,60}", text[found.start : found.start + 60])
    value = rest[0] if rest else ""
    if found.before[-1:] in ("?", "&", "'", '"') or "&" in value:  # of a form that is sent
        value = re.split("[&'\"]", value)[0]
    return re.split(r" {2,}|\t| - | – |<", value)[0].rstrip(" .")


def _locate_role(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a given name in quotation marks: `"reporter": "Ngaire"`."""
    found = read_setting(match)
    if found is None or found.between not in (":", "=", "=>") or found.name != found.key:
        return None
    named = found.quote and found.value.istitle() and is_given(found.value)
    if not named or is_ordinary_word(found.value):
        return None
    return found.start, found.start + len(found.value)


def _locate_paired(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the first or the last part of a name in a setting beside that of the
    other part; `first` and `last` alone are of a person where a given name is the first."""
    found = read_setting(match)
    if found is None or found.between not in (":", "=", "=>", ">", "value="):
        return None
    value = _read_value(found)
    if not _NAMED.fullmatch(value) or not value[0].isupper() or is_placeholder(value):
        return None
    near = match.string[max(0, match.start() - _BESIDE) : found.start + len(value) + _BESIDE]
    firsts, lasts = ([*part.finditer(near)] for part in (_FIRST, _LAST))
    if not any(value.startswith(part["value"]) for part in (*firsts, *lasts)) or not lasts:
        return None
    sure = any(
        is_given(part["value"])
        or (part["key"].lower() in ("given", "fname") and not is_ordinary_word(part["value"]))
        for part in firsts
    )
    if not sure or {value.lower()} & (LABEL_WORDS | NO_NAMES):
        return None
    return found.start, found.start + len(value)


def _locate_queried(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name in a query: one word of it is a given name, or its key says whose
    it is and no word of it is an ordinary one."""
    key = match["key"].lower().replace("-", " ").replace("_", " ")
    words = re.findall(WRITTEN_WORD, match["part"])
    owner = not _QUERY_OWNERS.isdisjoint(key.split())
    if not owner and key not in _QUERIED:
        return None
    if any(map(is_ordinary_word, words)):  # `?q=Rose Garden`
        return match.span("part") if owner and any(map(is_given, words)) else None
    return match.span("part") if owner or any(map(is_given, words)) else None


KEYS = (
    shape(
        "PERSON",
        r"(?:[?&]|(?<![^\s\"'(])(?=[A-Za-z_-]{1,30}=[^&]{1,200}&[A-Za-z_-]{1,30}=))"
        r"(?P<key>[A-Za-z_-]{1,30})=[\"'+]?"
        rf"(?P<part>{WRITTEN_PART}(?:(?:,[ +]?|[ +]){WRITTEN_PART}){{1,3}})"
        r"(?=[\"'&\s<>)]|\Z)",
        clue=any_match(r"[?&][A-Za-z_-]{1,30}="),
        locate=_locate_queried,
        reach=240,
    ),
    shape(
        "PERSON",
        rf"(?<![^\W_]){assigned(_SURE)}",
        case=False,
        clue=any_string(*sorted(_STEMS)),
        locate=_locate_named,
        reach=30,
    ),
    shape(
        "PERSON",
        rf"(?<![^\W_]){assigned(_UNSURE)}",
        case=False,
        # Two words, each with a capital; or letters of other scripts in quotation marks.
        clue=any_match(
            rf"[{CAPITALS}][^\W\d_]{{0,30}}[.'’-]?(?:, ?|[ .'’\u00b7-]){{1,2}}"
            rf"(?:{LINK} ?)?[{CAPITALS}]"
        ),
        locate=_locate_named,
        reach=340,
    ),
    shape(
        "PERSON",
        rf"(?<![^\W_]){assigned(_ROLE)}",
        case=False,
        clue=any_string(*_ROLE_STEMS),
        locate=_locate_role,
        reach=30,
    ),
    shape(
        "PERSON",
        rf"(?<![^\W_]){assigned(r'(?:given|family|first|last|fname|lname)')}",
        case=False,
        # The first tells the places: a match begins at either, and both are there.
        clue=all_clues(
            any_listed("family last lname given first fname"),
            any_listed("family last lname"),
            any_listed("given first fname"),
        ),
        locate=_locate_paired,
        reach=100,
    ),
    shape(  # author: luis-fernando-holzapfel
        "PERSON",
        rf"(?m:^)[ \t]{{0,4}}(?:author|autor|autora|auteur|maintainer|contributor): {{1,4}}[\"']?"
        rf"(?P<part>{LETTER}{{2,20}}(?:-{LETTER}{{2,20}}){{1,4}})[\"']?[ \t]{{0,4}}(?=\r?\n|\Z)",
        lambda name: is_given(name.split("-")[0]) and not is_ordinary_word(name.split("-")[-1]),
        clue=any_string("author", "autor", "auteur", "maintainer", "contributor"),
        reach=8,
    ),
)
