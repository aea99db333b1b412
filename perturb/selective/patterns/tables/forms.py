"""Find the forms of a text: labels in a first column, or above their values, and pairs in HTML.

A label in a line of prose is read by `patterns.forms`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from perturb.selective.patterns.accounts import is_personal_account
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labels import LABELS, NAMES
from perturb.selective.patterns.settings import is_placeholder
from perturb.selective.patterns.tables.columns import (
    CODE,
    FORMED,
    LABEL_LENGTH,
    LINE,
    LONGEST,
    LONGEST_ROW,
    MAIL,
    NAME_WORDS,
    RULE,
    SURE_DIGITS,
    THINGS,
    is_label,
    is_unit,
    names_nobody,
    read_columns,
    read_row,
    skip_number,
    spell_header,
    split_cells,
    strip_cell,
)
from perturb.text.marks import MARKS

__all__ = ["find_forms"]

_MARKED = " *_`:\"'>"  # around a label
_SIGN = re.compile(r" {1,3}(?:[-–—]|->|→) {1,3}|[ *_]{0,3}:[ *_]{1,20}(?=\S)")
_OPENING = re.compile(  # of a form: what may be a label, and a sign behind it
    rf"[^\w\n]{{0,8}}(?P<label>(?=\w)[\w{MARKS} .'’/()-]{{1,40}}?)[ *_`\"]{{0,4}}"
    r"(?:[|\t;,:=]| [-–—=→>]|  |\Z)"
)
_WIDE = re.compile(r"(?: {2,60}|\t{1,8})(?=\S)")
_FORM_ROWS = 64
_FORM_CELLS = 6
_DATE = re.compile(r"\d{1,2}\D{1,12}\d{4}|\d{4}\D{1,3}\d{1,2}\D{1,3}\d{1,2}")
_PAIR = re.compile(  # in HTML
    r"<(?:t[hd]|dt|label|b|strong|span)(?:\s[^<>]{0,200})?>\s{0,40}(?P<label>[^<>]{1,60}?)\s{0,40}"
    r"(?:</?(?:b|strong|label)>){0,2}:?\s{0,8}</(?:t[hd]|dt|label|b|strong|span)>:?\s{0,80}"
    r"<(?:td|dd|span|div)(?:\s[^<>]{0,200})?>\s{0,40}(?P<value>[^<>]{1,200}?)\s{0,40}<",
    re.IGNORECASE,
)
_APART = 200  # characters between two pairs of a form
_NO_NAME_SIGNS = frozenset("?!=@:;{}[]<>|")
_OF_PLACES = frozenset(("BIRTHPLACE", "LOCATION", "RESIDENCE", "STREET_ADDRESS"))
_Line = tuple[int, int, str]  # its place; the place behind its number, and what stands there
_Pair = tuple[str, tuple[int, int]]  # a label, and the place of its value
_MIXED = re.compile(r"[^\W\d_]\d+[^\W\d_]|\d[^\W\d_]+\d|\w[^\w\s.,:;()/-]\w")


def find_forms(text: str) -> Iterator[tuple[list[int], list[tuple[int, int, str]]]]:
    """Yield the lines of each form, by their places, and the values that have a type."""
    lines: list[_Line] = []
    for line in LINE.finditer(text):
        skipped = skip_number(line[1])
        lines.append((line.start(1), line.start(1) + skipped, line[1][skipped:]))
    place = 0
    while place < len(lines):
        rows, records = _read_form(lines, place)
        values = [value for record in records for value in _read_record(text, record)]
        if values:
            yield [begin for begin, _, _ in lines[place : place + rows]], values
        place += max(1, rows)
    record: list[_Pair] = []
    end = 0
    for pair in _PAIR.finditer(text):
        if pair.start() > end + _APART or pair["label"] in (label for label, _ in record):
            yield [], _read_record(text, record)
            record = []
        if record or is_label(pair["label"]):
            record.append((pair["label"], pair.span("value")))
            end = pair.end()
    yield [], _read_record(text, record)


def _read_form(lines: Sequence[_Line], place: int) -> tuple[int, list[list[_Pair]]]:
    """Return how many lines, from a place on, have the cells of the first one, which begins with
    a label; and the labels with their values, a record for each column of values. A label that
    stands there already begins another form."""
    begin, content = lines[place][1:]
    opening = _OPENING.match(content)
    if opening is None or len(content) > LONGEST_ROW or not is_label(opening["label"]):
        return 0, []
    if is_label(content):
        rows, record = _read_stacked(lines, place)
        return rows, [record]
    for cut in _CUTS:
        first = cut(content)
        if 1 < len(first) <= _FORM_CELLS and is_label(content[slice(*first[0])].strip(_MARKED)):
            break
    else:
        return 0, []
    records: list[list[_Pair]] = [[] for _ in first[1:]]
    known = set[str]()
    rows = 0
    for _, begin, content in lines[place : place + _FORM_ROWS]:
        if not (cut is _CUTS[0] and RULE.fullmatch(content)):
            cells = cut(content)
            words = [content[slice(*cell)].strip(_MARKED) for cell in cells]
            if len(cells) != len(first) or len(words[0]) > LABEL_LENGTH or words[0] in known:
                break
            known.add(words[0])
            label, column = words[0], 0
            for word, (start, end) in zip(words[1:], cells[1:], strict=True):
                if len(cells) % 2 == 0 and word not in known and is_label(word):
                    label, column = word, 0  # of a second pair in the row
                    known.add(word)
                else:
                    records[column].append((label, (begin + start, begin + end)))
                    column += 1
        rows += 1
    return rows, records


def _read_stacked(lines: Sequence[_Line], place: int) -> tuple[int, list[_Pair]]:
    """Return how many lines, from a place on, are labels with their values below them; and
    those."""
    record: list[_Pair] = []
    own = lines[place : place + 2 * _FORM_ROWS]
    for (_, _, content), (_, begin, value) in zip(own[::2], own[1::2], strict=False):
        label = content.strip(_MARKED)
        known = any(label == other for other, _ in record)
        if known or not is_label(label) or len(value) > LONGEST:
            break
        start, end = strip_cell(value, 0, len(value))
        record.append((label, (begin + start, begin + end)))
    return 2 * len(record), record


def _read_record(text: str, record: Sequence[_Pair]) -> list[tuple[int, int, str]]:
    """Return the values of a form that have a type; none where no value is sure to be one, as in
    the description of a table: `| phone | text |`."""
    labels = [label for label, _ in record]
    types = read_columns(labels)
    words = list(map(spell_header, labels))
    if not THINGS.isdisjoint(words):  # the name of one
        types = ["" if word in NAMES else type_ for word, type_ in zip(words, types, strict=False)]
    if not any(types):  # a secret needs no company
        types = ["PASSWORD" if LABELS.get(word) == "PASSWORD" else "" for word in words]
        spans = [span for _, span in record]
        secrets = read_row(text, 0, spans, types)
        return [(a, b, type_) for a, b, type_ in secrets if _is_secret(text[a:b])]
    found = [
        (start, end, type_)
        for start, end, type_ in read_row(text, 0, [span for _, span in record], types)
        if _is_told(text[start:end], type_)
    ]
    sure = {type_ for a, b, type_ in found if _is_sure(text[a:b], type_)}
    if any(MAIL.fullmatch(text, *span) for _, span in record):
        sure.add("EMAIL_ADDRESS")
    if not sure - {"PERSON"}:  # where somebody is publicly known to have lived is no address
        found = [(a, b, type_) for a, b, type_ in found if type_ not in _OF_PLACES]
    return found if sure else []


def _is_told(value: str, type_: str) -> bool:
    """Tell if a value of a form may be of its type: no sentence, and no number without digits."""
    if type_ == "PERSON":
        words = value.split()
        plain = len(words) > 1 and (is_unit(value) or any(map(is_ordinary_word, words)))
        sentence = len(words) > NAME_WORDS or not _NO_NAME_SIGNS.isdisjoint(value)
        return not sentence and (not plain or any(map(is_given, words)))
    if type_ == "USERNAME":
        return is_personal_account(value) and not names_nobody(value)
    return type_ != "ACCOUNT_NUMBER" or any(map(str.isdigit, value))


def _is_sure(value: str, type_: str) -> bool:
    if type_ == "PERSON":
        words = value.split()
        capitals = all(word[:1] != word[:1].lower() for word in words if len(word) > 3)
        strange = len(words) > 1 and not any(map(is_ordinary_word, words))
        return capitals and (strange or any(map(is_given, words)))
    if type_ == "DATE_OF_BIRTH":
        return _DATE.search(value) is not None
    if type_ == "PASSWORD":
        return _is_secret(value)
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    return type_ in FORMED and digits >= max(SURE_DIGITS, letters)


def _is_secret(value: str) -> bool:
    """Tell if a value beside the label of a secret can be nothing else: no `varchar(255)`."""
    if " " in value or is_placeholder(value):
        return False
    return (value.isdigit() and len(value) >= 8) or (
        len(value) >= 8 and _MIXED.search(value) is not None
    )


def _cut_at(expression: re.Pattern[str], row: str) -> list[tuple[int, int]]:
    """Return the two cells of a row that an expression parts; nothing where it does not, or of a
    line of code."""
    sign = expression.search(row)
    if sign is None or not row[: sign.start()].strip() or CODE.search(row):
        return []
    if row[sign.end() : sign.end() + 1] in "\"'`" or row.endswith(","):
        return []
    return [strip_cell(row, 0, sign.start()), strip_cell(row, sign.end(), len(row))]


_CUTS: tuple[Callable[[str], list[tuple[int, int]]], ...] = (
    *(
        lambda row, sign=sign: split_cells(row, sign) if sign[-1] in row else []
        for sign in (r"\|", "\t", ";")
    ),
    lambda row: split_cells(row, ",") if "," in row and not CODE.search(row) else [],
    partial(_cut_at, _WIDE),
    partial(_cut_at, _SIGN),
)
