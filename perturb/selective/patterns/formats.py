"""Find the parts of files whose lines have a form of their own: what a system lists, the log of a
web server, lists of names, transcripts, family trees, games of chess, tickets of airlines, and
the messages of banks.

The form is the evidence. No name needs to be known, but for the given ones of lists.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.accounts import is_personal_account
from perturb.selective.patterns.checks import is_iban
from perturb.selective.patterns.dates import MONTHS, is_long_ago
from perturb.selective.patterns.given import is_given, is_ordinary_word, names_thing
from perturb.selective.patterns.labels import LABELS, NAMES, spell
from perturb.selective.patterns.letters import is_greeting
from perturb.selective.patterns.persons import (
    CAPITALS,
    WRITTEN_FULL,
    WRITTEN_NAME,
    is_full_name,
    is_strange,
)
from perturb.selective.patterns.shape import (
    any_figure,
    any_match,
    any_string,
    shape,
    words_of,
)

__all__ = ["FORMATS"]

# -- what a system lists --------------------------------------------------------------------------
_USER = r"(?P<part>[a-z_][\w.-]{1,31}\+?)"  # `ps` cuts a long one
_MODE = r"(?m:^)[-dlbcps](?:[-r][-w][-xsStT]){3}[.+@]?[ \t]{1,6}\d{1,6}[ \t]{1,6}"
_ACCESS = r"(?m:^)[\w.:-]{2,60} \S{1,40} "  # the host and the identity
_STAMP = r"(?= \[\d\d/[A-Z][a-z]{2}/\d{4}:)"


def _is_user(name: str) -> bool:
    """Tell if the name of an account may be a person's: no program's, and no word."""
    name = name.rstrip("+")
    return is_personal_account(name) and len(name) > 3 and not is_ordinary_word(name)


_LISTED = (
    (rf"{_MODE}{_USER}(?=[ \t])", any_match(r"[-r][-w][-xsStT][.+@]?[ \t]"), 16),
    (  # the group, where it is the user's own
        rf"{_MODE}(?P<user>[\w.-]{{2,32}}\+?)[ \t]{{1,16}}(?P<part>(?P=user))(?=[ \t])",
        any_match(r"[-r][-w][-xsStT][.+@]?[ \t]"),
        16,
    ),
    (  # ps aux: mira  2231  1.2  3.4
        rf"(?m:^){_USER}[ \t]{{1,16}}\d{{1,8}}(?:[ \t]{{1,6}}\d{{1,3}}\.\d){{2}}(?=[ \t])",
        any_figure(r"\d[ \t]{1,6}\d{1,3}\.\d"),
        60,
    ),
    (  # ps -ef: mira  2231  2210  0 09:12 pts/0
        rf"(?m:^){_USER}(?:[ \t]{{1,16}}\d{{1,8}}){{3}}[ \t]{{1,6}}\S{{3,8}}[ \t]{{1,6}}"
        r"(?:\?|pts/|tty)",
        any_match(r"\d[ \t]{1,6}\S{3,8}[ \t]{1,6}(?:\?|pts/|tty)"),
        100,
    ),
    (  # who, w, last
        rf"(?m:^){_USER}[ \t]{{1,24}}(?:pts/\d{{1,4}}|tty\w{{1,6}}|console)(?=[ \t])",
        any_string("pts/", "tty", "console"),
        60,
    ),
)
_ADDRESS = r"(?P<part>(?:\d{1,3}\.){3}\d{1,3})"

# -- lists of names: Ostrander, Jana --------------------------------------------------------------
_WORD = rf"[{CAPITALS}][^\W\d_{CAPITALS}]{{2,20}}"
_REVERSED = (
    rf"(?P<family>(?:{_WORD}[ -]){{0,2}}{_WORD}|[{CAPITALS}]{{3,20}}), "
    rf"(?P<given>{_WORD}(?:-{_WORD})?)"
    r"(?=[ \t]{0,4}(?:[\"'|;:<(\[\]\t)]|\\n|\r?\n|\. |\Z))"
)
_ROW = rf"(?:(?m:^)|(?<=\\n))(?:[-*•|] |\"|\d{{1,4}}[.)] )?{_REVERSED}"
_FIELD = rf"(?<!\w)(?P<label>[^\W\d_]{{2,20}}): {{1,4}}{_REVERSED}"
_MAILED = words_of("an von to from cc bcc kopie de para à da a od komu till från til fra aan van")
_ROWS = re.compile(_ROW)
_NEAR = 400  # characters between two names of a list


def _is_reversed(match: re.Match[str]) -> bool:
    """Tell if a surname stands before a given name: no greeting, and no word of a letter."""
    given, family = match["given"].partition("-")[0], match["family"]
    known = is_given(given) and not is_ordinary_word(given) and not names_thing(given)
    greets = is_greeting(match.string, *match.span("family"))
    return known and not greets and is_strange(family.replace("-", " "))


def _locate_reversed(match: re.Match[str]) -> tuple[int, int] | None:
    return (match.start("family"), match.end("given")) if _is_reversed(match) else None


def _locate_field(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name whose label asks for one: `Cc: Ostrander, Jana`."""
    label = spell(match["label"])
    asked = label in _MAILED or label in NAMES or LABELS.get(label) == "PERSON"
    return _locate_reversed(match) if asked else None


