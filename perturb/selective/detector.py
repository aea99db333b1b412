"""Mark names and other personal data with the bundled token classifier."""

from __future__ import annotations

import copy
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.release import Span
from perturb.sanitizer import Policy
from perturb.selective.edges import cut_edges
from perturb.selective.patterns.forms import is_label
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.labelled import DOCUMENT_WORDS
from perturb.selective.patterns.labels import LABELS, is_label_alone, spell
from perturb.selective.patterns.labels import NAMES as LABEL_NAMES
from perturb.selective.patterns.letters import is_closing, is_greeting, is_role, skip_lead
from perturb.selective.patterns.persons import (
    OWN_KIN,
    RELATIONS,
    WRITTEN_TITLE,
    is_misspelt,
)
from perturb.selective.patterns.settings import is_ordinary_word
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.tables import is_header, names_nobody
from perturb.selective.patterns.words import AFTER_PARTICLES, CHATTED, PARTICLES
from perturb.selective.token_model import OUTSIDE, TokenModel, TokenWord, load_token_model
from perturb.text.fold import Reading, fold_name, read
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = ["DETECTED", "NAMES", "DetectorPolicy"]

# The types that the classifier tells apart, as Presidio names them where it has the type.
DETECTED = (
    "PERSON",
    "LOCATION",  # also addresses
    "ORGANIZATION",
    "DATE_TIME",  # also durations
    "DEMOGRAPHIC",  # age, profession, nationality, religion, illness
    "QUANTITY",  # also amounts of money
    "ID",
    "OTHER_NAME",  # of a work, an event or a law
)
NAMES = ("PERSON", "LOCATION", "ORGANIZATION")
_FORMED = frozenset((*NAMES, "OTHER_NAME"))  # that have capitals, where a language has them
_NAMED = _FORMED - {"PERSON"}  # that no single ordinary word is, in small letters
_VARIABLE = re.compile(r"\b[a-z]\.")
_ATTRIBUTE = re.compile(r"([a-z])\.([a-z]\w*+)")
_CAPITAL = re.compile(r"[^\W\d_a-z][^\W\d_]{1,20}")
_SMALL = 0.4  # the least probability of a place, a firm or a work in small letters
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
_AND = frozenset(("&", "and", "or", "und", "oder", "et", "ou", "y", "e", "o"))
_AND_PERSONS = _AND - {"&", "y", "e", "o"}  # García y Vega
_LONGEST_CODE = 6  # digits of a postcode
_LONGEST_NAME = 5  # words of a place or a firm in capitals
_NEAR = 120  # characters on both sides of a person that the rest of the name is in
_PARTICLES = PARTICLES | AFTER_PARTICLES
_NAME_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:(?:-|['’](?![sS]\b))[^\W\d_]+)*")
_GENITIVE = re.compile(r"\w['’][sS]\Z")
# Jackson Women's Health Organization
_PEOPLE = re.compile(
    r"(?:Wom[ae]n|Men|Children|People|Girls|Boys|Workers|Veterans)['’][sS]? [A-Z]"
)
_LAST_CELL = re.compile(r"(?:[,;|][^\s,;|]{0,40}|\t[^\t\n]{0,40})\Z")
_WRAPPED = 50  # characters: a line that prose fills before it goes on has more
_BLOCK, _SLACK = 400, 8  # characters around a line in which the longest is looked for
_LATIN = r"[A-Z\u00c0-\u00de\u0100-\u017f][a-z\u00df-\u024f]{2,30}+"
_LINK = r" (?:d[aei]|d[oa]s|de[lnr]|della|van|van de[nr]?|von|von der|te[nr]|zu) "
_PAIR = re.compile(
    rf"(?<![\w'’.-])(?=(?P<part>{_LATIN}(?:[ _]|{_LINK}){_LATIN}(?:-{_LATIN})?)"
    rf"(?!\w))"
)
_LISTED = re.compile(
    rf"(?<!\w){_CAPITAL.pattern}(?:, {_CAPITAL.pattern}){{1,20}},? "
    rf"(?:and|or|&|und|oder|et|ou|y|e|o) {_CAPITAL.pattern}(?!\w)"
)
_PROJECT_FILE = re.compile(
    r"(?<![A-Z_-])[A-Z]{2,20}(?:[_-][A-Z]{2,20}){0,8}\.(?:md|txt|rst)\b"
)  # CLAUDE.md
# Of a package, above its version.
_PACKAGE_BEFORE = re.compile(r"\bname[\"']? ?[:=] ?[\"']\Z")
_PACKAGE_AFTER = re.compile(r"(?:[/-][\w.-]{0,40})?[\"'],?\s{1,8}[\"']?version[\"']? ?[:=]")
_HIDDEN_FILE = re.compile(r"(?:\A|[\s/\"'`(])\.\Z")  # .htpasswd
_SAINT = re.compile(r"(?<!\w)(?:San|Sankt|Santa|Santo|São|Saint|St\.?) \Z")
_GLOSS = re.compile(r"[*_]{0,3} ?[(（](?P<part>[^\W\d_\u0000-\u036f][^()\n]{1,24})[)）]")
_COUPLE = re.compile(
    r"(?<![\w'’-])(?P<given>[^\W\d_a-z][^\W\d_]{1,20}) (?:und|and|&|et|y|e|en|i|og|och|u\.) \Z"
)
_NEIGHBOUR = re.compile(r", (?P<given>[^\W\d_a-z][^\W\d_A-Z]{1,20})(?=\s*(?:[;\n)]|\Z))")
_WORD_BEFORE = re.compile(r"([^\W\d_]{2,25}) \Z")
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
# Czech and Slovak, Polish, Hungarian, Finnish, Turkish, Croatian, Romanian.
_QUESTIONS = words_of(
    """
    kdo kdy kde jak jaký jaká jaké proč který která které kolik čí kto kedy prečo ktorý ktorá koľko
    gdzie kiedy dlaczego czy jaki jaka jakie który która które ile czyj czyja kim czym
    mikor miért hogyan melyik mennyi hány kuka mikä missä milloin miksi miten mitkä ketkä paljonko
    kimin nerede neden nasıl hangi tko gdje kada zašto koliko unde când cum cât câți
    """
)
_CAPITAL_WORD = re.compile(r"(?<= )[^\W\d_a-zß-ÿ]")
# German nouns have capitals; hardly a surname has so many letters and such an ending.
_COMPOUND = re.compile(
    r"[A-ZÄÖÜ][a-zäöüß]{8,24}(?:ung|ungen|heit|keit|heiten|keiten|schaft|tion|ionen|tät|ismus)"
    r"|[A-ZÄÖÜ][a-zäöüß]{11,24}en"
)
# A car and its model. Makers that are often people's names count before a class alone.
_CAR = re.compile(
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
_FORM = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]+(?:[-'’][^\W\d_a-z]?[^\W\d_A-Z]+)*")
_AFTER_TITLE = re.compile(r"(?<!\w)(?:Dr|Fr|Hr|Prof|Mr|Mrs|Ms|Sr|Sra)\. ?\Z")
_OPENS = re.compile(r"(?:\A|[.!?:;\n\"“„«(•|>*#-])\s{0,8}\Z")  # a sentence, a line or a cell
_BEGINNING, _LEAST = 4000, 0.1  # characters; the share of words that tell a language
# Of languages that the classifier has not learnt, some of which have no accents: Indonesian,
# Hindi and Filipino in Latin letters, Turkish, Vietnamese.
_UNLEARNT_WORDS = words_of(
    """
    yang untuk dengan tidak saya kami kita ini itu pada dari dan adalah bisa akan juga sudah belum
    tolong buatkan apa siapa mengapa kenapa bagaimana gimana kapan jelaskan atau oleh karena
    seperti aku kamu mereka bikin bapak ibu pakai resep supaya banget nggak gak saja dong
    kahani sunao koi woh yeh bahut
    hai hain mein aur kya kyu kyon kyun nahi nahin mujhe mera mere meri chahiye kaise kab kahan
    batao likho liye bhi hota hoti karo karna unka uska
    ang mga paano
    bir ve için çok değil nasıl neden nedir olarak daha bana benim kadar gibi
    của và là cho tôi một về không được những các trong với này đã như thế nào tại sao hãy viết
    giúp cách làm gì
    """
)
_UNLEARNT_LEAST = 2  # different words of these
_VIETNAMESE = re.compile("[\u1ea0-\u1ef9ăđơư]")
# That hardly any other language has.
_SMALL_WORDS = (FUNCTION_WORDS - words_of("a i do to on no so me by be an at am")) | words_of(
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
_SENTENCE_WORDS = (FUNCTION_WORDS | _SMALL_WORDS) - _PARTICLES  # in capitals, too
# The probability from which a word beside a name belongs to it, where both have capitals.
_JOINS_BEFORE, _JOINS_AFTER = 0.02, 0.005
RULES = 14  # increment whenever the code here and in token_model marks other parts


class DetectorPolicy:
    """Mark what the classifier takes for a name or other personal data.

    Args:
        entities: the types to mark, of `DETECTED`; all of them if none is named.
        names: finds names by their capitals: of one of which the classifier marks a word, the
            other words are marked, too; of a person's, those that may belong to the name.
        model: another classifier than the bundled one.
        named: the probability from which a person is marked whose word has the form of a name: a
            capital inside a sentence, and no word of the dictionary. A given name before such a
            word is then marked, whatever its probability. None for neither.
        thresholds: the probability from which a type is marked. The most likely label of a word
            counts for types without one. The probabilities are the model's own, not calibrated.

    Raises:
        DetectorError: the model is missing or damaged.
        ParameterError: the classifier does not know one of the types.
    """

    def __init__(
        self,
        entities: Sequence[str] = (),
        names: Policy | None = None,
        model: TokenModel | None = None,
        thresholds: Mapping[str, float] = MappingProxyType({}),
        named: float | None = None,
    ) -> None:
        self._named = named
        unknown = {*entities, *thresholds}.difference(DETECTED)
        if unknown:
            raise ParameterError(f"entities must be among {', '.join(sorted(DETECTED))}")
        self._model, self._names = model or load_token_model(), names
        self._wanted = frozenset(entities or DETECTED)
        self._thresholds, self._lowered = dict(thresholds), dict[str, float]()

    @property
    def version(self) -> str:
        """Return what is equal where equal texts get equal marks."""
        least = [sorted(each.items()) or "" for each in (self._thresholds, self._lowered)]
        other = getattr(self._names, "version", "")
        parts = ["detector", f"{RULES}", self._model.sha256, *map(str, least), f"{self._named}"]
        return " ".join([*parts, other])

    def lower(self, thresholds: Mapping[str, float]) -> DetectorPolicy:
        """Return this policy, which also marks words from these probabilities on, of types that it
        left, too. It marks no fewer words, whatever they are."""
        made = copy.copy(self)
        both = {type_: min(p, self._lowered.get(type_, p)) for type_, p in thresholds.items()}
        made._lowered, made._wanted = {**self._lowered, **both}, self._wanted.union(both)
        return made

    def find(self, text: str) -> Iterable[Span]:
        reading = read(text)
        words = list(self._classify(reading.text))
        found = tuple(self._mark(reading, words))
        likely = self._find_likely(reading, words) if found else {}
        pairs = _find_pairs(reading) if self._named else ()
        owners = _find_owners(reading) if self._named else ()
        completed = (*self._complete(text, found, likely), *pairs, *owners)
        others = (
            finder(text, (*found, *completed)) for finder in (_find_couples, _find_neighbours)
        )
        lists, glosses = _complete_lists(text, found), _find_glosses(text, found)
        more = (*completed, *lists, *glosses, *chain.from_iterable(others))
        return tuple(cut_edges(text, _cut_keys(text, (*found, *more))))

    def _mark(self, reading: Reading, words: Iterable[TokenWord]) -> Iterator[Span]:
        learnt = _is_learnt(reading.text)
        labels = self._model.labels
        number, person = (
            labels.index(type_) if type_ in labels else OUTSIDE for type_ in ("ID", "PERSON")
        )
        lines = (
            (*line, label, share)
            for start, end, label, share in _join(reading.text, words, number, person)
            for line in _cut_lines(reading.text, start, end)
        )
        for start, end, label, share in lines:
            type_ = labels[label]
            if type_ == "PERSON":  # the title of a person names nobody
                start = _skip_question(reading.text, skip_lead(reading.text, start, end), end)
                end -= 2 * bool(_GENITIVE.search(reading.text, start, end))
                start = _skip_relation(reading.text, start, end)
            if type_ == "PERSON" and not learnt:
                start, end = _leave_small(reading.text, start, end)
            if type_ in _NAMED_IN_CELLS:
                start = _skip_label(reading.text, start, end)
                end = _leave_cell(reading.text, start, end)
            found = reading.text[start:end]
            unlikely = share < _SMALL and type_ not in self._lowered
            plain = (
                _is_code(reading.text, start, end)
                or is_label(reading.text, start, end)
                or found in _OPEN
                or (type_ in NAMES and _is_document(reading.text, start, end))
                or is_greeting(reading.text, start, end)
                or (type_ == "PERSON" and _is_nobody(reading.text, start, end))
                or (type_ in _NAMED_IN_CELLS and _is_nobodys_cell(reading.text, start, end))
                or (
                    type_ in ("PERSON", "LOCATION") and _is_figure(reading.text, start, end, type_)
                )
                or (type_ in _NAMED and _is_no_thing(reading.text, start, end, type_, unlikely))
                or (type_ == "ID" and _is_identifier(reading.text, start, end))
                or _is_verb(reading.text, start, end)
            )
            if type_ in _FORMED and not _is_readable(reading.text, start, end, learnt):
                start, end = _find_capitals(reading.text, start, end)
            if type_ in self._wanted and start < end and not plain:
                yield Span(*reading.span(start, end), type_)

    def _find_likely(self, reading: Reading, words: Iterable[TokenWord]) -> dict[int, float]:
        """Return the words that may be a person's name, by their places, with the probability."""
        person = self._model.labels.index("PERSON")
        found = ((word, float(word.shares[person])) for word in words)
        return {
            reading.span(word.start, word.end)[0]: share
            for word, share in found
            if share >= _JOINS_AFTER
        }

    def _complete(
        self, text: str, found: Sequence[Span], likely: Mapping[int, float]
    ) -> Iterator[Span]:
        """Yield the names in which a word is found as a name."""
        named = [span for span in found if span.type in NAMES]
        starts, ends = [span.start for span in named], [span.end for span in named]
        for name in self._names.find(text) if self._names and named else ():
            first, last = bisect_right(ends, name.start), bisect_left(starts, name.end)
            for span in named[first:last]:
                if span.type == "PERSON":
                    start, end = _grow(text, span, name, likely)
                    yield Span(min(skip_lead(text, start, end), span.start), end, "PERSON")
                elif not _is_shouted(text, name):
                    yield Span(*_cut_run(text, span, name), span.type)

    def _spell(self, thresholds: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the thresholds by label, float64 (labels,); ∞ for a label without one."""
        return np.array([thresholds.get(label, np.inf) for label in self._model.labels])

    def _classify(self, text: str) -> Iterator[TokenWord]:
        given = self._thresholds or self._lowered
        least, lowered = (self._spell(each) for each in (self._thresholds, self._lowered))
        named = (self._spell({"PERSON": self._named}), _has_form) if self._named else None
        return self._model.classify(text, least if given else None, lowered, named)


# The keys of lines: of vCard and iCalendar, of RIS, and of GEDCOM.
_FORMAT_KEY = re.compile(
    r"(?:(?:N|FN|NICKNAME|TEL|EMAIL|ADR|ORG|TITLE|ROLE|NOTE|URL|BDAY|PHOTO|UID|SUMMARY|LOCATION"
    r"|ORGANIZER|ATTENDEE|DESCRIPTION|CATEGORIES|STATUS)(?:;[^:\n]{0,60})?:"
    r"|TY {2}- [A-Z]{3,8}|[A-Z][A-Z\d] {2}-)[ ]?"
)
_TREE_KEY = re.compile(r"[ ]{0,8}\d{1,2} _?[A-Z]{3,5}(?![A-Za-z])[ ]?")
_TREE = re.compile(r"(?m:^)0 (?:HEAD(?=\s)|@\w{1,20}@ )")  # begins each record of a family tree
_LONGEST_KEY = 100  # characters


def _cut_keys(text: str, found: Iterable[Span]) -> Iterator[Span]:
    """Yield findings without the keys of lines: `AU  - Tong`, `2 PLAC Kolín`, `Mira\\nTEL:`."""
    forms = (_FORMAT_KEY, _TREE_KEY) if _TREE.search(text) else (_FORMAT_KEY,)
    for start, end, type_ in found:
        line = text.rfind("\n", max(0, start - _LONGEST_KEY), start) + 1
        while start < end:
            key = next(filter(None, (form.match(text, line) for form in forms)), None)
            start = min(max(start, key.end()), end) if key else start
            line = text.find("\n", start, end) + 1
            while line and not any(form.match(text, line) for form in forms):
                line = text.find("\n", line, end) + 1
            if start < (stop := line - 1 if line else end):
                yield Span(start, stop, type_)
            if not line:
                break
            start = line


_NAMED_IN_CELLS = frozenset(("PERSON", "LOCATION", "ORGANIZATION"))
_NEXT_CELL = re.compile(r"[,;|\t](?=[^\s,;|])")
_GOES_ON = re.compile(r"[.@_]\w")


def _cut_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a finding each by itself where they are no prose, but for those behind
    the first that hold ordinary words alone: the labels of a form."""
    first = True
    while (stop := text.find("\n", start, end)) >= 0 and _find_cell(text, start, start)[1] <= stop:
        if first or not _is_ordinary(text[start:stop]):
            yield start, stop
        start, first = stop + 1, False
    if start < end and (first or not _is_ordinary(text[start:end])):
        yield start, end


def _is_ordinary(line: str) -> bool:
    return all(is_ordinary_word(word) and not is_given(word) for word in line.split())


_LABEL_CELL = re.compile(r"([^\t\n;|]{1,40}?)(?:[\t;|]| {2,40})\s{0,8}(?=\S)")


def _skip_label(text: str, start: int, end: int) -> int:
    """Return where a name begins whose label stands in a cell before it."""
    cell = _LABEL_CELL.match(text, start, end)
    label = spell(cell[1]) if cell else ""
    return cell.end() if cell and (label in LABELS or label in LABEL_NAMES) else start


def _leave_cell(text: str, start: int, end: int) -> int:
    """Return where a name ends that ends inside the next cell of its row: before `1485.60` in
    `Springfield,1485.60`, or before an address."""
    if not _GOES_ON.match(text, end):
        return end
    *_, last = (start, *(cell.start() for cell in _NEXT_CELL.finditer(text, start, end)))
    return last if last > start else end


_CELL_BEGINS = re.compile(r"(?:[\n,;|\t]|\A)[ *\"']{0,4}\Z")
_CELL_ENDS = re.compile(r"[ *\"':]{0,4}(?:[\r\n,;|\t]|\Z)")


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


_AFTER_DECIMAL = re.compile(r"[,;|\t]-?\d{1,6}\.\d{1,4}[,;|\t]\Z")
_DECIMALS = re.compile(r"[.,]\d{1,2}(?!\d)")


def _is_nobody(text: str, start: int, end: int) -> bool:
    """Tell if what is found as a person is a role or a closing of a letter, an exclamation, one
    word over and over, or a single word that is a quantity, a label, an abbreviation or a noun:
    `max 20`, `indirizzo`, `Nr`, `i bambini`, `Rotweinflecken`."""
    found = text[start:end]
    maker = _MAKER.search(text, max(0, start - 14), start)
    if maker and found.isalpha() and not _CAPITAL_AFTER.match(text, end):
        car = _CAR.match(text, maker.start())
        if car and car.end() >= end:
            return True
    if (
        is_role(found)
        or is_closing(found)
        or found.startswith("Morbus ")
        or _CAR.match(text, start)
    ):
        return True
    around = _REPEATED.finditer(text, max(0, start - _NEAR), end + _NEAR)
    if any(run.start() <= start and end <= run.end() for run in around):
        return True
    if _QUANTITY.match(text, start) or _WEEKDAY.match(text, start):
        return True
    if _LENGTHENED.search(found) or _is_owned(text, start, end):
        return True
    if found.islower() and _ARE_CALLED.search(text, max(0, start - _NEAR), start):
        return True
    if not found.isalpha() or is_given(found):
        return False
    if _COMPOUND.fullmatch(found):
        return True
    if spell(found) in LABELS and not (found.istitle() and is_ordinary_word(found)):
        return True
    if found in _ABBREVIATIONS:
        return True
    if found in _SMALL_WORDS:
        return True
    if found.islower() and (_is_no_name(found) or _ends_as_no_name(text, start, found)):
        return True
    return found.islower() and _AFTER_ARTICLE.search(text, max(0, start - 8), start) is not None


_PARTICIPLE = re.compile(r"\w{2,14}(?:é|és|ée|ées|ado|ido|ato|uto|ito)")
_CLOSING_OWN = words_of("dein deine euer eure votre ton ta tuo tua jouw jullie din")
_OWN = frozenset(("mia", "mio", "mon", "ma", "my"))
_OF_DOCUMENTS = DOCUMENT_WORDS | _OWN | words_of("mein meine meu minha mi mijn moje mój můj no")


def _is_document(text: str, start: int, end: int) -> bool:
    """Tell if a finding is what the number behind it is of: `TC kimlik no`, `mijn BSN`."""
    words = _NAME_WORD.findall(text, start, end)
    small = {word.lower() for word in words}
    if not small <= _OF_DOCUMENTS or small.isdisjoint(DOCUMENT_WORDS - _OWN):
        return False
    borne = any(word.istitle() and is_given(word) for word in words)
    titled = _TITLED.search(text, max(0, start - 16), start) is not None
    return not borne and not titled and any(map(str.isdigit, text[end : end + 24]))


_TITLED = re.compile(rf"(?<!\w)(?i:{WRITTEN_TITLE})\.? \Z")


def _skip_relation(text: str, start: int, end: int) -> int:
    """Return where a name begins after a relation in small letters, a participle, or who signs:
    `figlia ginevra`, `a joué Lucien Bonaparte`, `Dein Wendelin`."""
    first, blank, _ = text[start:end].partition(" ")
    if blank and first.islower() and _PARTICIPLE.fullmatch(first) and not is_given(first):
        return start + len(first) + 1
    if blank and (first.lower() in _CLOSING_OWN or first.lower() in OWN_KIN):
        return start + len(first) + 1
    while blank and (first in _OWN or (first in RELATIONS and not is_given(first))):
        start += len(first) + 1
        first, blank, _ = text[start:end].partition(" ")
    return start


def _is_no_name(word: str) -> bool:
    """Tell if a word in small letters is hardly a name: a short form of chats, a misspelt word, or
    a relation."""
    return word in CHATTED or word in RELATIONS or is_misspelt(word)


def _ends_as_no_name(text: str, start: int, word: str) -> bool:
    """Tell if a word in small letters has an ending that few names have. A relation before it is
    followed by one of them: `kollege harnisch`."""
    if _NO_NAMES_ENDING.fullmatch(word) is None:
        return False
    before = _WORD_BEFORE.search(text, max(0, start - 30), start)
    return before is None or before[1] not in RELATIONS


def _is_small_word(found: str) -> bool:
    """Tell if a finding is an ordinary word in small letters: `reading` is no town, `and` between
    two firms is none."""
    return found.isalpha() and found.islower() and is_ordinary_word(found)


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


def _is_owned(text: str, start: int, end: int) -> bool:
    """Tell if an ordinary word in small letters is what somebody has: `Uncle Ben's rice`."""
    return _is_small_word(text[start:end]) and bool(_OWNER.search(text, max(0, start - 4), start))


def _is_verb(text: str, start: int, end: int) -> bool:
    """Tell if an ordinary word is a verb, or the name of a function: `please mark it`, `Mark the
    steps`."""
    found = text[start:end]
    if _is_small_word(found):
        before = _BEFORE_VERB.search(text, max(0, start - 12), start)
        return before is not None and _AFTER_VERB.match(text, end, end + 12) is not None
    opens = found.lower() in _VERBS and _OPENS.search(text, max(0, start - 8), start)
    if opens and found == "Bill" and text.startswith(" to:", end):
        return True
    return bool(opens) and _OBJECT.match(text, end, end + 12) is not None


def _skip_question(text: str, start: int, end: int) -> int:
    """Return where the name of a finding begins, after the words that a question begins with in a
    language that the classifier has not learnt: `Kim byli Jan Matejko`. `end` if there is none."""
    word = text[start:end].split(" ")[0]
    named = word.istitle() and is_given(word) and word.isascii()  # Mika, but no mikä
    if word.lower() not in _QUESTIONS or named:
        return start
    capital = _CAPITAL_WORD.search(text, start + 1, end)
    return capital.start() if capital else end


def _join(
    text: str, words: Iterable[TokenWord], number: int, person: int
) -> Iterator[tuple[int, int, int, float]]:
    """Yield runs of words of one label in a line, without the signs around them, each with the
    highest probability of its words; two numbers, addresses or persons with `and` between them
    are two, and so are the cells of a line."""
    run = (0, 0, OUTSIDE, 0.0)
    for start, end, label, shares in words:
        if (label == number and text[start:end] in _AND) or (
            label == person and text[start:end] in _AND_PERSONS
        ):
            label = OUTSIDE
        if label == OUTSIDE and run[2] == OUTSIDE:
            continue
        share = float(shares[label])
        gap = text[run[1] : start]
        if label == run[2] and "\n" not in gap and not _GAP.search(gap):
            run = (run[0], end, label, max(share, run[3]))
            continue
        yield from _trim(text, *run)
        run = (start, end, label, share)
    yield from _trim(text, *run)


_APART = re.compile(r"\s[-–—|/]\s")  # between a name and what is no part of it


def _grow(text: str, span: Span, name: Span, likely: Mapping[int, float]) -> tuple[int, int]:
    """Return a person with the words on both sides that belong to the name, in a run of words with
    a capital: not the line that the name is in, as in `Photo of Anna Weber`."""
    start, end = span.start, span.end
    low, high = _find_cell(text, start, end)
    before = [*_NAME_WORD.finditer(text, max(name.start, start - _NEAR, low), start)]
    after = _NAME_WORD.finditer(text, end, min(name.end, end + _NEAR, high))
    for words, least in ((reversed(before), _JOINS_BEFORE), (after, _JOINS_AFTER)):
        for word in words:
            if is_label_alone(word[0]) or is_label(text, *word.span()):
                break
            if text[word.end() : word.end() + 1].isdigit():  # a code: CE2, K8s
                break
            if _PEOPLE.match(text, word.start(), word.end() + 4):
                break
            if _APART.search(text, min(end, word.end()), max(start, word.start())):
                break
            if word.start() > end and _is_small(word[0]):  # ANNA WEBER WILL NOT PAY
                break
            if word.end() <= start and _is_of_relation(word[0]):  # Dein Wendelin, Eşim Feride
                break
            # A given name alone is hardly the whole name.
            alone = word.start() > end and is_given(text[start:end])
            if (
                likely.get(word.start(), 0.0) >= least
                or is_given(word[0])
                or (alone and word[0].istitle() and not is_ordinary_word(word[0]))
            ):
                start, end = min(start, word.start()), max(end, word.end())
            elif word[0] not in _PARTICLES:
                break
    return start, end


def _is_of_relation(word: str) -> bool:
    """Tell if a word, with a capital or without, says whose somebody is, or what."""
    plain = word.lower()
    kin = plain in RELATIONS and not is_given(word)
    return kin or plain in _CLOSING_OWN or plain in OWN_KIN or plain in _OWN


def _is_shouted(text: str, name: Span) -> bool:
    """Tell if a run of words with capitals is a sentence in capitals, small words among them."""
    words = _NAME_WORD.findall(text, name.start, name.end)
    return (
        len(words) > _LONGEST_NAME and all(map(str.isupper, words)) and any(map(_is_small, words))
    )


def _is_small(word: str) -> bool:
    return word.isupper() and len(word) > 1 and word.lower() in _SENTENCE_WORDS


_KEYED = re.compile(r"[^\n:]{2,40}:")
_GAP = re.compile(r" [–—|-] |[ \t]{3,}|\t")  # between the cells of a line


def _cut_run(text: str, span: Span, name: Span) -> tuple[int, int]:
    """Return a run of words with a capital around a firm or a place, in the cell of its line:
    `Augsburg` above `Unser Zeichen`, `Wakefield — Operations Manager`."""
    low, high = _find_cell(text, span.start, span.end)
    start, end = max(name.start, low), min(name.end, high)
    if (line := text.rfind("\n", start, span.start)) >= 0 and _KEYED.match(text, line + 1):
        start = line + 1
    if (line := text.find("\n", span.end, end)) >= 0 and _KEYED.match(text, line + 1):
        end = line
    for gap in _GAP.finditer(text, start, span.start):
        start = gap.end()
    after = _GAP.search(text, span.end, end) if span.end < end else None
    return start, after.start() if after else max(end, span.end)


def _find_cell(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the line around a part: its end counts if a cell of a table stands there or it is
    short, and its beginning if so does the line above. Else prose goes on in the next line."""
    low, high = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    high = len(text) if high < 0 else high
    above = low > 0 and (
        low - 1 - (text.rfind("\n", 0, low - 1) + 1) < _WRAPPED
        or _LAST_CELL.search(text, max(0, low - _NEAR - 1), low - 1)
    )
    own = high - low < _WRAPPED or _LAST_CELL.search(text, max(low, high - _NEAR), high)
    early = low > 0 and _ends_early(text, text.rfind("\n", 0, low - 1) + 1, low - 1)
    end = high if own or _ends_early(text, low, high) else len(text)
    return low if above or early else 0, end


def _ends_early(text: str, low: int, high: int) -> bool:
    """Tell if a line ends where the first word of the next one had room in it: the longest line
    near by, up to a blank one, shows how much prose that is wrapped fills."""
    following = text[high + 1 : high + 41].split(" ")[0].partition("\n")[0]
    before, after = text[max(0, low - _BLOCK) : low], text[high : high + _BLOCK]
    block = before.rpartition("\n\n")[2] + text[low:high] + after.partition("\n\n")[0]
    longest = max(map(len, block.split("\n")))
    return high - low + 1 + len(following) + _SLACK < longest


def _is_learnt(text: str) -> bool:
    """Tell if a text may be in a language that the classifier has learnt: no letter of it has an
    accent, or some of its words are English, or small ones of German, French or Spanish; and not
    more are small ones of other languages."""
    words = _NAME_WORD.findall(text[:_BEGINNING])
    unlearnt = [word.lower() for word in words if word.lower() in _UNLEARNT_WORDS]
    foreign = len(set(unlearnt)) >= _UNLEARNT_LEAST
    if text.isascii() and not foreign:
        return True
    known = sum(
        (word.lower() in _SMALL_WORDS and len(word) > 1)
        or (len(word) > 3 and is_ordinary_word(word))
        or (word[0].isupper() and is_given(word))
        for word in words
    )
    if foreign:
        return bool(known > len(unlearnt))
    return len(words) < 3 or known >= _LEAST * len(words)


def _is_readable(text: str, start: int, end: int, learnt: bool) -> bool:
    """Tell if the classifier can read a finding: it is in Latin letters, of a language that it has
    learnt, or a given name is in it. A label names nobody: `ФИО: Фамилия Имя Отчество`."""
    words = _NAME_WORD.findall(text[start:end])
    if words and all(map(is_label_alone, words)):
        return False
    latin = all(word[0] < "\u0370" or "\u1e00" <= word[0] < "\u1f00" for word in words)
    if latin and learnt:
        return True
    before = _WORD_BEFORE.search(text, max(0, start - 30), start)
    if before and (before[1].istitle() or not _VIETNAMESE.search(text, start, end)):
        words.append(before[1])  # Văn is a name, and văn is a text
    return latin and any(is_given(word) for word in words if word not in _UNLEARNT_WORDS)


def _leave_small(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a person in a language that the classifier has not learnt without the words in small
    letters around the name, of which none is a given name: `padosi Ramkishore Tripathi`."""
    words = list(_NAME_WORD.finditer(text, start, end))
    capitals = [word for word in words if word[0][0].isupper()]
    others = (word[0] for word in words if word[0].islower())
    if not capitals or any(is_given(word) and word not in _UNLEARNT_WORDS for word in others):
        return start, end
    return capitals[0].start(), capitals[-1].end()


def _find_capitals(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the words of a finding that have the form of a name: two capitals, or one inside a
    sentence; an empty place where there are none."""
    words = list(_NAME_WORD.finditer(text[start:end]))
    while words and not words[0][0][0].isupper():
        words.pop(0)
    while words and not words[-1][0][0].isupper():
        words.pop()
    names = [word[0] for word in words if word[0] not in _PARTICLES]
    named = all(name[0].isupper() for name in names)
    if not named or all(map(is_label_alone, names)):
        return start, start
    first = start + words[0].start()
    before = text[max(0, first - 8) : first]
    inside = not _OPENS.search(before) or _AFTER_TITLE.search(before)
    return (first, start + words[-1].end()) if len(names) > 1 or inside else (start, start)


def _has_form(text: str, start: int, end: int) -> bool:
    """Tell if a word has the form of a name."""
    if end - start < 3 or not text[start].isupper():
        return False
    word = text[start:end]
    if not _FORM.fullmatch(word):
        return False
    opens = _OPENS.search(text, max(0, start - 8), start)
    return is_given(word) or not (opens or is_ordinary_word(word))


def _find_pairs(reading: Reading) -> Iterator[Span]:
    """Yield the given names before a word with a capital that is in no dictionary."""
    for match in _PAIR.finditer(reading.text):
        given, *_, family = match["part"].replace("_", " ").split(" ")
        plain = is_ordinary_word(given) or is_ordinary_word(family)
        # San Francisco, Lisbon
        town = _SAINT.search(reading.text, max(0, match.start() - 8), match.start())
        car = _CAR.match(reading.text, match.start())
        if is_given(given) and not plain and not town and not car:
            yield Span(*reading.span(*match.span("part")), "PERSON")


_LOCAL = re.compile(
    r"(?<![\w.+-])(?P<first>[a-z]{1,20}+)[._-](?P<last>[a-z]{3,25}+)\d{0,4}@[\w-]{1,60}\."
)
_MOST_OWNERS = 50  # addresses of a text whose owners are looked for


def _find_owners(reading: Reading) -> Iterator[Span]:
    """Yield the names that e-mail addresses spell: `Ada Lindner` beside `ada.lindner@…`."""
    text = reading.text
    if "@" not in text:
        return
    addresses = {
        (found["first"], found["last"])
        for found in islice(_LOCAL.finditer(text.lower()), _MOST_OWNERS)
        if not is_label_alone(found["last"])
    }
    if not addresses:
        return
    for match in _PAIR.finditer(text):
        given, *_, family = (fold_name(word) for word in match["part"].split(" "))
        if is_ordinary_word(family) and not is_given(given):  # Foo Bar
            continue
        if (given, family) in addresses or (given[:1], family) in addresses:
            yield Span(*reading.span(*match.span("part")), "PERSON")


def _complete_lists(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield the given names in a list of which two are found: `Will, Grace, Hunter and May`."""
    starts = {span.start for span in found if span.type == "PERSON"}
    if len(starts) < 2:
        return
    for match in _LISTED.finditer(text):
        names = list(_CAPITAL.finditer(text, match.start(), match.end()))
        if sum(name.start() in starts for name in names) > 1:
            for name in names:
                if name.start() not in starts and is_given(name[0]):
                    yield Span(name.start(), name.end(), "PERSON")


def _find_couples(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield the given name of who shares a surname with the person found after it: `Deniz und
    Melek Aydın`."""
    for span in found:
        if span.type != "PERSON" or " " not in text[span.start : span.end]:
            continue
        other = _COUPLE.search(text, max(0, span.start - 30), span.start)
        if other and is_given(other["given"]) and not is_ordinary_word(other["given"]):
            yield Span(*other.span("given"), "PERSON")


def _find_neighbours(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield the given name beside a person in a list: `Readers: Brenda, Alastair; Coffee`."""
    for span in found:
        other = _NEIGHBOUR.match(text, span.end) if span.type == "PERSON" else None
        if other and is_given(other["given"]) and not is_ordinary_word(other["given"]):
            yield Span(*other.span("given"), "PERSON")


def _find_glosses(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield a person's name in another script after it: `Xu Jiahui (许佳慧)`."""
    for span in found:
        gloss = _GLOSS.match(text, span.end) if span.type == "PERSON" else None
        if gloss:
            yield Span(*gloss.span("part"), "PERSON")


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


def _trim(
    text: str, start: int, end: int, label: int, share: float
) -> Iterator[tuple[int, int, int, float]]:
    if label == OUTSIDE:
        return
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    if start < end:
        yield start, end, label, share
