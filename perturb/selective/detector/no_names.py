"""Tell that what the classifier takes for a name, or for an ID, is none: code, labels, cells that
sum up, amounts, verbs, abbreviations.

What a finding holds besides a name is cut off by `policy`.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.forms import is_label
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labelled import DOCUMENT_WORDS
from perturb.selective.patterns.labels import LABELS, spell
from perturb.selective.patterns.letters import is_closing, is_greeting, is_role
from perturb.selective.patterns.persons import RELATIONS, WRITTEN_TITLE, is_misspelt
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.tables import is_header, names_nobody
from perturb.selective.patterns.words import CHATTED
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = [
    "CAR",
    "CLOSING_OWN",
    "NAMES",
    "NAME_WORD",
    "NEAR",
    "OPENS",
    "OWN",
    "SMALL_WORDS",
    "WORD_BEFORE",
    "is_no_name",
]

NAMES = ("PERSON", "LOCATION", "ORGANIZATION")
_NAMED = frozenset(
    ("LOCATION", "ORGANIZATION", "OTHER_NAME")
)  # that no single ordinary word is, in small letters
_VARIABLE = re.compile(r"\b[a-z]\.")
_ATTRIBUTE = re.compile(r"([a-z])\.([a-z]\w*+)")
_MONTH = re.compile(  # and a number beside it: no place, though `mars` and `mai` may be one
    r"(?:janv(?:ier)?|févr(?:ier)?|mars|avr(?:il)?|mai|juin|juil(?:let)?|août|sept(?:embre)?"
    r"|oct(?:obre)?|nov(?:embre)?|déc(?:embre)?|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    r"|septiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile|maggio|giugno|luglio"
    r"|settembre|ottobre|novembre|dicembre)(?:\.? \d{1,4})?",
)
_CODED = re.compile(r"(?<![\w-])[A-Z]{1,5}-\d{1,8}(?!\w)")  # of a device or a standard
_CONSTANT = re.compile(r"(?<=[A-Z]);")
_MILLIONS = words_of("Mio Mrd Tsd Mill Mld Mln")
_PART_AFTER = re.compile(r"[./]\w|[_-][a-z]|::|->|\(\)")
_PART_BEFORE = re.compile(r"[\w)][./]\Z|[a-z][_-]\Z|::\Z|->\Z")
_BYTES = re.compile(r"(?:\\x[0-9a-fA-F]{2}){2}")
_CODE_SIGNS = frozenset(".([{!&*:")
_CALLED = re.compile(r"\.[A-Za-z_]|\(|\[| ?(?:=|\{|\?|==|!=|\+=|=>)(?!\w)")
_OPEN = frozenset(("TBA", "TBC", "TBD"))  # what is to be filled in
_ABBREVIATIONS = words_of(
    "Nr No Tel Abs Az Dx Hx Tx Rx PMH HTN COPD CHF GERD CAD DVT RSVP PTO ETA TOP PIN PUK DNI NIF",
    "ILIKE RLIKE Inh BGB StGB ZPO HGB AGB Tue Wed Thur Thurs Fri",
)
_AFTER_ARTICLE = re.compile(  # of a Romance language, which hardly any name has
    r"(?<!\w)(?:i|gli|le|il|lo|la|los|las|el|os|as|les|des|nos|una?|un[eo])[ \t]{1,2}\Z"
)
# Of adverbs, participles and abstract nouns: pünktlich, bloquée, dirección.
_NO_NAMES_ENDING = re.compile(
    r"\w{2,20}(?:lich|lichen?|\w\wung|ungen|heit|keit|isch|ische[nrs]?|ée|ées|ção|ções|\wmente|zione"
    r"|zioni|ción|ciones)"
)
_LONGEST_CODE = 6  # digits of a postcode
NEAR = 120  # characters on both sides of a person that the rest of the name is in
NAME_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:(?:-|['’](?![sS]\b))[^\W\d_]+)*")
_PROJECT_FILE = re.compile(
    r"(?<![A-Z_-])[A-Z]{2,20}(?:[_-][A-Z]{2,20}){0,8}\.(?:md|txt|rst)\b"
)  # CLAUDE.md
# Of a package, above its version.
_PACKAGE_BEFORE = re.compile(r"\bname[\"']? ?[:=] ?[\"']\Z")
_PACKAGE_AFTER = re.compile(r"(?:[/-][\w.-]{0,40})?[\"'],?\s{1,8}[\"']?version[\"']? ?[:=]")
_HIDDEN_FILE = re.compile(r"(?:\A|[\s/\"'`(])\.\Z")  # .htpasswd
WORD_BEFORE = re.compile(r"([^\W\d_]{2,25}) \Z")
_GETTEXT = re.compile(r"msg(?:ctxt|id|id_plural|str)\b")
_BEFORE_VERB = re.compile(
    r"(?:\A|[.;:(,\n]|\b(?i:to|please|you|must|should|can|could|would|then|and|or|not|def|let's|i|we"
    r"|they))\s{0,8}\Z"
)
_AFTER_VERB = re.compile(
    r"\s(?:the|it|this|that|as|an?|all|my|your|our|each|every|them|these|those|any)\b|[(\[]|\s{0,12}\Z"
)
# Given names that begin a request or a question, too.
_VERBS = words_of(
    """
    bill chase dash dot flip frank grant hope josh mark may nick pat pierce pitch rob skip sue
    trace wade will
    """
)
_OBJECT = re.compile(
    r" (?:the|it|this|that|all|my|your|our|each|every|them|these|those|any|both|only|everything)\b"
)
_OWNER = re.compile(r"\w['’][sS] \Z")
_LENGTHENED = re.compile(r"([^\W\d_])\1{3}", re.IGNORECASE)  # THANK YOU BROOOO
_REPEATED = re.compile(r"\b([^\W\d_]{2,20})(?: \1\b){2,9}", re.IGNORECASE)  # Will Will will
# Which animals are called jack, jenny and tom?
_ARE_CALLED = re.compile(
    r"\b(?:[Ww]hich|[Ww]hat) (?:\w+ ){1,3}(?:is|are) (?:called|named) [a-z, -]{0,80}\Z"
)
_WEEKDAY = re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? \d{1,2}\b")  # Date: Fri, 21 Nov
_QUANTITY = re.compile(  # max 20; Max wait time; Max results: not what a Max has or values
    r"(?-i:max|min)(?:\.|imum)?:? (?:of )?[~<≤]?\d"
    r"|[Mm](?:ax|in)(?:\.|imum)? (?:(?:wait|response|request|retry|file|upload|token|output|input"
    r"|context|batch|page|line|queue|pool|string|message|heap|memory|stack|body|header|image|buffer"
    r"|cache|idle|session|execution|allowed|total) )?"
    r"(?:(?:time|size|length|depth|width|height|delay|duration|number of|tokens?)\b"
    r"|(?:value|speed|limit|count|rate|level|result|line|char|character|word|attempt|item|row|page"
    r"|byte|connection|retry|retrie|trie)s?(?= ?[:=.;()\d]|\s{0,4}\Z))"
)
# German nouns have capitals; hardly a surname has so many letters and such an ending.
_COMPOUND = re.compile(
    r"[A-ZÄÖÜ][a-zäöüß]{8,24}(?:ung|ungen|heit|keit|heiten|keiten|schaft|tion|ionen|tät|ismus)"
    r"|[A-ZÄÖÜ][a-zäöüß]{11,24}en"
)
# A car and its model. Makers that are often people's names count before a class alone.
CAR = re.compile(
    r"(?:(?:VW|Volkswagen|BMW|Audi|Opel|Vauxhall|Skoda|Škoda|Dacia|Toyota|Mazda|Nissan|Mitsubishi"
    r"|Subaru|Hyundai|Volvo|Saab|Fiat|Land Rover|Mercedes[ -]Benz|Lancia|Vespa) [A-Z0-9]"
    r"|(?:(?:Seat|Cupra) (?:Leon|Ibiza|Arona|Ateca|Toledo|Alhambra|Córdoba)"
    r"|Kia (?:Niro|Ceed|Sportage|Picanto|Rio|Sorento)"
    r"|Renault (?:Clio|Zoe|Zoé|M[eé]gane|Captur|Twingo|Sc[eé]nic|Laguna|Kangoo|Kadjar|Espace))"
    r"(?![\w-]|['’](?!s\b)| [^\W\d_a-zß-ÿ])"
    r"|(?:Mercedes|Renault|Peugeot|Citro[eë]n|Ford|Honda|Suzuki|Kia|Tesla|Seat|Lexus|Chevrolet) "
    r"(?:[A-Z]{1,3}-?\d|\d|[A-Z][ -](?:Class|Klasse)\b))"
)
_MAKER = re.compile(r"\b[A-ZŠ][A-Za-zš]{1,10} \Z")  # before a model: Opel Adam
_CAPITAL_AFTER = re.compile(r" [^\W\d_a-zß-ÿ]")
OPENS = re.compile(r"(?:\A|[.!?:;\n\"“„«(•|>*#-])\s{0,8}\Z")  # a sentence, a line or a cell
# That hardly any other language has.
SMALL_WORDS = (FUNCTION_WORDS - words_of("a i do to on no so me by be an at am")) | words_of(
    """
    der die das und ist nicht ein eine einen einem einer ich sie wir ihr mit von auf für den
    dem bei beim zum zur vom seit über unter noch kein keine ihre seine hat haben war nach aus
    wie auch als aber oder wenn dass kann sind wird bitte mein dein unser ihm ihn ihnen mir mich
    dir dich uns euch sich les des est une elle lui leur eux
    nous vous avec pour dans sur qui pas cette son ses mon mes aux par plus mais sont être quel
    quelle je los las una que del con por para como pero más este esta está entre cuál qué cómo
    y en de
    """
)
CLOSING_OWN = words_of("dein deine euer eure votre ton ta tuo tua jouw jullie din")
OWN = frozenset(("mia", "mio", "mon", "ma", "my"))
_OF_DOCUMENTS = DOCUMENT_WORDS | OWN | words_of("mein meine meu minha mi mijn moje mój můj no")
_TITLED = re.compile(rf"(?<!\w)(?i:{WRITTEN_TITLE})\.? \Z")
_CELL_BEGINS = re.compile(r"(?:[\n,;|\t]|\A)[ *\"']{0,4}\Z")
_CELL_ENDS = re.compile(r"[ *\"':]{0,4}(?:[\r\n,;|\t]|\Z)")
_AFTER_DECIMAL = re.compile(r"[,;|\t]-?\d{1,6}\.\d{1,4}[,;|\t]\Z")
_DECIMALS = re.compile(r"[.,]\d{1,2}(?!\d)")
# In capitals alone: `by`, `on` and `set` stand before names, too.
_COLUMN_BEFORE = re.compile(
    r"\b(?:WHERE|SET|BY|SELECT|AND|OR|ON|COLUMN|HAVING"
    r"|(?i:INTO|TABLE|INDEX|KEY)(?: \w{1,40})? ?\()[^()\n]{0,40}?[\s,(`\"]\Z",
)
_COLUMN_AFTER = re.compile(
    r"[`\"]?(?:\s?(?:[=<>,)]|!=)|\s(?:IN|IS|LIKE|FROM|ASC|DESC|INTEGER|INT|TEXT|VARCHAR)\b)",
)
_COMPARED_BEFORE = re.compile(r"\b(?:where|set|and|or|on) [`\"]?\Z")
_COMPARED_AFTER = re.compile(r"[`\"]? ?(?:=|<>|!=|<|>) ?[\w'\"?:$@%]")


def _is_code(text: str, start: int, end: int) -> bool:
    """Tell if a finding is a single letter, or an attribute of one: `m.name`, beside
    `m.balance`; or the name of a project's file. `m.winter` alone may be somebody's handle.
    """
    if end - start == 1:
        return True
    if end - start < 4 and text[start:end].islower() and text[start - 1 : start] == "_":  # mod_jk
        return True
    hidden = _HIDDEN_FILE.search(text, max(0, start - 2), start)
    if hidden and text[start:end].islower() and not is_given(text[start:end]):
        return True
    package = _PACKAGE_BEFORE.search(text, max(0, start - 12), start)
    if package and _PACKAGE_AFTER.match(text, end) and not is_given(text[start:end]):
        return True
    if _PROJECT_FILE.match(text, start) or _GETTEXT.match(text, start):
        return True
    if text[start:end].islower() and _is_column(text, start, end):
        return True
    if text[start - 1 : start] == "." and _VARIABLE.match(text, max(0, start - 2)):
        start -= 2
    found = _ATTRIBUTE.fullmatch(text, start, end)
    if found is None:
        return False
    others = re.finditer(rf"(?<![\w.]){found[1]}\.([a-z]\w*+)", text)
    return any(other[1] != found[2] for other in others)


def _is_column(text: str, start: int, end: int) -> bool:
    """Tell if a word in small letters is a column in SQL, or a part of the name of a package:
    `WHERE nick = 9`, `org.acme.felix.log`."""
    before, after = text[max(0, start - 60) : start], text[end : end + 12]
    if re.search(r"[^\W_]\.\Z", before) and re.match(r"\.[^\W\d_]", after):
        return True
    if _COMPARED_BEFORE.search(before) and _COMPARED_AFTER.match(after):
        return True
    return _COLUMN_BEFORE.search(before) is not None and _COLUMN_AFTER.match(after) is not None


def _is_document(text: str, start: int, end: int) -> bool:
    """Tell if a finding is what the number behind it is of: `TC kimlik no`, `mijn BSN`."""
    words = NAME_WORD.findall(text, start, end)
    small = {word.lower() for word in words}
    if not small <= _OF_DOCUMENTS or small.isdisjoint(DOCUMENT_WORDS - OWN):
        return False
    borne = any(word.istitle() and is_given(word) for word in words)
    titled = _TITLED.search(text, max(0, start - 16), start) is not None
    return not borne and not titled and any(map(str.isdigit, text[end : end + 24]))


def _is_nobody(text: str, start: int, end: int) -> bool:
    """Tell if what is found as a person is a role or a closing of a letter, an exclamation, one
    word over and over, or a single word that is a quantity, a label, an abbreviation or a noun:
    `max 20`, `indirizzo`, `Nr`, `i bambini`, `Rotweinflecken`."""
    found = text[start:end]
    maker = _MAKER.search(text, max(0, start - 14), start)
    if maker and found.isalpha() and not _CAPITAL_AFTER.match(text, end):
        car = CAR.match(text, maker.start())
        if car and car.end() >= end:
            return True
    if (
        is_role(found)
        or is_closing(found)
        or found.startswith("Morbus ")
        or CAR.match(text, start)
    ):
        return True
    around = _REPEATED.finditer(text, max(0, start - NEAR), end + NEAR)
    if any(run.start() <= start and end <= run.end() for run in around):
        return True
    if _QUANTITY.match(text, start) or _WEEKDAY.match(text, start):
        return True
    if _LENGTHENED.search(found) or _is_owned(text, start, end):
        return True
    if found.islower() and _ARE_CALLED.search(text, max(0, start - NEAR), start):
        return True
    if not found.isalpha() or is_given(found):
        return False
    if _COMPOUND.fullmatch(found):
        return True
    if spell(found) in LABELS and not (found.istitle() and is_ordinary_word(found)):
        return True
    if found in _ABBREVIATIONS:
        return True
    if found in SMALL_WORDS:
        return True
    if found.islower() and (_is_hardly_name(found) or _ends_as_no_name(text, start, found)):
        return True
    return found.islower() and _AFTER_ARTICLE.search(text, max(0, start - 8), start) is not None


def _is_hardly_name(word: str) -> bool:
    """Tell if a word in small letters is hardly a name: a short form of chats, a misspelt word, or
    a relation."""
    return word in CHATTED or word in RELATIONS or is_misspelt(word)


def _ends_as_no_name(text: str, start: int, word: str) -> bool:
    """Tell if a word in small letters has an ending that few names have. A relation before it is
    followed by one of them: `kollege harnisch`."""
    if _NO_NAMES_ENDING.fullmatch(word) is None:
        return False
    before = WORD_BEFORE.search(text, max(0, start - 30), start)
    return before is None or before[1] not in RELATIONS


def _is_nobodys_cell(text: str, start: int, end: int) -> bool:
    """Tell if a finding is all of a cell that names nobody, `Total,,42`, or begins one in the
    header of a table, `Name;Stunden`."""
    if not _CELL_BEGINS.search(text, max(0, start - 5), start):
        return False
    found = text[start:end]
    if _CELL_ENDS.match(text, end) and names_nobody(found):
        return True
    return is_header(text, start, end)


def _is_figure(text: str, start: int, end: int, type_: str) -> bool:
    """Tell if a finding is a number that names nobody. Of a place, one may be a house's; an amount
    or the number of a row is not."""
    found = text[start:end]
    if any(map(str.isalpha, found)):
        return False
    if type_ != "LOCATION" or "," in found or len(found) > _LONGEST_CODE:
        return True
    numbers_row = text[start - 1 : start] in ("", "\n") and text[end : end + 1] in tuple(",;|\t")
    if numbers_row or _DECIMALS.match(text, end) is not None:
        return True
    beside = _AFTER_DECIMAL.search(text, max(0, start - 16), start)  # 68.2,643801
    return beside is not None and text[end : end + 1] in ("", "\n", "\r", *",;|\t")


def _is_no_thing(text: str, start: int, end: int, type_: str, unlikely: bool) -> bool:
    """Tell if what is found as a place, a firm or a work is an ordinary word in small letters, or
    one that is unlikely to be a name, a part of a technical name, the key of a record, a constant,
    a month, or an abbreviation: `partir`, `libgui.so`, `"sku":`, `= WAL;`, `févr. 118`, `TH-0031`,
    `Mio. €`."""
    found = text[start:end]
    if found.islower():
        plain = _is_small_word(found) or unlikely or _MONTH.fullmatch(found)
        return bool(plain) or _is_joined(text, start, end)
    constant = _CONSTANT.match(text, end) and text[max(0, start - 2) : start] == "= "
    coded = type_ != "OTHER_NAME" and _CODED.match(text, start)
    return bool(_MONTH.fullmatch(found) or constant or coded) or found in _MILLIONS


def _is_joined(text: str, start: int, end: int) -> bool:
    """Tell if a word in small letters is a part of a technical name, or a key of JSON."""
    if not text[start:end].isascii() or not text[start:end].replace("_", "").isalnum():
        return False
    before, after = text[max(0, start - 2) : start], text[end : end + 3]
    if _PART_AFTER.match(after) or _PART_BEFORE.search(before):
        return True
    return before[-1:] in ("'", '"') and re.match(r"['\"] ?:", after) is not None


def _is_identifier(text: str, start: int, end: int) -> bool:
    """Tell if what is found as an ID names a thing of a program, or is a part of escaped bytes:
    `db.Items`, `HttpMethod.Get`, `b"\\x1f\\x8b"`."""
    if text[start - 1 : start] == "\\" and _BYTES.match(text, start - 1):
        return True
    found = text[start:end]
    if not (found.isascii() and found.isalpha()):
        return False
    joined = text[start - 1 : start] in _CODE_SIGNS or _CALLED.match(text, end) is not None
    return joined and (end - start < 4 or not (found.isupper() or found.islower()))


def _is_verb(text: str, start: int, end: int) -> bool:
    """Tell if an ordinary word is a verb, or the name of a function: `please mark it`, `Mark the
    steps`."""
    found = text[start:end]
    if _is_small_word(found):
        before = _BEFORE_VERB.search(text, max(0, start - 12), start)
        return before is not None and _AFTER_VERB.match(text, end, end + 12) is not None
    opens = found.lower() in _VERBS and OPENS.search(text, max(0, start - 8), start)
    if opens and found == "Bill" and text.startswith(" to:", end):
        return True
    return bool(opens) and _OBJECT.match(text, end, end + 12) is not None


def _is_owned(text: str, start: int, end: int) -> bool:
    """Tell if an ordinary word in small letters is what somebody has: `Uncle Ben's rice`."""
    return _is_small_word(text[start:end]) and bool(_OWNER.search(text, max(0, start - 4), start))


def _is_small_word(found: str) -> bool:
    """Tell if a finding is an ordinary word in small letters: `reading` is no town, `and` between
    two firms is none."""
    return found.isalpha() and found.islower() and is_ordinary_word(found)


def is_no_name(text: str, start: int, end: int, type_: str, *, unlikely: bool) -> bool:
    """Tell if a finding of a type names nobody and nothing.

    Args:
        unlikely: whether its words are hardly ones of the type.
    """
    return (
        _is_code(text, start, end)
        or is_label(text, start, end)
        or text[start:end] in _OPEN
        or (type_ in NAMES and _is_document(text, start, end))
        or is_greeting(text, start, end)
        or (type_ == "PERSON" and _is_nobody(text, start, end))
        or (type_ in NAMES and _is_nobodys_cell(text, start, end))
        or (type_ in ("PERSON", "LOCATION") and _is_figure(text, start, end, type_))
        or (type_ in _NAMED and _is_no_thing(text, start, end, type_, unlikely))
        or (type_ == "ID" and _is_identifier(text, start, end))
        or _is_verb(text, start, end)
    )
