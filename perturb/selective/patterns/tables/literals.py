"""Find values in what programs read, by the names of their columns: what SQL inserts, copies and
compares, arrays and arguments of code, and HL7's fields by number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from perturb.selective.patterns.accounts import is_personal_account
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labels import BY_ROLE, LABELS, spell, spell_key
from perturb.selective.patterns.people import TITLES
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.tables.columns import (
    LONGEST,
    MOST,
    find_types,
    read_row,
    spell_header,
    split_cells,
)

__all__ = ["find_literals"]

_BLANKS = r"(?:\s|\\[nrt]){0,80}"
_INSERT = re.compile(
    r"(?:(?<!\w)|(?<=\\[nrt]))insert\s{1,20}(?:ignore\s{1,20})?into\s{1,20}"
    rf"(?P<table>[\w.`\"\[\]-]{{1,120}})\s{{0,20}}"
    rf"(?:\((?P<columns>[^()]{{1,2000}})\))?{_BLANKS}values\b",
    re.IGNORECASE,
)
# A table, whose rows may be inserted without the names of its columns, as dumps do.
_CREATE = re.compile(
    r"(?:(?<!\w)|(?<=\\[nrt]))create\s{1,20}(?:temporary\s{1,20}|temp\s{1,20})?table\s{1,20}"
    r"(?:if\s{1,20}not\s{1,20}exists\s{1,20})?"
    r"(?P<table>[\w.`\"\[\]-]{1,120})\s{0,20}\(",
    re.IGNORECASE,
)
# A part of the definition of a table: a comment, a string, or a sign that may end a column.
_DEFINITION = re.compile(
    r"(?P<comment>--[^\n]*|/\*(?>(?:[^*]|\*(?!/)){0,2000})(?:\*/)?)"
    r"|'(?>(?:[^'\\]|''|\\.){0,2000})'?|(?P<sign>[(),;])|(?P<plain>[^'(),;/-]+)|."
)
_OTHER = re.compile(r"\bcreate\s{1,20}(?:temp(?:orary)?\s{1,20})?table\b", re.IGNORECASE)
_LONGEST_TABLE = 20_000  # characters of the definition of a table
_COLUMN = re.compile(rf"{_BLANKS}(?P<name>[`\"\[]?\w{{1,80}}[`\"\]]?)")
_KEYS = words_of("primary key constraint unique foreign index check fulltext spatial exclude like")
_COPY = re.compile(
    r"(?m:^)copy\s{1,8}[\w.`\"]{1,120}\s{0,8}\((?P<columns>[^()]{1,2000})\)"
    r"\s{1,8}from\s{1,8}stdin\b[^\n]{0,200}\n",
    re.IGNORECASE,
)
_COPIED = re.compile(r"(?!\\\.)([^\n]+)(?:\n|\Z)")
# The content of a string, in which some servers write `\'` for `''`.
_CONTENT = r"(?>(?:[^'\\]|''|\\'(?=\w)|\\)*)"
# A row of an insertion, and a value of a row: a string, or a number, a word or a call.
_ROW = re.compile(
    rf"{_BLANKS}\((?P<values>(?>(?:'{_CONTENT}'|[^()']|\([^()]{{0,80}}\))*))\)(?:{_BLANKS},)?"
)
_VALUE = re.compile(
    rf"\s*+(?:(?:\w{{1,40}}\()?'(?P<quoted>{_CONTENT})'|(?P<plain>[^,']*+))[^,]*+(?:,|$)"
)
_COMPARED = re.compile(
    r"(?<![\w'])[`\"\[]?(?P<column>[^\W\d]\w{1,40})[`\"\]]?\)?\s{1,4}(?:not\s{1,4})?"
    r"(?:(?:i?like|rlike|similar\s{1,4}to)\s{1,4}(?=')|in\s{0,4}\(\s{0,8}(?='))"
    r"(?P<values>(?:'[^'\n]{1,80}'[,\s]{0,8}){1,200})",
    re.IGNORECASE,
)
_LEAST_COMPARED = 3  # letters
_COMPARES = re.compile(r"(?:like|to)\s{1,4}'|\bin\s{0,4}\(\s{0,8}'", re.IGNORECASE)
_QUERY = re.compile(r"(?<!\w)(?:select|where|update|delete|having|join)(?!\w)", re.IGNORECASE)
_COMPARED_VALUE = re.compile(r"'[%_^(]{0,2}(?P<value>[^'%]+?)[%_$)]{0,2}'")
_STRINGS = r"(?:[\"'][^\"'\n]{1,80}[\"'],?\s{0,80}){1,400}"
_ARRAY = re.compile(
    r"(?<![\w\"'])[\"'`]?(?P<key>[^\W\d]\w{1,30})[\"'`]?\s{0,4}(?:[:=]|=>|<-)\s{0,4}"
    rf"(?:(?:c|list|tuple|listOf|arrayOf|(?:pd\.)?Series)?\(\[?|[\[{{])\s{{0,40}}(?P<values>{_STRINGS})"
    r"[\])}]"
)
_OPENS_STRINGS = re.compile(r"[\[({]\s{0,40}[\"']")
_STRING_VALUE = re.compile(r"[\"'](?P<value>[^\"'\n]{1,80})[\"']")
_ARGUMENTS = re.compile(
    r"(?<!\w)(?P<callee>[^\W\d]\w{2,30})\(\s{0,8}(?P<sign>[\"'])(?P<given>[^\W\d_]{2,20})(?P=sign),"
    r"\s{0,8}(?P=sign)(?P<family>[^\W\d_][\w '’-]{1,30})(?P=sign)"
)
_CALLED = words_of("person people human user name fullname guest contact")
_TITLE_WORDS = words_of(TITLES)
# The fields of a message of HL7 v2, by segment and number (chapter 3 of the standard).
_SEGMENT = re.compile(
    r"(?<![^\r\n])(?P<name>PID|NK1|GT1|PV1|IN1)(?P<fields>(?:\|[^|\r\n]{0,200}){4,60})"
)
_FIELDS = {
    "PID": {
        **dict.fromkeys((2, 3, 4, 18), "ACCOUNT_NUMBER"),
        **dict.fromkeys((5, 6, 9), "PERSON"),
        **dict.fromkeys((13, 14), "PHONE_NUMBER"),
        7: "DATE_OF_BIRTH",
        11: "STREET_ADDRESS",
        19: "NATIONAL_ID",
    },
    "NK1": {2: "PERSON", 4: "STREET_ADDRESS", 5: "PHONE_NUMBER"},
    "GT1": {3: "PERSON", 5: "STREET_ADDRESS", 6: "PHONE_NUMBER"},
    "PV1": dict.fromkeys((7, 8, 9), "PERSON"),
    "IN1": {16: "PERSON", 18: "DATE_OF_BIRTH", 19: "STREET_ADDRESS", 36: "ACCOUNT_NUMBER"},
}
_COMPONENT = re.compile(r"[^|^~&]+")


def _find_segments(text: str) -> Iterator[tuple[int, int, str]]:
    for segment in _SEGMENT.finditer(text):
        types, place = _FIELDS[segment["name"]], segment.start("fields")
        for number, field in enumerate(segment["fields"].split("|")):
            if type_ := types.get(number):
                for found in _COMPONENT.finditer(field):
                    if _fits_component(type_, found[0]):
                        yield place + found.start(), place + found.end(), type_
            place += len(field) + 1


def _fits_component(type_: str, part: str) -> bool:
    """Tell if a component of a field is one that tells something, and no code of its kind."""
    digits = sum(map(str.isdigit, part))
    if type_ == "PERSON":
        titled = part.strip(" .").lower() in _TITLE_WORDS
        return len(part) > 1 and not titled and (not digits or digits > 3)  # a doctor's number
    if type_ == "STREET_ADDRESS":
        return len(part) > 3
    return digits > 3


def _find_inserted(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values that SQL inserts into columns of a type."""
    columns: dict[str, list[str]] = {}
    end = 0
    while table := _CREATE.search(text, end):
        own, end = _read_definitions(text, table.end())
        columns.setdefault(_spell_table(table["table"]), own)
    for insert in _INSERT.finditer(text):
        named = insert["columns"]
        own = named.split(",") if named else columns.get(_spell_table(insert["table"]), [])
        types = find_types([spell(column) for column in own])
        place = insert.end()
        while any(types) and (row := _ROW.match(text, place)):
            place = row.end()
            values = list(_VALUE.finditer(row["values"]))[: len(types)]
            cells = [
                value.span("plain" if value["quoted"] is None else "quoted") for value in values
            ]
            if len(cells) == len(types):
                yield from read_row(row["values"], row.start("values"), cells, types)


