"""What a column holds by its header or its label, the cells of a row, and what fits a column.

A header is evidence for all cells below it, a label for those beside it. `name` alone may name
products: it counts where another column is about persons, too, or where the cell looks like a
person's name (`PERSON?`), in a list of two columns with a given name (`PERSON??`). So does a role
(`Assigned to`), and, in tables of things, who has one (`owner`: `HOLDER?`).

Where tables and forms are in a text is the subject of the modules beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perturb.selective.patterns.dates import is_long_ago
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labels import (
    BY_ROLE,
    HOLDERS,
    LABEL_TYPES,
    LABELS,
    NAMES,
    PERSONAL,
    spell,
    spell_key,
)
from perturb.selective.patterns.settings import is_placeholder
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.words import NAME_PARTICLES
from perturb.text.marks import MARKS

__all__ = [
    "BEFORE",
    "CELL_TYPES",
    "CODE",
    "FORMED",
    "LABEL_LENGTH",
    "LINE",
    "LONGEST",
    "LONGEST_ROW",
    "MAIL",
    "MOST",
    "NAME_WORDS",
    "RULE",
    "SURE_DIGITS",
    "THINGS",
    "find_types",
    "fits_type",
    "is_label",
    "is_unit",
    "names_nobody",
    "read_columns",
    "read_header",
    "read_row",
    "skip_number",
    "spell_header",
    "split_cells",
    "strip_cell",
]

CELL_TYPES = (*LABEL_TYPES, "RESIDENCE")
# Also with JSON's escapes. Before a line, a tool may write its number, or begin a string.
LINE = re.compile(r"(?:\\[nr])*((?:[^\r\n\\]++|\\(?![nr]))+)")
BEFORE = re.compile(r" {0,10}\d{1,6}(?:\t|→|: | ?\| )|[{\[][^\r\n]{0,80}?\": ?\"(?=\w+[,;|])")
_CELLS = {
    sign: re.compile(
        rf'\s*+(?:(?:\\{{1,3}}"(?P<escaped>[^"\r\n\\]*+)\\{{1,3}}"|"(?P<quoted>[^"\r\n]*+)")'
        rf"|(?P<plain>[^{sign}\r\n]*+))(?P<end>{sign}|$)"
    )
    for sign in (",", ";", "\t", r"\|")
}
RULE = re.compile(r"[\s|:+-]*+")  # below the header of a table in Markdown
# Ada Winter; Winter, Ada.
_PARTICLES = "|".join(sorted(NAME_PARTICLES | {"ap"}))
_PERSON = re.compile(
    r"[^\W\d_a-z][^\W\d_A-Z][\w.'’-]*+"
    rf"(?:,? (?:(?:{_PARTICLES}) ){{0,2}}[^\W\d_a-z][\w.'’-]*+){{1,3}}$"
)
# Words that say which telephone, address or password it is.
_QUALIFIERS = words_of(
    """
    home work office private business mobile emergency primary secondary billing shipping delivery
    mailing postal permanent current initial temporary temp default new old admin user db smtp wifi
    """
)
# Columns of tables about things.
THINGS = words_of(
    """
    product price sku item version package module file path size status description unit
    quantity qty stock type category key value license url produkt preis artikel menge produit
    prix producto precio population capital country function method parameter default
    meaning origin bedeutung herkunft signification origine significado origen character
    year jahr released release paradigm breed rasse
    flour butter wind moons hex color colour model language diameter mass
    """
)
_NAME_PART = re.compile(
    r"(?:van|von|de|der|den|di|da|[^\W\d_a-z][^\W\d_A-Z]?['’]?[^\W\d_]{1,24}"
    r"(?:-[^\W\d_]{2,24})?|[A-Z]\.),?"
)
# Types whose cells are told from other ones by their form.
FORMED = frozenset(("ACCOUNT_NUMBER", "DATE_OF_BIRTH", "NATIONAL_ID", "PHONE_NUMBER"))
_NUMBER = re.compile(r"[A-Za-z]{0,4}[ -]?\d[\d ./-]{3,24}")
_PERSONS = words_of("customer client patient employee member student")  # customer_id
_HEADER = re.compile(rf"[\w{MARKS} .#*`/’'-]*+")  # nothing of code
_OR = re.compile(r"\((\w{1,2})\)")  # né(e) le
# But a telephone number may begin with one in brackets: (11) 95550-1234.
CODE = re.compile(r"[{}\[\]=<>;]|\((?!\+?\d{1,5}\))|(?<!\d)\)|\.\s*$")
_EMPTY = words_of(
    """
    - – — \\n n/a na none null nil unknown x yes no true false ?
    """
)
# What a cell holds that sums up those above it, or says that nobody is there. Words that are also
# names (Max, Min, Suma, Guest) are not among them.
_NOBODY = frozenset(
    word.strip()
    for line in """
    total, totals, subtotal, sub-total, grand total, average, mean, median, count
    summe, zwischensumme, gesamtsumme, gesamt, insgesamt, anzahl, durchschnitt, mittelwert
    total général, sous-total, totaux, somme, moyenne, médiane, totales, promedio, media
    totale, somma, média, soma, razem, ogółem, średnia, celkem, průměr, totaal, gemiddelde
    totalt, summa, gjennomsnitt, yhteensä, toplam, ortalama, összesen
    итого, всего, среднее, всього, разом, 合計, 合计, 总计, 小計, 小计, 平均, 총계, 합계
    n/a, tba, tbc, tbd, n.n., k.a., k. a., unknown, unbekannt, inconnu, inconnue, keine angabe
    vacant, open position, unassigned, not assigned, unbesetzt, offen, vakanz, vacante
    nobody, no one, niemand, everyone, everybody, anonymous, anonym, system, team
    other, others, sonstige, andere, autres, otros
    """.splitlines()
    for word in line.split(",")
)
_ASIDE = re.compile(r" ?\([^()]{1,20}\)")
MOST = 64  # columns
LONGEST = 200  # characters of a header's cell
LONGEST_ROW = 4000
LABEL_LENGTH = 40
SURE_DIGITS = 4  # of a value that has a form
NAME_WORDS = 5  # that a name has at most
_UNITS = words_of(
    """
    abteilung afdeling agency amt bank bot buchhaltung büro center centre club committee
    company council departamento department dept desk département dział einkauf equipo firma
    gmbh group gruppe hospital kingdom königreich marketing office personalabteilung praxis
    referat republic republik sales school schule server service support system team ufficio
    university verein vertrieb verwaltung zentrum équipe
    """
)
_OF_MACHINE = re.compile(r"(?:0[xX])?[\da-fA-F:./]+")  # an address in memory or in a network
_BOUND = tuple(":?%$@{#<&")
_YEARS = re.compile(r"\D{0,12}(?:19|20)\d\d(?:\D{1,3}(?:19|20)?\d\d)?\D{0,12}")
MAIL = re.compile(r"[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")


def names_nobody(cell: str) -> bool:
    """Tell if a cell sums up those above it, or says that nobody is there.

    >>> [names_nobody(cell) for cell in ("**Total**", "Average (h)", "unassigned", "Max")]
    [True, True, True, False]
    """
    return _ASIDE.sub("", cell).strip(" *_:\"'").casefold() in _NOBODY


def is_label(cell: str) -> bool:
    """Tell if a cell is the name of a column or a label, and no value."""
    if len(cell) > LABEL_LENGTH:
        return False
    word = spell_header(cell)
    return word in LABELS or word in NAMES or word in PERSONAL or word in BY_ROLE


def spell_header(cell: str) -> str:
    """Return the label in a header, also of one in camelCase."""
    word = spell(cell)
    return spell_key(cell) if word not in LABELS and " " not in cell else word


def _read_qualified(word: str) -> str:
    """Return the type of a header that says which one it is: `initial_password`, `home_phone`."""
    first, _, last = word.rpartition("_")
    return LABELS.get(last, "") if first in _QUALIFIERS else ""


def find_types(words: Sequence[str]) -> list[str]:
    """Return the type of each column or "", by the words of its header."""
    types = [LABELS.get(word) or _read_qualified(word) for word in words]
    if "first" in words and "last" in words:
        own = ("first", "last")
        types = [
            "PERSON" if word in own else type_ for type_, word in zip(types, words, strict=True)
        ]
    others = {"", "ACCOUNT_NUMBER", "CASE_NUMBER", "LOCATION"}  # also of museums
    things = not THINGS.isdisjoint(words)
    held = [
        word in HOLDERS and type_ == "PERSON" for word, type_ in zip(words, types, strict=True)
    ]
    known = {type_ for type_, holder in zip(types, held, strict=True) if not (things and holder)}
    about = not (others.issuperset(known) and PERSONAL.isdisjoint(words))
    about = about or any(word.partition("_")[0] in _PERSONS and word in LABELS for word in words)
    if things and not about:  # who has a thing may be a team
        types = ["HOLDER?" if holder else type_ for type_, holder in zip(types, held, strict=True)]
    for place, word in enumerate(words):
        if word in NAMES and (about or not things):
            types[place] = "PERSON" if about else "PERSON?"
        elif word in BY_ROLE and not types[place] and not things:
            types[place] = "PERSON?"
    if not {"PERSON", "DATE_OF_BIRTH"}.isdisjoint(types):  # in a row about a person
        types = ["RESIDENCE" if type_ == "LOCATION" else type_ for type_ in types]
    return types


def read_header(line: str) -> tuple[str, list[str]] | None:
    """Return the sign between the cells of a header, and the type of each column or ""; None if
    a line is no header."""
    for sign, one in ((r"\|", "|"), ("\t", "\t"), (";", ";"), (",", ",")):
        if one not in line:
            continue
        cells = [_OR.sub(r"\1", line[start:end]) for start, end in split_cells(line, sign)]
        if not 1 < len(cells) <= MOST or max(map(len, cells)) > LONGEST:
            continue
        if not all(map(_HEADER.fullmatch, cells)) or any(map(_is_number, cells)):
            continue
        words = list(map(spell_header, cells))
        types = find_types(words)
        known = sum(
            bool(type_) or word in PERSONAL for type_, word in zip(types, words, strict=True)
        )
        # Two words with a comma between them are no header by themselves: below a name, a given
        # name that is known is asked for, and a number below a word for one.
        surnames = not _SURNAMES.isdisjoint(words) and _OF_SURNAMES.isdisjoint(words)
        surnames = surnames and ", " not in line
        if any(types) and (len(words) > 2 or known == 2 or sign != "," or surnames):
            return sign, types
        if not FORMED.isdisjoint(types):
            return sign, [f"{type_}?" if type_ in FORMED else "" for type_ in types]
        if types in (["PERSON?", ""], ["", "PERSON?"]):
            return sign, ["PERSON??" if type_ else "" for type_ in types]
    return None


_SURNAMES = words_of(
    """
    surname last_name lastname family_name nachname familienname apellidos cognome achternaam
    nazwisko sobrenome efternamn etternavn efternavn příjmení sukunimi
    """
)


_OF_SURNAMES = words_of(  # in a table about them
    """
    frequency count rank meaning origin etymology language percent percentage share variants
    häufigkeit anzahl rang bedeutung herkunft fréquence nombre signification origine frecuencia
    cantidad significado origen frequenza significato frequência origem
    """
)


def _is_number(cell: str) -> bool:
    """Tell if a cell is a number that no column is called by, as years are."""
    digits = sum(map(str.isdigit, cell))
    return digits >= SURE_DIGITS and not _YEARS.fullmatch(cell.strip())


def read_columns(cells: Sequence[str]) -> list[str]:
    """Return the type of each column or "", for a header that tells enough; else nothing.

    What stands below a single word may be anything: two columns are to be of persons, or one of
    numbers that have a form.
    """
    words = list(map(spell_header, cells))
    if not 1 < len(words) <= MOST or len({*words}) < len(words):
        return []
    types = find_types(words)
    own = {type_ for type_ in types if type_ not in ("", "LOCATION", "RESIDENCE", "ORGANIZATION")}
    known = sum(bool(t) or word in PERSONAL for t, word in zip(types, words, strict=True))
    if known < 2:
        return [f"{type_}?" if type_ in FORMED else "" for type_ in types] if own & FORMED else []
    if not own:
        return []
    if not any(map(LABELS.__contains__, words)) and PERSONAL.isdisjoint({*words} - {"age"}):
        return ["PERSON?" if type_ == "PERSON" else type_ for type_ in types]
    return types


def split_cells(line: str, sign: str) -> list[tuple[int, int]]:
    """Return the start and the end of each cell, without quotes and blanks around it."""
    found: list[tuple[int, int]] = []
    place, end = 0, len(line)
    if sign == r"\|":  # a row of Markdown begins and ends with the sign
        place += len(line) - len(line.lstrip())
        place += line.startswith("|", place)
        stripped = line.rstrip()
        end = len(stripped) - stripped.endswith("|")
    while len(found) <= MOST:
        cell = _CELLS[sign].match(line, place, end)
        if cell is None:
            break
        group = next(name for name in ("escaped", "quoted", "plain") if cell[name] is not None)
        start, stop = cell.span(group)
        shown = line[start:stop]
        start += len(shown) - len(shown.lstrip())
        found.append((start, max(start, stop - (len(shown) - len(shown.rstrip())))))
        if cell.end() >= end and not cell["end"]:
            break
        place = cell.end()
    return found


def strip_cell(row: str, start: int, end: int) -> tuple[int, int]:
    """Return the start and the end of a cell without the blanks around it."""
    cell = row[start:end]
    start += len(cell) - len(cell.lstrip())
    return start, max(start, start + len(cell.strip()))


def skip_number(line: str) -> int:
    """Return where a line begins behind the number that a tool wrote before it."""
    before = BEFORE.match(line)
    return before.end() if before else 0


def read_row(
    row: str, begin: int, cells: Sequence[tuple[int, int]], types: Sequence[str]
) -> Iterator[tuple[int, int, str]]:
    """Yield the cells of a row, which begins at a place of the text, that have a type. Who has a
    given name beside it may be called Total or Offen."""
    parts = [
        row[slice(*cell)]
        for cell, type_ in zip(cells, types, strict=True)
        if type_[:6] == "PERSON"
    ]
    alone = sum(map(bool, parts)) == 1
    for (start, end), type_ in zip(cells, types, strict=True):
        found = row[start:end]
        bound = found[:1] in _BOUND and is_placeholder(found)  # :town, %(town)s, ${town}
        if (
            type_
            and found
            and found.casefold() not in _EMPTY
            and not bound
            and not (type_ == "PASSWORD" and _is_open(found))
            and not is_label(found)
            and not (alone and type_.startswith("PERSON") and names_nobody(found))
            and fits_type(type_, found)
        ):
            told = type_.rstrip("?")
            yield begin + start, begin + end, "PERSON" if told == "HOLDER" else told


_OPEN_VALUE = re.compile(r"change[_-]?me|your[_-][\w-]{1,30}|<[\w -]{1,30}>|[xX*]{3,}|\.{3}")


def _is_open(value: str) -> bool:
    """Tell if a cell of passwords stands for one, or for none: `changeme`, `your-api-key`."""
    return _OPEN_VALUE.fullmatch(value) is not None


def fits_type(type_: str, cell: str) -> bool:
    """Tell if a cell may hold what its column is said to; `?` asks for more evidence."""
    if type_ == "PERSON??" and not any(map(is_given, cell.split())):
        return False
    if type_.startswith("PERSON?"):
        named = _PERSON.match(cell) or (cell.isupper() and any(map(is_given, cell.split())))
        return bool(named) and not is_unit(cell)
    if type_ == "HOLDER?":
        return _is_name(cell)
    if type_.endswith("?"):
        return _NUMBER.fullmatch(cell) is not None
    if type_ in ("DATE_OF_BIRTH", "PHONE_NUMBER"):
        told = sum(map(str.isdigit, cell)) > 3 and len(cell) <= LONGEST
        return told and not (type_ == "DATE_OF_BIRTH" and is_long_ago(cell))
    if type_ == "ACCOUNT_NUMBER":
        return len(cell) <= LONGEST and not (cell.isdigit() and len(cell) < 4)
    if type_ == "PERSON":
        return any(map(str.isalpha, cell)) and len(cell) <= 60
    if type_ == "STREET_ADDRESS" and _OF_MACHINE.fullmatch(cell):
        return False
    return len(cell) <= LONGEST


def _is_name(cell: str) -> bool:
    """Tell if a cell may be a person's name, and no team: `Quarrie`, not `Platform`."""
    words = cell.split()
    if not 0 < len(words) <= NAME_WORDS or not all(map(_NAME_PART.fullmatch, words)):
        return False
    return any(map(is_given, words)) or not any(map(is_ordinary_word, words))


def is_unit(cell: str) -> bool:
    """Tell if a cell names a team or a thing: a word of it says so, or all are ordinary."""
    words = [word.lower() for word in re.findall(r"\w+", cell)]
    if not _UNITS.isdisjoint(words):
        return True
    return all(map(is_ordinary_word, words)) and not any(map(is_given, words))