def _locate_row(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name in a line of a list: `Danke, Jana` closes a letter."""
    text, (start, end) = match.string, match.span()
    around = (
        *_ROWS.finditer(text, max(0, start - _NEAR), start),
        *_ROWS.finditer(text, end, end + _NEAR),
    )
    shouted = match["family"].isupper()  # THISTLEWOOD, Ottokar. Peacefully at home
    return _locate_reversed(match) if shouted or any(map(_is_reversed, around)) else None


_SHORTLOG = (
    rf"(?m:^)[ \t]{{0,6}}\d{{1,6}}(?:\t| {{2}})(?P<part>{WRITTEN_FULL})(?=[ \t]*(?:\r?\n|\Z))"
)
_AUTHORS = re.compile(_SHORTLOG)


def _locate_author(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an author beside another one, of whom one has a known given name."""
    text, (start, end) = match.string, match.span()
    around = [match["part"]]
    for low, high in ((max(0, start - _NEAR), start), (end, end + _NEAR)):
        around += [author["part"] for author in _AUTHORS.finditer(text, low, high)]
    named = sum(map(is_full_name, around)) > 1
    known = any(is_given(name.split(" ")[0]) for name in around)
    return match.span("part") if named and known and is_full_name(match["part"]) else None


_BLAMED = (  # git blame: 3f1c2a9b (Mira Ostrander 2025-11-02 10:14:33 +0100  1)
    r"(?:(?m:^)|(?<=\\n)|(?<=\"))\^?(?=\d{0,7}[a-f])[0-9a-f]{7,40} {1,2}(?:[^\s()]{1,120} {1,60})?"
    r"\((?P<part>[^\W\d_][^()\n]{1,60}?) {1,60}\d{4}-\d\d-\d\d(?=[ ]\d\d:\d\d| {1,8}\d{1,6}\))"
)


def _is_author(name: str) -> bool:
    """Tell if the author of a line may be a person: no program, and no change of one's own."""
    words = name.split()
    return not all(map(is_ordinary_word, words)) and is_personal_account("".join(words).lower())


# -- family trees (GEDCOM 5.5.1), chess (PGN) -----------------------------------------------------
_LEVEL = r"(?m:^)[ \t]{0,8}\d{1,2} "
_NAMED = r"[^\W\d_][^/\n\r@]{0,60}"

# -- messages of banks (MT101, MT103, MT940) ------------------------------------------------------
_PARTY = r"(?m:^):5[09][AFK]?:(?:/(?P<account>[A-Z\d]{4,34})[ \t]{0,4}\r?\n)?"
_STATED = re.compile(r":86:")
_STATEMENT = 800  # characters of the information about one booking


def _is_speaker(name: str) -> bool:
    """Tell if words are no heading: `Hot Chocolate`, above how long it takes."""
    return any(is_given(word) or not is_ordinary_word(word) for word in re.split("[ -]", name))


def _is_passenger(name: str) -> bool:
    """Tell if words in capitals have a given name among them, or no ordinary one: `INPUT/OUTPUT`
    is nobody."""
    words = re.split("[/ ]", name)
    return any(map(is_given, words)) or not any(map(is_ordinary_word, words))


def _locate_stated(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a subfield of a booking."""
    start = match.start()
    stated = _STATED.search(match.string, max(0, start - _STATEMENT), start)
    return match.span("part") if stated else None


def _is_stated_iban(text: str) -> bool:
    return is_iban(text) if text[:2].isalpha() else len(text) > 5


FORMATS = (
    *(
        shape("USERNAME", pattern, _is_user, clue=clue, reach=reach)
        for pattern, clue, reach in _LISTED
    ),
    shape(  # where somebody logged in from
        "IP_ADDRESS",
        rf"(?m:^)[a-z_][\w.-]{{1,31}}[ \t]{{1,24}}(?:pts/\d{{1,4}}|tty\w{{1,6}})[ \t][^\n]{{1,60}}"
        rf"\({_ADDRESS}\)",
        clue=any_string("pts/", "tty"),
        reach=60,
    ),
    shape(
        "USERNAME",
        rf"{_ACCESS}(?P<part>[\w.@-]{{2,60}}){_STAMP}",
        is_personal_account,
        clue=any_figure(r"\[\d\d/"),
        reach=170,
    ),
    shape(  # .htpasswd
        "USERNAME",
        r"(?m:^)(?P<part>[\w.@-]{2,60}):(?=\$(?:apr1|2[abxy]?|[156y])\$|\{SHA\})",
        is_personal_account,
        clue=any_string(":$", ":{sha}"),
        reach=62,
    ),
    shape("PERSON", _FIELD, clue=any_string(", "), locate=_locate_field, reach=92),
    shape("PERSON", _ROW, clue=any_string(", "), locate=_locate_row, reach=76),
    shape(  # git shortlog -sn
        "PERSON",
        _SHORTLOG,
        clue=any_figure(r"\d(?:\t| {2})"),
        locate=_locate_author,
        reach=10,
    ),
    shape("PERSON", _BLAMED, _is_author, clue=any_match(r"\d{4}-\d\d-\d\d"), reach=230),
    shape(  # WebVTT, with the classes of a speaker: <v.loud Mira>
        "PERSON",
        r"<v(?:\.\w{1,20}){0,3} (?P<part>[^\W\d_][^<>\n]{1,60})>",
        clue=any_string("<v"),
        reach=2,
    ),
    shape(  # Teams: a speaker, and below it when they spoke
        "PERSON",
        rf"(?m:^)(?P<part>{WRITTEN_NAME})[ \t]*\r?\n"
        r"(?=(?:\d{1,3} (?:hours?|minutes?) ){0,2}\d{1,2} seconds?[ \t]*\r?\n)",
        _is_speaker,
        clue=any_string(" second"),
    ),
    shape(  # of a passenger: HOLZAPFEL/MIRA MS
        "PERSON",
        r"(?<![\w/])(?P<part>[A-Z]{2,30}(?: [A-Z]{2,20})?/[A-Z]{2,30}(?: [A-Z]{2,20})?)"
        r" (?:MRS?|MS|MSTR|MISS|DR|CHD|INF)(?!\w)",
        _is_passenger,
        clue=any_match(r"[A-Z]/[A-Z]"),
        reach=60,
    ),
    shape(
        "PERSON",
        r"(?<!\w)(?i:passenger|pax|fluggast|passagier|passager|pasajero)(?i: name)?: {0,3}"
        r"(?P<part>[A-Z]{2,30}(?: [A-Z]{2,20})?/[A-Z]{2,30}(?: [A-Z]{2,20})?)(?![\w/])",
        lambda name: len(name) > 8 and _is_passenger(name),
        clue=any_string("pass", "pax", "fluggast", "pasajero"),
        reach=2,
    ),
    shape(
        "PERSON",
        rf"{_LEVEL}NAME[ ](?P<part>{_NAMED}?)(?=[ ]?/)",
        clue=any_string(" name "),
        reach=12,
    ),
    shape(
        "PERSON",
        rf"{_LEVEL}NAME[ ][^/\n]{{0,60}}/(?P<part>{_NAMED})/",
        clue=any_string(" name "),
        reach=12,
    ),
    shape(
        "PERSON",
        rf"{_LEVEL}(?:GIVN|SURN|NICK|_MARNM|_AKA)[ ]"
        rf"(?P<part>{_NAMED})(?=[ \t]{{0,4}}(?:\r?\n|\Z))",
        clue=any_string(" givn ", " surn ", " nick ", " _marnm ", " _aka "),
        reach=12,
    ),
    shape(
        "DATE_OF_BIRTH",
        rf"{_LEVEL}(?:BIRT|CHR|BAPM)(?:[ ]Y)?[ \t]{{0,4}}\r?\n[ \t]{{0,8}}\d{{1,2}} DATE "
        rf"(?P<part>\d{{1,2}} {MONTHS} \d{{4}})",
        lambda date: not is_long_ago(date),
        case=False,
        clue=any_string("birt", "chr", "bapm"),
        reach=12,
    ),
    shape(
        "PERSON",
        r"(?m:^)\[(?:White|Black|Annotator) \"(?P<part>[^\W\d_][^\"\n\d]{1,60})\"\]",
        clue=any_string("[white ", "[black ", "[annotator "),
        reach=2,
    ),
    shape(
        "PERSON",
        r"\?3[23](?P<part>[^\W\d_][^?\n]{1,26})",
        clue=any_string("?32", "?33"),
        locate=_locate_stated,
        reach=2,
    ),
    shape(
        "IBAN_CODE",
        r"\?31(?P<part>[A-Z\d]{6,34})(?![A-Z\d])",
        _is_stated_iban,
        clue=any_string("?31"),
        locate=_locate_stated,
        reach=2,
    ),
    shape(
        "ACCOUNT_NUMBER",
        _PARTY.replace("account", "part") + r"(?=[^\W\d_])",
        lambda text: any(map(str.isdigit, text)),
        clue=any_string(":50", ":59"),
        reach=2,
    ),
    shape(
        "PERSON",
        rf"{_PARTY}(?P<part>[^\W\d_][^\n\r:/]{{2,34}})(?=\r?\n|\Z)",
        clue=any_string(":50", ":59"),
        reach=2,
    ),
    shape(
        "STREET_ADDRESS",
        rf"{_PARTY}[^\W\d_][^\n\r:/]{{2,34}}\r?\n(?P<part>[^\n\r:/]{{3,35}}\d[^\n\r:/]{{0,8}})(?=\r?\n|\Z)",
        clue=any_string(":50", ":59"),
        reach=2,
    ),
)
