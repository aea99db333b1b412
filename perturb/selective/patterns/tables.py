"""Find values by the names of their columns: the cells of tables (CSV, tabs, columns apart by
blanks, Markdown, HTML), the values of forms whose labels stand in a first column or above them,
what SQL inserts, copies and compares, arrays and arguments of code, and HL7's fields by number.

A header is evidence for all cells below it, a label for those beside it. `name` alone may name
products: it counts where another column is about persons, too, or where the cell looks like a
person's name (`PERSON?`), in a list of two columns with a given name (`PERSON??`). So does a role
(`Assigned to`), and, in tables of things, who has one (`owner`: `HOLDER?`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from perturb.selective.patterns.accounts import is_personal_account
from perturb.selective.patterns.dates import is_long_ago
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.labels import (
    BY_ROLE,
    COLUMNS,
    LABEL_TYPES,
    LABELS,
    NAMES,
    PERSONAL,
    spell,
    spell_key,
)
from perturb.selective.patterns.people import TITLES
from perturb.selective.patterns.settings import is_ordinary_word, is_placeholder
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.words import AFTER_PARTICLES, PARTICLES
from perturb.text.fold import fold_name
from perturb.text.marks import MARKS

__all__ = ["CELL_TYPES", "find_cells", "is_header", "names_nobody"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = _words(TITLES)
CELL_TYPES = (*LABEL_TYPES, "RESIDENCE")
# Also with JSON's escapes. Before a line, a tool may write its number, or begin a string.
_LINE = re.compile(r"(?:\\[nr])*((?:[^\r\n\\]++|\\(?![nr]))+)")
_BEFORE = re.compile(r" {0,10}\d{1,6}(?:\t|→|: | ?\| )|[{\[][^\r\n]{0,80}?\": ?\"(?=\w+[,;|])")
_CELLS = {
    sign: re.compile(
        rf'\s*+(?:(?:\\{{1,3}}"(?P<escaped>[^"\r\n\\]*+)\\{{1,3}}"|"(?P<quoted>[^"\r\n]*+)")'
        rf"|(?P<plain>[^{sign}\r\n]*+))(?P<end>{sign}|$)"
    )
    for sign in (",", ";", "\t", r"\|")
}
_RULE = re.compile(r"[\s|:+-]*+")  # below the header of a table in Markdown
# Ada Winter; Winter, Ada.
_PARTICLES = "|".join(sorted(PARTICLES | AFTER_PARTICLES | {"ap"}))
_PERSON = re.compile(
    r"[^\W\d_a-z][^\W\d_A-Z][\w.'’-]*+"
    rf"(?:,? (?:(?:{_PARTICLES}) ){{0,2}}[^\W\d_a-z][\w.'’-]*+){{1,3}}$"
)
# Words that say which telephone, address or password it is.
_QUALIFIERS = _words(
    """
    home work office private business mobile emergency primary secondary billing shipping delivery
    mailing postal permanent current initial temporary temp default new old admin user db smtp wifi
    """
)
# Columns of tables about things.
_THINGS = _words(
    """
    product price sku item version package module file path size status description unit
    quantity qty stock type category key value license url produkt preis artikel menge produit
    prix producto precio population capital country function method parameter default
    meaning origin bedeutung herkunft signification origine significado origen character
    year jahr released release paradigm breed rasse
    flour butter wind moons hex color colour model language diameter mass
    """
)
_HOLDERS = _words("owner manager maintainer author creator responsible assignee contact")
_NAME_PART = re.compile(
    r"(?:van|von|de|der|den|di|da|[^\W\d_a-z][^\W\d_A-Z]?['’]?[^\W\d_]{1,24}"
    r"(?:-[^\W\d_]{2,24})?|[A-Z]\.),?"
)
# Columns apart by blanks, as programs print them.
_ALIGNED = re.compile(
    r"^(?=[^\n]*\S {2,}\S|[ ])[ ]{0,80}[^\W\d_][\w ./#-]{4,400}(?=\r?$)", re.MULTILINE
)
_UNDERLINE = re.compile(r"[ =+-]+")
_INDEX = re.compile(r"\s{0,8}\d{1,9} +(?=\S)")  # of a row
_NAMED = re.compile(r"\S+(?: \S+)*")  # a header whose columns are two blanks apart
_WORD = re.compile(r"\S+")
# Types whose cells are told from other ones by their form.
_FORMED = frozenset(("ACCOUNT_NUMBER", "DATE_OF_BIRTH", "NATIONAL_ID", "PHONE_NUMBER"))
_NUMBER = re.compile(r"[A-Za-z]{0,4}[ -]?\d[\d ./-]{3,24}")
_PERSONS = _words("customer client patient employee member student")  # customer_id
_HEADER = re.compile(rf"[\w{MARKS} .#*`/’'-]*+")  # nothing of code
_OR = re.compile(r"\((\w{1,2})\)")  # né(e) le
# But a telephone number may begin with one in brackets: (11) 95550-1234.
_CODE = re.compile(r"[{}\[\]=<>;]|\((?!\+?\d{1,5}\))|(?<!\d)\)|\.\s*$")
_EMPTY = _words(
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
_KEYS = _words("primary key constraint unique foreign index check fulltext spatial exclude like")
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
_TABLE_ROW = re.compile(r"<(?:(?P<table>table)|tr)(?=[\s>])", re.IGNORECASE)
_TABLE_CELL = re.compile(
    r"<t(?P<kind>[hd])(?:\s[^<>]{0,200})?>\s{0,40}(?:<(?:b|i|em|strong|a)(?:\s[^<>]{0,200})?>)?"
    r"(?P<text>[^<>]{0,200}?)\s{0,40}<",
    re.IGNORECASE,
)
_LONGEST_ROW = 4000
_MOST = 64  # columns
_LONGEST = 200  # characters of a header's cell


def find_cells(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the type of each cell below a header that names a type.

    >>> text = "name,age,city\\nAda Winter,52,Ulm"
    >>> [(text[start:end], type_) for start, end, type_ in find_cells(text)]
    [('Ada Winter', 'PERSON'), ('Ulm', 'RESIDENCE')]
    """
    forms = set[int]()  # the lines of forms, by their places in the text
    for own, values in _find_forms(text):
        forms.update(own)
        yield from values
    header: tuple[str, Sequence[str]] | None = None
    numbered = False  # the header
    waits = False  # for the rule below the header of a table in Markdown
    columns: dict[int, list[tuple[int, int]]] = {}  # that may hold persons, by their numbers
    for line in _LINE.finditer(text):
        begin, content = line.start(1), line[1]
        if begin in forms:
            header = None
            continue
        before = _BEFORE.match(content)
        if header is not None and not numbered and _fits_header(content, header):
            before = None  # the number is the first cell
        if before:
            begin, content = begin + before.end(), content[before.end() :]
        if header is not None:
            sign, types = header
            if waits and _RULE.fullmatch(content):
                waits = False
                continue
            cells = _split(content, sign)
            if len(cells) == len(types) and (sign != "," or not _CODE.search(content)):
                yield from _read_row(content, begin, cells, types)
                for column, (start, end) in enumerate(cells):
                    if types[column].startswith("PERSON?") and start < end:
                        columns.setdefault(column, []).append((begin + start, begin + end))
                continue
        yield from _find_given(text, columns)
        columns = {}
        header, numbered = _read_header(content), before is not None
        waits = header is not None and header[0] == r"\|"
    yield from _find_given(text, columns)
    yield from _find_aligned(text)
    yield from _find_segments(text)
    yield from _find_inserted(text)
    yield from _find_compared(text)
    yield from _find_arrays(text)
    yield from _find_arguments(text)
    yield from _find_copied(text)
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


