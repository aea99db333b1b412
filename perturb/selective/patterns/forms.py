"""Find what is filled into the fields of forms by the labels before it: `Имя: Иван`,
`"住所": "…"`; and the names in lists of persons: `"kids": ["Ione", "Caspian"]`, `our sons Tobe
and Idris`.

A label in a language that programs are not written in is evidence. One that programs use as well
(`name`, `address`) counts beside another field about a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from perturb.selective.patterns.dates import is_long_ago
from perturb.selective.patterns.given import (
    begins_with_family,
    has_family_first,
    is_given,
    is_ordinary_word,
)
from perturb.selective.patterns.labels import (
    LABELS,
    NAMES,
    OTHER,
    is_label_alone,
    is_word_of_code,
    spell,
    spell_key,
)
from perturb.selective.patterns.persons import CAPITALS
from perturb.selective.patterns.scripts import has_surname
from perturb.selective.patterns.settings import is_placeholder
from perturb.selective.patterns.shape import Facts, any_listed, any_of, words_of
from perturb.selective.patterns.words import PARTICLES
from perturb.text.marks import MARKS, WORD

__all__ = ["find_fields", "find_listed", "is_in_list", "is_label"]

_COLON = re.compile("[:：]|(?<![=!<>:])=(?![=>])")
_BEFORE = 48  # characters before a colon that its label is in
_NEAR = 240  # characters between two fields of one form
_REST = re.compile(rf"[\w{MARKS} \t\"'\\*]*")  # of a label, and the signs around it
_TO_LINE = re.compile(r".*(?:[\n,;|{(\[>\t\r]|\\[nrt])", re.DOTALL)
_QUOTED = re.compile(r"(\\{0,3}[\"'])((?:(?!\1)[^\\\n]){1,48})\1\Z")
_DECLARES = re.compile(r"\A(?:const|let|var|val) ")
# In which language a name is written.
_LANGUAGES = words_of(
    """
    native local latin original arabic chinese cyrillic english farsi georgian greek hangul hebrew
    hindi japanese kana kanji katakana khmer korean persian russian thai ukrainian ar en el fa he
    hi hy ja ka kh km ko ru th ua uk zh cn jp kr
    """
)
_EDGES = " \t*_#>•·–—-"
_BLANKS = re.compile(r"[ \t*_]*+(?:\[\s{0,20}(?=\\{0,3}[\"']))?")  # or a list of strings
_STRING = re.compile(r"(\\{0,3}[\"'])(?P<value>(?>(?:(?!\1)[^\\\n]){1,200}))")
_PLAIN = re.compile(r"(?P<value>(?>(?:(?!  |\t|\\[nrt])[^\n|;<>\"{}\r]){1,200}))")
_NEXT = re.compile(r"[,،、，] ?(?=[^,،、，:：\n]{1,40}[:：])")
_NAME = re.compile(rf"[^\W\d_](?>(?:[^\W\d_]|[{MARKS}\u200c\u200d .,'’ʼ·・–\u05be-])*)")
_AFTER_NAME = re.compile(r"[(（]|입니다|이에요|예요")
# What a group of people is called by: API Team, SRE On-Call Support.
_GROUP = re.compile(
    r"(?-i:[A-Z]{2,6})(?: [A-Za-z-]{2,20}){0,3} "
    r"(?:teams?|support|groups?|dep(?:artmen)?t|(?:help)?desk|services?|operations|ops|admins?"
    r"|administrators?|engineering|developers|platform|committee|office|squad|guild|maintainers)",
    re.IGNORECASE,
)
_CALLED = re.compile(r"[+(]?\d[\d ()./–-]{4,24}\d")
_SIGNS = re.compile(r"[@{}<>$%=]|://|0x")
_ENDS = re.compile(r"[。！？!?]|\w{5}\. ")  # of a sentence
# Chinese, Japanese and Korean: particles of a sentence, departments and shops.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NO_UNSPACED = re.compile(
    "[，,、；;]|(?<![ \u3000])[はをがでにの](?=[^ ]{2})"
    "|[部課课室店局所社司門门팀처]\\Z|[\uac00-\ud7af]{6}"
    "|.{3}(?:요|다)\\Z"
)
_LONGEST_UNSPACED = 8  # characters between two dots
_NATIVE = re.compile(rf"(?:[^\W\d_a-zA-Z]|[{MARKS}])(?:[^a-zA-Z]*[^\W\d_a-zA-Z]){{3}}")
# What forms say where nothing is filled in.
_EMPTY = any_of(
    """
    ооо оао зао тоо тов гмбх введите укажите заполните обязательно необязательно не_указан
    нет_данных неизвест введіть вкажіть невідом въведете εισάγετε υποχρεωτικ wpisz podaj brak
    zadejte vyplňte giriniz zorunlu yok nhập bắt_buộc không masukkan wajib tidak_ada 请 請 必填
    选填 填写 无 無 未知 匿名 ご記入 入力 必須 任意 なし 입력 필수 선택 없음 أدخل ادخل مطلوب
    اختياري غير هنا הזן הכנס חובה אין دلخواه الزامی وارد दर्ज आवश्यक भरें กรอก ระบุ ไม่มี
    saisir requis obligatoire ingrese obligatorio inserire pflichtfeld eingeben invullen
    verplicht tbd tba tbc
    """
)
_IS_EMPTY = re.compile(_EMPTY, re.IGNORECASE)


class _Field(NamedTuple):
    start: int
    end: int
    type: str
    sure: bool


def find_fields(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, the end and the type of each value of a form's field.

    >>> text = "Имя: Иван Петров\\nВозраст: 36"
    >>> [(text[start:end], type_) for start, end, type_ in find_fields(text)]
    [('Иван Петров', 'PERSON')]
    """
    fields = list(_read_fields(text))
    for place, field in enumerate(fields):
        if field.type and (field.sure or _has_company(fields, place)):
            yield field.start, field.end, field.type


