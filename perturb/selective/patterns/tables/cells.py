"""Find the cells of tables: CSV, tabs, columns apart by blanks, Markdown, HTML, and rows without a
header that have an address of e-mail; beside them, the values of forms and of literals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labels import COLUMNS, spell
from perturb.selective.patterns.tables.columns import (
    BEFORE,
    CODE,
    LINE,
    LONGEST_ROW,
    MAIL,
    MOST,
    RULE,
    find_types,
    fits_type,
    is_label,
    names_nobody,
    read_columns,
    read_header,
    read_row,
    skip_number,
    split_cells,
    strip_cell,
)
from perturb.selective.patterns.tables.forms import find_forms
from perturb.selective.patterns.tables.literals import find_literals
from perturb.text.fold import fold_name

__all__ = ["find_cells", "is_header"]

_SIGN = re.compile(
    r"[^\w .!?’]|  "
)  # what prose in one line lacks, and all that is found here has
# Columns apart by blanks, as programs print them.
_ALIGNED = re.compile(
    r"^(?=[^\n]*\S {2,}\S|[ ])[ ]{0,80}[^\W\d_][\w ./#-]{4,400}(?=\r?$)", re.MULTILINE
)
_UNDERLINE = re.compile(r"[ =+-]+")
_INDEX = re.compile(r"\s{0,8}\d{1,9} +(?=\S)")  # of a row
_NAMED = re.compile(r"\S+(?: \S+)*")  # a header whose columns are two blanks apart
_WORD = re.compile(r"\S+")
_TABLE_ROW = re.compile(r"<(?:(?P<table>table)|tr)(?=[\s>])", re.IGNORECASE)
_TABLE_CELL = re.compile(
    r"<t(?P<kind>[hd])(?:\s[^<>]{0,200})?>\s{0,40}(?:<(?:b|i|em|strong|a)(?:\s[^<>]{0,200})?>)?"
    r"(?P<text>[^<>]{0,200}?)\s{0,40}<",
    re.IGNORECASE,
)
_CAPITALISED = r"[^\W\d_a-z][^\W\d_A-Z]{1,24}"
# A row of data with an address of e-mail: `(1, 'Desta', 'Kvamme', 'desta@fjord.no'),`
_MAILED = re.compile(r"(?m:^)(?=[^\n@]{3,400}@)[^\n]{8,1000}")
_AROUND = " \t'\"`()[]{}"  # a cell
_NAME_CELL = re.compile(
    rf"{_CAPITALISED}(?:[ '’-](?:(?:de|da|del|van|von|der|den|la|le|al|bin|ben) ){{0,2}}"
    rf"{_CAPITALISED}){{0,3}}"
)
_ROW_ENDS = re.compile(r"(?<=[)\]}])[,;]\s{0,8}\Z")
_ROWS = 2  # that tell what a column holds
_FIRST_ROWS = 4


def find_cells(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the type of each cell below a header that names a type.

    >>> text = "name,age,city\\nAda Winter,52,Ulm"
    >>> [(text[start:end], type_) for start, end, type_ in find_cells(text)]
    [('Ada Winter', 'PERSON'), ('Ulm', 'RESIDENCE')]
    """
    if not _SIGN.search(text):
        return
    forms = set[int]()  # the lines of forms, by their places in the text
    for own, values in find_forms(text):
        forms.update(own)
        yield from values
    header: tuple[str, Sequence[str]] | None = None
    numbered = False  # the header
    waits = False  # for the rule below the header of a table in Markdown
    columns: dict[int, list[tuple[int, int]]] = {}  # that may hold persons, by their numbers
    for line in LINE.finditer(text):
        begin, content = line.start(1), line[1]
        if begin in forms:
            header = None
            continue
        before = BEFORE.match(content)
        if header is not None and not numbered and _fits_header(content, header):
            before = None  # the number is the first cell
        if before:
            begin, content = begin + before.end(), content[before.end() :]
        if header is not None:
            sign, types = header
            if waits and RULE.fullmatch(content):
                waits = False
                continue
            cells = split_cells(content, sign)
            if len(cells) == len(types) and (sign != "," or not CODE.search(content)):
                yield from read_row(content, begin, cells, types)
                for column, (start, end) in enumerate(cells):
                    if types[column].startswith("PERSON?") and start < end:
                        columns.setdefault(column, []).append((begin + start, begin + end))
                continue
        yield from _find_given(text, columns)
        columns = {}
        header, numbered = read_header(content), before is not None
        waits = header is not None and header[0] == r"\|"
    yield from _find_given(text, columns)
    yield from _find_aligned(text)
    yield from find_literals(text)
    yield from _find_marked_up(text)
    yield from _find_unlabelled(text)