_MARKED = " *_`:\"'>"  # around a label
_SIGN = re.compile(r" {1,3}(?:[-–—]|->|→) {1,3}|[ *_]{0,3}:[ *_]{1,20}(?=\S)")
_OPENING = re.compile(  # of a form: what may be a label, and a sign behind it
    rf"[^\w\n]{{0,8}}(?P<label>(?=\w)[\w{MARKS} .'’/()-]{{1,40}}?)[ *_`\"]{{0,4}}"
    r"(?:[|\t;,:=]| [-–—=→>]|  |\Z)"
)
_WIDE = re.compile(r"(?: {2,60}|\t{1,8})(?=\S)")
_LABEL_LENGTH = 40
_FORM_ROWS = 64
_FORM_CELLS = 6
_NAME_WORDS = 5  # that a name has at most
_SURE_DIGITS = 4  # of a value that has a form
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


def _find_forms(text: str) -> Iterator[tuple[list[int], list[tuple[int, int, str]]]]:
    """Yield the lines of each form, by their places, and the values that have a type."""
    lines: list[_Line] = []
    for line in _LINE.finditer(text):
        skipped = _skip_number(line[1])
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
        if record or _is_label(pair["label"]):
            record.append((pair["label"], pair.span("value")))
            end = pair.end()
    yield [], _read_record(text, record)