def is_label(text: str, start: int, end: int) -> bool:
    """Tell if a part of a text lies in the label of a field.

    >>> [is_label("Имя: Иван", *place) for place in ((0, 3), (5, 9))]
    [True, False]
    """
    colon = _COLON.search(text, end, end + _BEFORE)
    if colon is None or not _REST.fullmatch(text, end, colon.start()):
        return False
    before = text[max(0, colon.start() - _BEFORE) : colon.start()]
    label = _read_label(before)
    return end - start < _BEFORE and (label in LABELS or label in NAMES)


def _has_company(fields: list[_Field], place: int) -> bool:
    """Tell if another field of another type stands near by."""
    field = fields[place]
    return any(
        other.type != field.type and abs(other.start - field.start) < _NEAR
        for other in fields[max(0, place - 4) : place + 5]
    )


def _read_fields(text: str) -> Iterator[_Field]:
    for colon in _COLON.finditer(text):
        label = _read_label(text[max(0, colon.start() - _BEFORE) : colon.start()])
        bare = "_".join(word for word in label.split("_") if word not in _LANGUAGES)
        type_ = "PERSON" if bare in NAMES else LABELS.get(bare)
        if type_ is None:
            continue
        value = _read_value(text, colon.end(), type_)
        if value is None:
            continue
        start, end = value
        if type_ == OTHER or _fits(type_, bare, text[start:end]):
            yield _Field(start, end, type_, _is_sure(type_, label, bare, text[start:end]))


def _is_sure(type_: str, label: str, bare: str, value: str) -> bool:
    """Tell if a label and its value need no other field beside them."""
    if type_ == "STREET_ADDRESS":
        return not is_word_of_code(bare) and any(map(str.isdigit, value)) and "," in value
    if type_ != "PERSON":
        return not is_word_of_code(bare)
    foreign = value[0] > "\u0370" and (bare != label or is_word_of_code(bare))
    if bare in NAMES and bare == label:  # of anything
        named = not label.isascii() and any(map(is_given, WORD.findall(value)))
        return named or has_surname(value)
    return foreign or not is_word_of_code(bare)