def _find_given(
    text: str, columns: Mapping[int, Sequence[tuple[int, int]]]
) -> Iterator[tuple[int, int, str]]:
    """Yield the single words of a column most of whose cells begin with given names."""
    for cells in columns.values():
        words = [text[start:end].split() for start, end in cells]
        given = sum(is_given(some[0]) and not is_ordinary_word(some[0]) for some in words)
        if len(cells) >= _ROWS and 3 * given >= 2 * len(cells):
            for (start, end), some in zip(cells, words, strict=True):
                if len(some) == 1 and some[0].istitle() and not names_nobody(some[0]):
                    yield start, end, "PERSON"


def _fits_header(row: str, header: tuple[str, Sequence[str]]) -> bool:
    return len(split_cells(row, header[0])) == len(header[1])


def _find_aligned(text: str) -> Iterator[tuple[int, int, str]]:
    """Find cells in tables whose columns begin or end below each other."""
    end = 0
    for header in _ALIGNED.finditer(text):
        if header.start() < end:
            continue
        found: list[tuple[int, int, str]] = []
        for split in (_NAMED, _WORD):
            columns = [word.span() for word in split.finditer(header[0])]
            types = read_columns([header[0][start:stop] for start, stop in columns])
            rows = list(_read_aligned(text, header.end(), columns)) if types else []
            cells = [cell for row in rows for cell in read_row(*row, types)]
            found = max(found, cells, key=len)
            end = max([end, *(begin for _, begin, _ in rows)])
        yield from found


def _read_aligned(
    text: str, place: int, columns: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, int, list[tuple[int, int]]]]:
    """Yield the rows below the line of a place: each with its own, and the places of its cells.

    Cells begin below the words of the header, or end there, in all rows alike.
    """
    sides: Sequence[Callable[..., list[tuple[int, int]]]] = (_cut_right, _cut_left)
    while place := text.find("\n", place) + 1:
        stop = text.find("\n", place)
        row = text[place : stop if stop >= 0 else len(text)].rstrip("\r ")
        if not row or len(row) > LONGEST_ROW:
            return
        if not _UNDERLINE.fullmatch(row):
            cut = [(side, found) for side in sides if (found := side(row, columns))]
            if not cut or any(is_label(row[a:b]) for a, b in cut[0][1]):
                return
            sides = [side for side, _ in cut]
            yield row, place, cut[0][1]