def _spell_table(name: str) -> str:
    """Return the name of a table, without its schema and its quotes."""
    return name.rpartition(".")[2].strip('`"[]').lower()


def _read_definitions(text: str, start: int) -> tuple[list[str], int]:
    """Return the names of a table's columns, and where they end."""
    names: list[str] = []
    depth, written = 0, ""  # what is written of a column, without comments

    def close() -> None:
        column = _COLUMN.match(written)
        if column and column["name"].lower() not in _KEYS:
            names.append(column["name"])

    for found in _DEFINITION.finditer(text, start, start + _LONGEST_TABLE):
        if found["plain"] and _OTHER.search(found[0]):  # the next one, after one that has no end
            break
        sign, start = found["sign"], found.end()
        if sign == ";" or len(names) > MOST:
            break
        if sign == "," and not depth:
            close()
            written = ""
            continue
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
        if not found["comment"] and len(written) < LONGEST:
            written += found[0]
    close()
    return names, start


def _find_compared(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values that SQL compares a column of a type with: `last_name LIKE 'winter%'`."""
    for compared in _COMPARED.finditer(text) if _COMPARES.search(text) else ():
        if not _QUERY.search(text, max(0, compared.start() - LONGEST), compared.start()):
            continue
        types = find_types([spell_header(compared["column"])])
        for value in _COMPARED_VALUE.finditer(text, *compared.span("values")):
            if len(value["value"]) >= _LEAST_COMPARED and is_personal_account(value["value"]):
                yield from read_row(text, 0, [value.span("value")], types)


def _find_arrays(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the strings of columns that code writes as arrays: `surname=c("Winter", "Lomak")`."""
    for array in _ARRAY.finditer(text) if _OPENS_STRINGS.search(text) else ():
        (type_,) = find_types([spell_header(array["key"])])
        if type_:
            spans = [v.span("value") for v in _STRING_VALUE.finditer(text, *array.span("values"))]
            yield from read_row(text, 0, spans, [type_] * len(spans))


def _find_arguments(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the two names that a person is made of in code: `Person("Ada", "Winter")`."""
    for call in _ARGUMENTS.finditer(text) if "('" in text or '("' in text else ():
        words = spell_key(call["callee"]).split("_")
        named = any(
            word in _CALLED or word in BY_ROLE or LABELS.get(word) == "PERSON" for word in words
        )
        family = call["family"]
        if (
            named
            and is_given(call["given"])
            and family[0] != family[0].lower()
            and not is_ordinary_word(family)
        ):
            yield (*call.span("given"), "PERSON")
            yield (*call.span("family"), "PERSON")


def _find_copied(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values that a dump of PostgreSQL copies into columns of a type."""
    for copy in _COPY.finditer(text):
        types = find_types([spell(column) for column in copy["columns"].split(",")])
        place = copy.end()
        while any(types) and (row := _COPIED.match(text, place)):
            place = row.end()
            cells = split_cells(row[1], "\t")
            if len(cells) == len(types):
                yield from read_row(row[1], row.start(), cells, types)


def find_literals(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the type of each value whose column has one.

    >>> text = "INSERT INTO users (id, last_name) VALUES (7, 'Winter');"
    >>> [(text[start:end], type_) for start, end, type_ in find_literals(text)]
    [('Winter', 'PERSON')]
    """
    yield from _find_segments(text)
    yield from _find_inserted(text)
    yield from _find_compared(text)
    yield from _find_arrays(text)
    yield from _find_arguments(text)
    yield from _find_copied(text)