def _read_label(before: str) -> str:
    """Return the label before a colon, spelled; it begins a line, a string or a part of a list."""
    before = before.rstrip(" \t*_")
    if quoted := _QUOTED.search(before):
        return spell_key(quoted[2])
    if begun := _TO_LINE.match(before):
        before = before[begun.end() :]
    return spell_key(_DECLARES.sub("", before.lstrip(_EDGES)))


def _read_value(text: str, place: int, type_: str) -> tuple[int, int] | None:
    place = _BLANKS.match(text, place).end()  # type: ignore[union-attr]
    found = _STRING.match(text, place) or _PLAIN.match(text, place)
    if found is None:
        return None
    (start, end), value = found.span("value"), found["value"]
    if type_ not in ("PERSON", "STREET_ADDRESS"):
        value = re.split("[,،、，]", value)[0]
    elif following := _NEXT.search(value):
        value = value[: following.start()]
    if type_ == "PERSON":
        value = _AFTER_NAME.split(value)[0]
    value = value.rstrip(" .*_")
    start += len(value) - len(value.lstrip())
    end = start + len(value.lstrip())
    return (start, end) if start < end else None


def _fits(type_: str, label: str, value: str) -> bool:
    """Tell if a value has the form of its type, and is no other label and no placeholder."""
    words = WORD.findall(value)
    if is_placeholder(value) or _IS_EMPTY.match(value):
        return False
    if any(map(is_label_alone, words)) or (words and all(spell(word) in LABELS for word in words)):
        return False
    digits = sum(map(str.isdigit, value))
    if type_ == "PERSON":
        return _is_name(label, value, words)
    if type_ == "PHONE_NUMBER":
        return _CALLED.fullmatch(value) is not None
    if type_ == "DATE_OF_BIRTH":
        return digits > 4 and len(value) < 40 and not is_long_ago(value)
    if type_ in ("ACCOUNT_NUMBER", "CASE_NUMBER"):
        return digits > 3 and len(value) < 30 and not _SIGNS.search(value)
    if type_ == "NATIONAL_ID":
        return digits > 4 and len(value) < 40 and not _SIGNS.search(value)
    if type_ == "STREET_ADDRESS":
        return _is_address(value, words, digits)
    return False  # other types are read in tables and settings


def _is_address(value: str, words: list[str], digits: int) -> bool:
    """Tell if words are an address: with a number, or in a script that programs are not written
    in; of a script with capitals, two of them."""
    if sum(map(len, words)) < 4 or _SIGNS.search(value) or _ENDS.search(value):
        return False
    if digits:
        return " " in value or not value.isascii()
    capitals = [word for word in words if word[0] != word[0].lower()]
    cased = any(word[0] != word[0].upper() for word in words)
    return _NATIVE.search(value) is not None and (len(capitals) > 1 or not (capitals or cased))


def _is_name(label: str, value: str, words: list[str]) -> bool:
    if len(value) > 60 or len(words) > 6 or not _NAME.fullmatch(value):
        return False
    if sum(map(len, words)) < 2:
        return False
    if _UNSPACED.search(value):
        longest = max(map(len, re.split("[·・ ]", value)))
        return longest <= _LONGEST_UNSPACED and not _NO_UNSPACED.search(value)
    small = any(word[0] != word[0].title() and word not in PARTICLES for word in words)
    if small and not any(map(is_given, words)):
        return False
    if _GROUP.fullmatch(value):
        return False
    plain = [is_ordinary_word(word) for word in words]
    return not (all(plain) and (len(plain) > 1 or is_word_of_code(label)))