def _cut_left(row: str, columns: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cells of a row that begin below the header's words; nothing for another row."""
    starts = [start for start, _ in columns]
    if row[: starts[0]].strip() or any(row[at - 1 : at].strip() for at in starts[1:]):
        return []
    cells = [strip_cell(row, *span) for span in zip(starts, [*starts[1:], len(row)], strict=True)]
    full = [(cell, at) for cell, at in zip(cells, starts, strict=True) if cell[0] < cell[1]]
    return cells if len(full) > 1 and all(cell[0] == at for cell, at in full) else []


def _cut_right(row: str, columns: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cells of a row that end below the header's words; nothing for another row."""
    ends = [end for _, end in columns]
    if len(row) > ends[-1] or any(row[at : at + 1].strip() for at in ends):
        return []
    index = _INDEX.match(row, 0, ends[0]) if columns[0][0] else None
    starts = [index.end() if index else 0, *ends]
    cells = [strip_cell(row, *span) for span in zip(starts, ends, strict=False)]
    full = [(cell, at) for cell, at in zip(cells, ends, strict=True) if cell[0] < cell[1]]
    return cells if len(full) > 1 and all(cell[1] == at for cell, at in full) else []


def _find_marked_up(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the cells of tables of HTML."""
    types: list[str] = []
    for row in _TABLE_ROW.finditer(text):
        cells = list(_TABLE_CELL.finditer(text, row.end(), _find_row_end(text, row.end())))
        if row["table"]:
            types = []
        elif cells and all(cell["kind"] in "hH" for cell in cells):
            types = find_types([spell(cell["text"]) for cell in cells])
        elif any(types) and len(cells) == len(types):
            yield from read_row(text, 0, [cell.span("text") for cell in cells], types)


def _find_row_end(text: str, start: int) -> int:
    end = text.find("<tr", start, start + LONGEST_ROW)
    return end if end >= 0 else min(len(text), start + LONGEST_ROW)


def _find_unlabelled(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the names in rows without a header: each has an address of e-mail in one column, which
    is made of the two names in others, or begins as one of them does where one is a given name."""
    rows: list[list[tuple[int, int]]] = []
    form: tuple[str, int, int] | None = None  # the sign, the cells of a row, and the address's
    below = 0
    for line in _MAILED.finditer(text) if "@" in text else ():
        sign = next((s for s in ("\t", ";", "|", ",") if line[0].count(s) > 1), "")
        cells = _cut_cells(line, sign) if sign else []
        mail = next((i for i, cell in enumerate(cells) if MAIL.fullmatch(text, *cell)), -1)
        own = (sign, len(cells), mail) if mail >= 0 and len(cells) <= MOST else None
        if own != form or line.start() > below + 1:
            yield from _read_names(text, rows, form)
            rows = []
        form, below = own, line.end()
        if own:
            rows.append(cells)
    yield from _read_names(text, rows, form)


def _cut_cells(line: re.Match[str], sign: str) -> list[tuple[int, int]]:
    """Return the start and the end of each cell of a line in its text, without what is around."""
    found, start = [], line.start()
    for cell in _ROW_ENDS.sub("", line[0]).split(sign):
        plain = cell.strip(_AROUND)
        begin = start + cell.find(plain)
        found.append((begin, begin + len(plain)))
        start += len(cell) + 1
    return found


def _read_names(
    text: str, rows: Sequence[Sequence[tuple[int, int]]], form: tuple[str, int, int] | None
) -> Iterator[tuple[int, int, str]]:
    """Yield the names of rows of one form."""
    locals_ = [text[slice(*row[form[2]])].partition("@")[0].lower() for row in rows if form]
    if 2 * len(set(locals_)) <= len(rows):  # info@, clerk@: of no person
        return
    columns = [[text[slice(*cell)] for cell in column] for column in zip(*rows, strict=True)]
    named = [all(map(_NAME_CELL.fullmatch, column)) for column in columns]
    sure = set[int]()
    for place in (place for place, all_named in enumerate(named) if all_named):
        beside = [p for p in (place + 1, place - 1) if 0 <= p < len(named) and named[p]]
        own = columns[place]
        if all(len(cell.split()) == 1 for cell in own):  # given names, or surnames
            for other in beside:
                pairs = list(zip(own, columns[other], strict=True))
                given = sum(is_given(one) for one, _ in pairs)
                made = sum(map(_makes, locals_, pairs))
                whole = sum(map(_is_made_of_both, locals_, pairs))
                if 2 * whole >= len(rows) or (
                    len(rows) >= _ROWS and 2 * min(given, made) >= len(rows)
                ):
                    sure |= {place, other}
                    break
        elif len(rows) >= _ROWS:
            words = [cell.split() for cell in own]
            given = sum(is_given(some[0]) for some in words)
            made = sum(map(_makes, locals_, words))
            if 2 * min(given, made) >= len(rows):
                sure.add(place)
    for column in sorted(sure):
        yield from ((*row[column], "PERSON") for row in rows)


def _makes(local: str, words: Sequence[str]) -> bool:
    """Tell if the local part of an address may be made of a name: it begins as a word of it does,
    or holds one."""
    plain = [fold_name(word) for word in words]
    return local[:1] in {word[:1] for word in plain} or any(word in local for word in plain)


def _is_made_of_both(local: str, words: Sequence[str]) -> bool:
    """Tell if the local part of an address has both words of a name, none of them ordinary."""
    return all(fold_name(word) in local and not is_ordinary_word(word) for word in words)


def is_header(text: str, start: int, end: int) -> bool:
    """Tell if a place is in the header of a table whose first rows name a person, and holds what
    columns are called: a surname may head one, too.

    >>> text = "Name;Kalorien\\nAda Winter;2100\\n"
    >>> is_header(text, 5, 13), is_header(text, 14, 17)
    (True, False)
    """
    begin = text.rfind("\n", max(0, start - LONGEST_ROW), start) + 1
    stop = text.find("\n", end, end + LONGEST_ROW)
    words = [word.casefold() for word in re.split(r"\W+", text[start:end]) if word]
    if stop < 0 or "\n" in text[start:end] or not COLUMNS.issuperset(words):
        return False
    row, above = text[begin:stop], text[max(0, begin - LONGEST_ROW) : max(0, begin - 1)]
    above = above.rpartition("\n")[2]
    if not any(row.count(sign) > above.count(sign) for sign in "|\t;,"):  # a row like that above
        return False
    header = read_header(row[skip_number(row) :])
    if header is None:
        return False
    sign, types = header
    for line in text[stop + 1 : stop + LONGEST_ROW].split("\n", _FIRST_ROWS)[:_FIRST_ROWS]:
        if sign == r"\|" and RULE.fullmatch(line):
            continue
        own = line[skip_number(line) :]
        cells = split_cells(own, sign)
        if len(cells) != len(types):
            return False
        for cell, type_ in zip(cells, types, strict=True):
            name = own[slice(*cell)]
            if type_.startswith("PERSON") and (is_given(name) or fits_type("PERSON?", name)):
                return True
    return False