def _read_form(lines: Sequence[_Line], place: int) -> tuple[int, list[list[_Pair]]]:
    """Return how many lines, from a place on, have the cells of the first one, which begins with
    a label; and the labels with their values, a record for each column of values. A label that
    stands there already begins another form."""
    begin, content = lines[place][1:]
    opening = _OPENING.match(content)
    if opening is None or len(content) > _LONGEST_ROW or not _is_label(opening["label"]):
        return 0, []
    if _is_label(content):
        rows, record = _read_stacked(lines, place)
        return rows, [record]
    for cut in _CUTS:
        first = cut(content)
        if 1 < len(first) <= _FORM_CELLS and _is_label(content[slice(*first[0])].strip(_MARKED)):
            break
    else:
        return 0, []
    records: list[list[_Pair]] = [[] for _ in first[1:]]
    known = set[str]()
    rows = 0
    for _, begin, content in lines[place : place + _FORM_ROWS]:
        if not (cut is _CUTS[0] and _RULE.fullmatch(content)):
            cells = cut(content)
            words = [content[slice(*cell)].strip(_MARKED) for cell in cells]
            if len(cells) != len(first) or len(words[0]) > _LABEL_LENGTH or words[0] in known:
                break
            known.add(words[0])
            label, column = words[0], 0
            for word, (start, end) in zip(words[1:], cells[1:], strict=True):
                if len(cells) % 2 == 0 and word not in known and _is_label(word):
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
        if known or not _is_label(label) or len(value) > _LONGEST:
            break
        start, end = _strip(value, 0, len(value))
        record.append((label, (begin + start, begin + end)))
    return 2 * len(record), record


def _read_record(text: str, record: Sequence[_Pair]) -> list[tuple[int, int, str]]:
    """Return the values of a form that have a type; none where no value is sure to be one, as in
    the description of a table: `| phone | text |`."""
    labels = [label for label, _ in record]
    types = _read_columns(labels)
    words = list(map(_spell_header, labels))
    if not _THINGS.isdisjoint(words):  # the name of one
        types = ["" if word in NAMES else type_ for word, type_ in zip(words, types, strict=False)]
    if not any(types):  # a secret needs no company
        types = ["PASSWORD" if LABELS.get(word) == "PASSWORD" else "" for word in words]
        spans = [span for _, span in record]
        secrets = _read_row(text, 0, spans, types)
        return [(a, b, type_) for a, b, type_ in secrets if _is_secret(text[a:b])]
    found = [
        (start, end, type_)
        for start, end, type_ in _read_row(text, 0, [span for _, span in record], types)
        if _is_told(text[start:end], type_)
    ]
    sure = {type_ for a, b, type_ in found if _is_sure(text[a:b], type_)}
    if any(_MAIL.fullmatch(text, *span) for _, span in record):
        sure.add("EMAIL_ADDRESS")
    if not sure - {"PERSON"}:  # where somebody is publicly known to have lived is no address
        found = [(a, b, type_) for a, b, type_ in found if type_ not in _OF_PLACES]
    return found if sure else []


def _is_told(value: str, type_: str) -> bool:
    """Tell if a value of a form may be of its type: no sentence, and no number without digits."""
    if type_ == "PERSON":
        words = value.split()
        plain = len(words) > 1 and (_is_unit(value) or any(map(is_ordinary_word, words)))
        sentence = len(words) > _NAME_WORDS or not _NO_NAME_SIGNS.isdisjoint(value)
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
    return type_ in _FORMED and digits >= max(_SURE_DIGITS, letters)


_MIXED = re.compile(r"[^\W\d_]\d+[^\W\d_]|\d[^\W\d_]+\d|\w[^\w\s.,:;()/-]\w")


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
    if sign is None or not row[: sign.start()].strip() or _CODE.search(row):
        return []
    if row[sign.end() : sign.end() + 1] in "\"'`" or row.endswith(","):
        return []
    return [_strip(row, 0, sign.start()), _strip(row, sign.end(), len(row))]