# -- lists of persons ----------------------------------------------------------------------------
_RELATED = """
    kids siblings grandchildren kinder geschwister enkel enfants hijos hijas nietos hermanos figli
    figlie fratelli nipoti filhos filhas irmãos netos kinderen kleinkinderen dzieci děti børn
    lapset gyerekek çocuklar copii дети діти brothers sisters sons daughters family_members
"""
# Of people, or of the parts of programs.
_GROUPS = words_of(
    """
    children barn given given_names members participants attendees guests authors speakers
    assignees reviewers watchers players students teachers employees patients passengers tenants
    residents witnesses volunteers invitees recipients contacts people persons users friends crew
    staff team_members mitglieder teilnehmer gäste mitarbeiter membres invités participants
    miembros invitados participantes membros membri partecipanti leden deelnemers
    """
)
_RELATED_KEYS = words_of(_RELATED)
_LIST = re.compile(
    r":[ \t]*(?:\[(?P<items>[^\[\]{}]{2,800})\]"
    r"|\r?\n(?P<block>(?:[ \t]*- [^\n:{}\[\]]{2,60}(?:\n|\Z)){1,40}))"
)
_ITEM = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS} .'’-]){{1,50}}")
_BREAK = re.compile(r"[,\n]")
_PROSE_WORDS = f"{_RELATED} children söhne töchter fils filles bambini barn twins zwillinge"
_LISTED_NAME = (
    rf"[{CAPITALS}][^\W\d_]{{1,20}}(?:-[{CAPITALS}]?[^\W\d_]{{1,20}})?"
    rf"(?: [{CAPITALS}][^\W\d_]{{1,20}})?"
)
_AGE = r"(?: ?\(\d{1,2}\b[^()\n]{0,20}\)|, (?:aged )?\d{1,2}(?!\w))?"
_PROSE = re.compile(
    rf"(?<!\w)(?P<own>(?:my|our|two|three|four|meine|unsere|zwei|drei|vier|mes|nos|deux|trois"
    r"|mis|nuestr[oa]s|dos|tres|os meus|i miei|onze|mijn) )?"
    rf"(?:{any_of(_PROSE_WORDS)})(?!\w)"
    r"(?: (?:are|sind|sont|son|sono|zijn|called|named|heißen|heten|(?:are|sind) called|namens))?"
    rf":?,? ?[(–—]? ?(?P<items>(?-i:{_LISTED_NAME}){_AGE}"
    rf"(?:,? (?:and|und|et|y|e|en|og|och|i|ja|és|&) (?-i:{_LISTED_NAME}){_AGE}"
    rf"|, (?-i:{_LISTED_NAME}){_AGE}){{0,8}})(?![\w'’-])",
    re.IGNORECASE,
)
_LISTED_CLUE = any_listed(_PROSE_WORDS)
# Who was there, in minutes; the second are also words of other sentences.
_PRESENT = """
    anwesend abwesend entschuldigt fehlend apologies_from attended_by närvarande frånvarande
    aanwezig afwezig obecni nieobecni tilstede excusés excusées ausentes asistentes assenti
"""
_PRESENT_ALSO = """
    present absent apologies excused in_attendance attending présents présentes absents absentes
    presentes presenti
"""
_ATTENDING = re.compile(
    rf"(?<!\w)(?:{any_of(_PRESENT)}(?: ?:)?|{any_of(_PRESENT_ALSO)}(?: ?:| (?:are|were|was))) "
    r"(?!(?:mmes|mlles|mm|mesdames|messieurs|messrs|cllrs|herren|herr|frau|mr|mrs|ms|dr)\b)"
    rf"(?P<items>(?-i:{_LISTED_NAME})(?:(?:, ?|,? (?:and|und|et|y|e|en|og|och|i|&) )"
    rf"(?-i:{_LISTED_NAME})){{1,20}})(?![\w'’-])",
    re.IGNORECASE,
)
_ATTENDING_CLUE = any_listed(_PRESENT, _PRESENT_ALSO)
_LISTED_NAMES = re.compile(_LISTED_NAME)


# Lines of one form: `High Jump – Zaki Basheer`, `198  Grace Njuguna`, `- Grace Njuguna (12 pts)`.
_NAME_IN_ROW = (
    rf"(?P<name>[{CAPITALS}][^\W\d_]{{1,20}}"
    r"(?: (?:(?:van|von|de|da|di|del|der|den|la|bin|al|el|dos|du) ){0,2}"
    rf"[{CAPITALS}][^\W\d_]{{0,20}}"
    rf"(?:[-'’][{CAPITALS}]?[^\W\d_]{{1,20}})?){{1,2}})"
)
_SIGN = r"(?:[^\w\n]|[\d_]|(?<=\d)x)"
_ROW = re.compile(
    rf"(?m:^)[^\n]{{2,60}}?[ \t]{{1,3}}[–—-][ \t]{{1,3}}{_NAME_IN_ROW}[ \t]{{0,4}}(?=\r?\n|\Z)"
)
_COUNTED = re.compile(
    rf"(?m:^)(?P<lead>{_SIGN}{{0,24}}?){_NAME_IN_ROW}"
    rf"(?P<tail>(?:(?![-'’]?\w){_SIGN}{{1,30}}(?:\d ?[a-z]{{1,8}}{_SIGN}{{0,4}})?)?)(?=\r?\n|\Z)"
)
_ROWS = 3  # at least


def _find_rows(text: str) -> Iterator[tuple[int, int]]:
    """Yield the names in lines of one form, where a third of them begin with given names, and no
    more with ordinary words, and at most half end in one."""
    for form in (_ROW, _COUNTED):
        rows: list[tuple[int, int]] = []
        last, before = -1, None
        for found in form.finditer(text):
            shape = _read_shape(found) if form is _COUNTED else None
            if rows and (shape != before or text[last : found.start()].strip()):
                yield from _choose_rows(text, rows)
                rows = []
            rows.append(found.span("name"))
            last, before = found.end(), shape
        yield from _choose_rows(text, rows)


def _read_shape(row: re.Match[str]) -> tuple[bool, bool, str]:
    """Return what a line has around its name: whether a number stands before it, and behind it,
    and the word after that number, in the singular."""
    lead, tail = row["lead"], row["tail"]
    unit = "".join(filter(str.isalpha, tail)).rstrip("s")
    return any(map(str.isdigit, lead)), any(map(str.isdigit, tail)), unit


class _Row(NamedTuple):
    """Tell what the name in a line begins and ends with."""

    known: bool  # with a given name, or a surname where those stand first
    opens: bool  # with an ordinary word
    ends: bool  # in one


def _read_row(name: str) -> _Row:
    words = name.split()
    if begins_with_family(words):
        return _Row(has_family_first(words), False, False)
    opens, ends = is_ordinary_word(words[0]), is_ordinary_word(words[-1])
    return _Row(is_given(words[0]) and not opens, opens, ends)