_CUTS: tuple[Callable[[str], list[tuple[int, int]]], ...] = (
    *(
        lambda row, sign=sign: _split(row, sign) if sign[-1] in row else []
        for sign in (r"\|", "\t", ";")
    ),
    lambda row: _split(row, ",") if "," in row and not _CODE.search(row) else [],
    partial(_cut_at, _WIDE),
    partial(_cut_at, _SIGN),
)


def _skip_number(line: str) -> int:
    """Return where a line begins behind the number that a tool wrote before it."""
    before = _BEFORE.match(line)
    return before.end() if before else 0


def _find_aligned(text: str) -> Iterator[tuple[int, int, str]]:
    """Find cells in tables whose columns begin or end below each other."""
    end = 0
    for header in _ALIGNED.finditer(text):
        if header.start() < end:
            continue
        found: list[tuple[int, int, str]] = []
        for split in (_NAMED, _WORD):
            columns = [word.span() for word in split.finditer(header[0])]
            types = _read_columns([header[0][start:stop] for start, stop in columns])
            rows = list(_read_aligned(text, header.end(), columns)) if types else []
            cells = [cell for row in rows for cell in _read_row(*row, types)]
            found = max(found, cells, key=len)
            end = max([end, *(begin for _, begin, _ in rows)])
        yield from found


def _read_columns(cells: Sequence[str]) -> list[str]:
    """Return the type of each column or "", for a header that tells enough; else nothing.

    What stands below a single word may be anything: two columns are to be of persons, or one of
    numbers that have a form.
    """
    words = list(map(_spell_header, cells))
    if not 1 < len(words) <= _MOST or len({*words}) < len(words):
        return []
    types = _find_types(words)
    own = {type_ for type_ in types if type_ not in ("", "LOCATION", "RESIDENCE", "ORGANIZATION")}
    known = sum(bool(t) or word in PERSONAL for t, word in zip(types, words, strict=True))
    if known < 2:
        return (
            [f"{type_}?" if type_ in _FORMED else "" for type_ in types] if own & _FORMED else []
        )
    if not own:
        return []
    if not any(map(LABELS.__contains__, words)) and PERSONAL.isdisjoint({*words} - {"age"}):
        return ["PERSON?" if type_ == "PERSON" else type_ for type_ in types]
    return types


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
        if not row or len(row) > _LONGEST_ROW:
            return
        if not _UNDERLINE.fullmatch(row):
            cut = [(side, found) for side in sides if (found := side(row, columns))]
            if not cut or any(_is_label(row[a:b]) for a, b in cut[0][1]):
                return
            sides = [side for side, _ in cut]
            yield row, place, cut[0][1]


def _cut_left(row: str, columns: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cells of a row that begin below the header's words; nothing for another row."""
    starts = [start for start, _ in columns]
    if row[: starts[0]].strip() or any(row[at - 1 : at].strip() for at in starts[1:]):
        return []
    cells = [_strip(row, *span) for span in zip(starts, [*starts[1:], len(row)], strict=True)]
    full = [(cell, at) for cell, at in zip(cells, starts, strict=True) if cell[0] < cell[1]]
    return cells if len(full) > 1 and all(cell[0] == at for cell, at in full) else []


def _cut_right(row: str, columns: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cells of a row that end below the header's words; nothing for another row."""
    ends = [end for _, end in columns]
    if len(row) > ends[-1] or any(row[at : at + 1].strip() for at in ends):
        return []
    index = _INDEX.match(row, 0, ends[0]) if columns[0][0] else None
    starts = [index.end() if index else 0, *ends]
    cells = [_strip(row, *span) for span in zip(starts, ends, strict=False)]
    full = [(cell, at) for cell, at in zip(cells, ends, strict=True) if cell[0] < cell[1]]
    return cells if len(full) > 1 and all(cell[1] == at for cell, at in full) else []


def _is_label(cell: str) -> bool:
    if len(cell) > _LABEL_LENGTH:
        return False
    word = _spell_header(cell)
    return word in LABELS or word in NAMES or word in PERSONAL or word in BY_ROLE


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
        titled = part.strip(" .").lower() in _TITLES
        return len(part) > 1 and not titled and (not digits or digits > 3)  # a doctor's number
    if type_ == "STREET_ADDRESS":
        return len(part) > 3
    return digits > 3


def _strip(row: str, start: int, end: int) -> tuple[int, int]:
    cell = row[start:end]
    start += len(cell) - len(cell.lstrip())
    return start, max(start, start + len(cell.strip()))


def _fits_header(row: str, header: tuple[str, Sequence[str]]) -> bool:
    return len(_split(row, header[0])) == len(header[1])


def _find_marked_up(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the cells of tables of HTML."""
    types: list[str] = []
    for row in _TABLE_ROW.finditer(text):
        cells = list(_TABLE_CELL.finditer(text, row.end(), _find_row_end(text, row.end())))
        if row["table"]:
            types = []
        elif cells and all(cell["kind"] in "hH" for cell in cells):
            types = _find_types([spell(cell["text"]) for cell in cells])
        elif any(types) and len(cells) == len(types):
            yield from _read_row(text, 0, [cell.span("text") for cell in cells], types)


def _find_row_end(text: str, start: int) -> int:
    end = text.find("<tr", start, start + _LONGEST_ROW)
    return end if end >= 0 else min(len(text), start + _LONGEST_ROW)


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
        types = _find_types([spell(column) for column in own])
        place = insert.end()
        while any(types) and (row := _ROW.match(text, place)):
            place = row.end()
            values = list(_VALUE.finditer(row["values"]))[: len(types)]
            cells = [
                value.span("plain" if value["quoted"] is None else "quoted") for value in values
            ]
            if len(cells) == len(types):
                yield from _read_row(row["values"], row.start("values"), cells, types)


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


def _find_compared(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values that SQL compares a column of a type with: `last_name LIKE 'winter%'`."""
    for compared in _COMPARED.finditer(text) if _COMPARES.search(text) else ():
        if not _QUERY.search(text, max(0, compared.start() - _LONGEST), compared.start()):
            continue
        types = _find_types([_spell_header(compared["column"])])
        for value in _COMPARED_VALUE.finditer(text, *compared.span("values")):
            if len(value["value"]) >= _LEAST_COMPARED and is_personal_account(value["value"]):
                yield from _read_row(text, 0, [value.span("value")], types)


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
_CALLED = _words("person people human user name fullname guest contact")


def _find_arrays(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the strings of columns that code writes as arrays: `surname=c("Winter", "Lomak")`."""
    for array in _ARRAY.finditer(text) if _OPENS_STRINGS.search(text) else ():
        (type_,) = _find_types([_spell_header(array["key"])])
        if type_:
            spans = [v.span("value") for v in _STRING_VALUE.finditer(text, *array.span("values"))]
            yield from _read_row(text, 0, spans, [type_] * len(spans))


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


# A row of data with an address of e-mail: `(1, 'Desta', 'Kvamme', 'desta@fjord.no'),`
_MAILED = re.compile(r"(?m:^)(?=[^\n@]{3,400}@)[^\n]{8,1000}")
_MAIL = re.compile(r"[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_AROUND = " \t'\"`()[]{}"  # a cell
_CAPITALISED = r"[^\W\d_a-z][^\W\d_A-Z]{1,24}"
_NAME_CELL = re.compile(
    rf"{_CAPITALISED}(?:[ '’-](?:(?:de|da|del|van|von|der|den|la|le|al|bin|ben) ){{0,2}}"
    rf"{_CAPITALISED}){{0,3}}"
)
_ROW_ENDS = re.compile(r"(?<=[)\]}])[,;]\s{0,8}\Z")
_ROWS = 2  # that tell what a column holds


def _find_unlabelled(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the names in rows without a header: each has an address of e-mail in one column, which
    is made of the two names in others, or begins as one of them does where one is a given name."""
    rows: list[list[tuple[int, int]]] = []
    form: tuple[str, int, int] | None = None  # the sign, the cells of a row, and the address's
    below = 0
    for line in _MAILED.finditer(text) if "@" in text else ():
        sign = next((s for s in ("\t", ";", "|", ",") if line[0].count(s) > 1), "")
        cells = _cut_cells(line, sign) if sign else []
        mail = next((i for i, cell in enumerate(cells) if _MAIL.fullmatch(text, *cell)), -1)
        own = (sign, len(cells), mail) if mail >= 0 and len(cells) <= _MOST else None
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
        if sign == ";" or len(names) > _MOST:
            break
        if sign == "," and not depth:
            close()
            written = ""
            continue
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
        if not found["comment"] and len(written) < _LONGEST:
            written += found[0]
    close()
    return names, start


def _find_copied(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values that a dump of PostgreSQL copies into columns of a type."""
    for copy in _COPY.finditer(text):
        types = _find_types([spell(column) for column in copy["columns"].split(",")])
        place = copy.end()
        while any(types) and (row := _COPIED.match(text, place)):
            place = row.end()
            cells = _split(row[1], "\t")
            if len(cells) == len(types):
                yield from _read_row(row[1], row.start(), cells, types)


def names_nobody(cell: str) -> bool:
    """Tell if a cell sums up those above it, or says that nobody is there.

    >>> [names_nobody(cell) for cell in ("**Total**", "Average (h)", "unassigned", "Max")]
    [True, True, True, False]
    """
    return _ASIDE.sub("", cell).strip(" *_:\"'").casefold() in _NOBODY


_FIRST_ROWS = 4


def is_header(text: str, start: int, end: int) -> bool:
    """Tell if a place is in the header of a table whose first rows name a person, and holds what
    columns are called: a surname may head one, too.

    >>> text = "Name;Kalorien\\nAda Winter;2100\\n"
    >>> is_header(text, 5, 13), is_header(text, 14, 17)
    (True, False)
    """
    begin = text.rfind("\n", max(0, start - _LONGEST_ROW), start) + 1
    stop = text.find("\n", end, end + _LONGEST_ROW)
    words = [word.casefold() for word in re.split(r"\W+", text[start:end]) if word]
    if stop < 0 or "\n" in text[start:end] or not COLUMNS.issuperset(words):
        return False
    row, above = text[begin:stop], text[max(0, begin - _LONGEST_ROW) : max(0, begin - 1)]
    above = above.rpartition("\n")[2]
    if not any(row.count(sign) > above.count(sign) for sign in "|\t;,"):  # a row like that above
        return False
    header = _read_header(row[_skip_number(row) :])
    if header is None:
        return False
    sign, types = header
    for line in text[stop + 1 : stop + _LONGEST_ROW].split("\n", _FIRST_ROWS)[:_FIRST_ROWS]:
        if sign == r"\|" and _RULE.fullmatch(line):
            continue
        own = line[_skip_number(line) :]
        cells = _split(own, sign)
        if len(cells) != len(types):
            return False
        for cell, type_ in zip(cells, types, strict=True):
            name = own[slice(*cell)]
            if type_.startswith("PERSON") and (is_given(name) or _fits("PERSON?", name)):
                return True
    return False


_UNITS = _words(
    """
    abteilung afdeling agency amt bank bot buchhaltung büro center centre club committee
    company council departamento department dept desk département dział einkauf equipo firma
    gmbh group gruppe hospital kingdom königreich marketing office personalabteilung praxis
    referat republic republik sales school schule server service support system team ufficio
    university verein vertrieb verwaltung zentrum équipe
    """
)


def _is_unit(cell: str) -> bool:
    """Tell if a cell names a team or a thing: a word of it says so, or all are ordinary."""
    words = [word.lower() for word in re.findall(r"\w+", cell)]
    if not _UNITS.isdisjoint(words):
        return True
    return all(map(is_ordinary_word, words)) and not any(map(is_given, words))


_OF_MACHINE = re.compile(r"(?:0[xX])?[\da-fA-F:./]+")  # an address in memory or in a network
_BOUND = tuple(":?%$@{#<&")


def _read_row(
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
            and not _is_label(found)
            and not (alone and type_.startswith("PERSON") and names_nobody(found))
            and _fits(type_, found)
        ):
            told = type_.rstrip("?")
            yield begin + start, begin + end, "PERSON" if told == "HOLDER" else told


def _is_open(value: str) -> bool:
    """Tell if a cell of passwords stands for one, or for none: `changeme`, `your-api-key`."""
    return is_placeholder(value) and not any(map(str.isdigit, value))


def _read_header(line: str) -> tuple[str, list[str]] | None:
    """Return the sign between the cells of a header, and the type of each column or ""; None if
    a line is no header."""
    for sign, one in ((r"\|", "|"), ("\t", "\t"), (";", ";"), (",", ",")):
        if one not in line:
            continue
        cells = [_OR.sub(r"\1", line[start:end]) for start, end in _split(line, sign)]
        if not 1 < len(cells) <= _MOST or max(map(len, cells)) > _LONGEST:
            continue
        if not all(map(_HEADER.fullmatch, cells)) or any(map(_is_number, cells)):
            continue
        words = list(map(_spell_header, cells))
        types = _find_types(words)
        known = sum(
            bool(type_) or word in PERSONAL for type_, word in zip(types, words, strict=True)
        )
        # Two words with a comma between them are no header by themselves: below a name, a given
        # name that is known is asked for, and a number below a word for one.
        surnames = not _SURNAMES.isdisjoint(words) and _OF_SURNAMES.isdisjoint(words)
        surnames = surnames and ", " not in line
        if any(types) and (len(words) > 2 or known == 2 or sign != "," or surnames):
            return sign, types
        if not _FORMED.isdisjoint(types):
            return sign, [f"{type_}?" if type_ in _FORMED else "" for type_ in types]
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
    return digits >= _SURE_DIGITS and not _YEARS.fullmatch(cell.strip())


_YEARS = re.compile(r"\D{0,12}(?:19|20)\d\d(?:\D{1,3}(?:19|20)?\d\d)?\D{0,12}")


def _spell_header(cell: str) -> str:
    """Return the label in a header, also of one in camelCase."""
    word = spell(cell)
    return spell_key(cell) if word not in LABELS and " " not in cell else word


def _read_qualified(word: str) -> str:
    """Return the type of a header that says which one it is: `initial_password`, `home_phone`."""
    first, _, last = word.rpartition("_")
    return LABELS.get(last, "") if first in _QUALIFIERS else ""


def _find_types(words: Sequence[str]) -> list[str]:
    """Return the type of each column or "", by the words of its header."""
    types = [LABELS.get(word) or _read_qualified(word) for word in words]
    if "first" in words and "last" in words:
        own = ("first", "last")
        types = [
            "PERSON" if word in own else type_ for type_, word in zip(types, words, strict=True)
        ]
    others = {"", "ACCOUNT_NUMBER", "CASE_NUMBER", "LOCATION"}  # also of museums
    things = not _THINGS.isdisjoint(words)
    held = [
        word in _HOLDERS and type_ == "PERSON" for word, type_ in zip(words, types, strict=True)
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


def _split(line: str, sign: str) -> list[tuple[int, int]]:
    """Return the start and the end of each cell, without quotes and blanks around it."""
    found: list[tuple[int, int]] = []
    place, end = 0, len(line)
    if sign == r"\|":  # a row of Markdown begins and ends with the sign
        place += len(line) - len(line.lstrip())
        place += line.startswith("|", place)
        stripped = line.rstrip()
        end = len(stripped) - stripped.endswith("|")
    while len(found) <= _MOST:
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


def _is_name(cell: str) -> bool:
    """Tell if a cell may be a person's name, and no team: `Quarrie`, not `Platform`."""
    words = cell.split()
    if not 0 < len(words) <= _NAME_WORDS or not all(map(_NAME_PART.fullmatch, words)):
        return False
    return any(map(is_given, words)) or not any(map(is_ordinary_word, words))


def _fits(type_: str, cell: str) -> bool:
    if type_ == "PERSON??" and not any(map(is_given, cell.split())):
        return False
    if type_.startswith("PERSON?"):
        named = _PERSON.match(cell) or (cell.isupper() and any(map(is_given, cell.split())))
        return bool(named) and not _is_unit(cell)
    if type_ == "HOLDER?":
        return _is_name(cell)
    if type_.endswith("?"):
        return _NUMBER.fullmatch(cell) is not None
    if type_ in ("DATE_OF_BIRTH", "PHONE_NUMBER"):
        told = sum(map(str.isdigit, cell)) > 3 and len(cell) <= _LONGEST
        return told and not (type_ == "DATE_OF_BIRTH" and is_long_ago(cell))
    if type_ == "ACCOUNT_NUMBER":
        return len(cell) <= _LONGEST and not (cell.isdigit() and len(cell) < 4)
    if type_ == "PERSON":
        return any(map(str.isalpha, cell)) and len(cell) <= 60
    if type_ == "STREET_ADDRESS" and _OF_MACHINE.fullmatch(cell):
        return False
    return len(cell) <= _LONGEST