def _choose_rows(text: str, places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    rows = [_read_row(text[start:end]) for start, end in places]
    known, opens, ends = (sum(each) for each in zip(*rows, strict=True)) if rows else (0, 0, 0)
    if known < 2 or 3 * known < len(rows) or opens > known or len(rows) < _ROWS:
        return
    if 2 * ends <= len(rows):  # not Pascal Prime, Turing Classic
        yield from (at for at, row in zip(places, rows, strict=True) if not row.opens & row.ends)


# the Vasseurs (Nikhil, Asha, Dev)
_HOUSEHOLD = re.compile(
    rf"(?<!\w)[Tt]he (?P<family>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,20}}s)"
    rf" \((?P<items>{_LISTED_NAME}(?:(?:, | and | & |, and ){_LISTED_NAME}){{1,8}})\)"
)


def _find_households(text: str) -> Iterator[tuple[int, int]]:
    """Yield a family's name and those in it, where half of them are given names."""
    for found in _HOUSEHOLD.finditer(text):
        items = [word.span() for word in _LISTED_NAMES.finditer(text, *found.span("items"))]
        known = sum(is_given(text[start:end].split()[0]) for start, end in items)
        if 2 * known >= len(items) and not is_ordinary_word(found["family"]):
            yield from (found.span("family"), *items)


# Mmes Vasseur, LE BRUN et Roche
_PLURALS = (
    "mmes mlles melles mesdames messieurs mm messrs cllrs councillors herren señores señoras"
)
_TITLED_NAME = (
    rf"(?:(?:D[EU]|L[EA]|VAN|VON|d[eu]|l[ea]|van|von) )?[{CAPITALS}][^\W\d_]{{1,20}}"
    rf"(?:[-’'][{CAPITALS}][^\W\d_]{{1,20}})?(?: [{CAPITALS}][^\W\d_]{{1,20}}){{0,2}}"
)
_TITLED = re.compile(
    rf"(?<!\w)(?:Mmes|Mlles|Melles|Mesdames|Messieurs|(?<!\d )MM\.|Messrs\.?|Cllrs|Councillors"
    rf"|Herren|Señor(?:es|as)) (?P<items>{_TITLED_NAME}"
    rf"(?: ?, ?{_TITLED_NAME}|,? (?:et|and|und|y|&) {_TITLED_NAME}){{0,12}})(?![\w'’-])"
)
_TITLED_NAMES = re.compile(_TITLED_NAME)
_TITLED_CLUE = any_listed(_PLURALS)
_NO_TITLED = words_of("messieurs mesdames mesdemoiselles dames damen herren")
_OPENED = re.compile(
    rf"(?<!\w){any_of(_RELATED)}[\"']?(?:\s?:\s?[(\[]?|\s\(|:\s{{1,8}}- )[\"']?"
    r"(?:[\w-]{1,20}[\"']?(?:, ?|\s{1,8}- )[\"']?){0,6}\Z",
    re.IGNORECASE,
)


def is_in_list(text: str, low: int, start: int) -> bool:
    """Tell if a list of somebody's children or siblings goes on at a place of a text.

    >>> [is_in_list(text, 0, len(text)) for text in ('"kids": ["Ione", "', '"cities": ["')]
    [True, False]
    """
    return _OPENED.search(text, low, start) is not None


def find_listed(facts: Facts) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each name in a list of persons.

    >>> text = "Our kids: Adanna, Tobe"
    >>> [text[start:end] for start, end in find_listed(Facts(text))]
    ['Adanna', 'Tobe']
    """
    text = facts.text
    for found in _LIST.finditer(text):
        label = _read_label(text[max(0, found.start() - _BEFORE) : found.start()])
        if label in _RELATED_KEYS or label in _GROUPS:
            group = "block" if found["items"] is None else "items"
            items = list(_read_items(found[group], found.start(group)))
            yield from _choose(text, items, sure=label in _RELATED_KEYS)
    yield from (*_find_rows(text), *_find_households(text))
    for found in _TITLED.finditer(text) if _TITLED_CLUE(facts) else ():
        items = [name.span() for name in _TITLED_NAMES.finditer(text, *found.span("items"))]
        yield from (item for item in items if text[slice(*item)].lower() not in _NO_TITLED)
    for found in _ATTENDING.finditer(text) if _ATTENDING_CLUE(facts) else ():
        items = [word.span() for word in _LISTED_NAMES.finditer(text, *found.span("items"))]
        yield from _choose(text, items, sure=True)
    for found in _PROSE.finditer(text) if _LISTED_CLUE(facts) else ():
        items = [word.span() for word in _LISTED_NAMES.finditer(text, *found.span("items"))]
        yield from _choose(text, items, sure=bool(found["own"]), alone=_has_age(found["items"]))


def _choose(
    text: str, items: Sequence[tuple[int, int]], sure: bool, alone: bool = True
) -> Iterator[tuple[int, int]]:
    """Yield the items of a list of persons: all where given names are among them; of a list that
    can hold nobody else, also those that are no ordinary words."""
    known = [is_given(text[start:end].split()[0]) for start, end in items]
    ordinary = sum(_is_ordinary(text[slice(*item)]) for item in items)
    unknown = 2 * ordinary < len(items)
    enough = sum(known) * (3 if sure or unknown else 2) >= len(items)
    if enough and (sure or alone or len(items) > 1):
        yield from items
    elif sure:
        yield from (item for item in items if not _is_ordinary(text[slice(*item)]))


def _read_items(items: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the items of a list that have the form of a name."""
    for part in _BREAK.split(items):
        item = part.strip(" \t\r\\\"'`-")
        words = item.split()
        formed = _ITEM.fullmatch(item) and len(words) < 5 and not is_placeholder(item)
        if formed and all(word[0] == word[0].title() or word in PARTICLES for word in words):
            start = place + part.find(item)
            yield start, start + len(item)
        place += len(part) + 1


def _is_ordinary(name: str) -> bool:
    return all(map(is_ordinary_word, name.split()))


def _has_age(items: str) -> bool:
    return any(map(str.isdigit, items))
