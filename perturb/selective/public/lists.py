"""Tell that a name is an item of a list of things, of surnames or of public persons, or the title
of a work.

- What stands in one list with a well-known thing is a thing: `Petra, Wadi Rum and Amman`. Who
  stands in one with well-known persons is of their kind.
- A name in quotation marks is the title of a song: `Who sang "Jolene"?`; so is one in a table of
  works, and who is named in a field of BibTeX has published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.persons import CAPITALS
from perturb.selective.patterns.shape import words_of
from perturb.selective.public.questions import Questions
from perturb.selective.public.reading import NEUTRAL, Name, TextWords, find_place, holds
from perturb.selective.public.ties import Ties
from perturb.text.marks import WORD

__all__ = [
    "Lists",
    "find_compared",
    "find_lists",
    "find_title_cells",
    "find_titles",
    "find_varieties",
]

_SURNAMES = re.compile(
    r"\b(?:surnames?|last names?|family names?|(?:nach|familien)namen?|noms? de famille|"
    r"apellidos?|cognomi?|nazwisk\w{0,2}|achternamen?|sobrenomes?|фамили\w{1,2})\b",
    re.IGNORECASE,
)
_WORD = r"(?:[\w'’&+-]|\.(?=\w)){0,24}"
_ITEM = (
    rf"[{CAPITALS}]{_WORD}(?: (?:[{CAPITALS}\d]{_WORD}|of|de|da|di|du|la|del|van|von|der)){{0,3}}"
)
_AND = (
    r" (?:and|or|und|oder|et|ou|y|o|e|en|of|i|czy|lub|och|og|ja|és|ve|și|vs\.?|versus|и|или|"
    r"together with) "
)
_LIST = re.compile(
    rf"(?<!\w){_ITEM}(?:(?:, {_ITEM}){{1,30}}(?:,?{_AND}{_ITEM})?|"
    rf"(?: (?:vs\.?|versus) {_ITEM}){{2,10}}|{_AND}{_ITEM})(?!\w)"
)
_PARTED = re.compile(rf",?{_AND}|, ")
# Of what has a title, in the line of the title. `Track`, `book` and `cover` stand in logs, too.
_WORKS = re.compile(
    r"\b(?:songs?|sang|sung|sings?|singers?|playlists?|albums?|lyrics|chords|movies?|films?|"
    r"novels?|poems?|paintings?|operas?|musicals?|lied(?:er)?|chansons?|canci[oó]n(?:es)?|"
    r"canzon[ei]|piosenk\w+)\b",
    re.IGNORECASE,
)
# Who wrote "The …"?, and not on the wall. Without an article it may be what somebody has said.
_WROTE = re.compile(
    r"\b(?:who wrote|wer schrieb|qui a écrit|quién escribió|chi ha scritto|quem escreveu|"
    r"wie schreef) \Z",
    re.IGNORECASE,
)
_ARTICLED = re.compile(
    r"(?:The|Der|Die|Das|Les?|La|El|L[oa]s|Il?|Gli|Os?|As?|De|Het) [^\W\d_a-z]\w{2,24}"
)
_VALUE = re.compile(r"(?:\w=|[\"'`][=:] ?)[\"“„«]\Z")  # holder="Mira"
_LONGEST_TITLE = 6  # words of a title
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St)\.")  # "Mr. Smith Goes to Washington"
_SAID = re.compile(r"[,.;:@]|\d{3}[ -]?\d{4}")  # in a sentence, or beside a number
_YEAR = re.compile(r" \((?:18|19|20)\d\d\)")  # "My Man Godfrey" (1936)
# Which no person's name has: a year may also be that of a birth.
_PHRASE = re.compile(
    r"\b(?:the|my|your|his|our|their|to|in|on|at|with|for|from|who|what|is|was)\b", re.IGNORECASE
)
_TITLE = re.compile(r"[\"“„«](?P<title>[^\"”“»\n]{2,40})[\"”“»]")
# The heads of a table of works: of what is asked for, and of what only works have. Letters and
# complaints have authors, too, and so has a matter a title.
_TITLE_HEADS = words_of(
    "title titel titre titulo título titolo tytuł song track film movie album book"
)
_WORK_HEADS = words_of(
    """
    artist artists composer genre isbn runtime album interpret künstler komponist regie regisseur
    artiste compositeur réalisateur artista compositor regista wykonawca gatunek
    """
)
_CELL_SIGNS = "\t;|,"
_LONGEST_HEAD = 200  # characters
_ENDS = tuple(".?!:")  # of a sentence below a table
# Varieties of what is grown, and names after a colon: `Apple varieties: Elstar, Jonathan`.
_VARIETIES = re.compile(
    r"\b(?:(?:potato(?:es)?|apples?|pears?|plums?|cherr(?:y|ies)|roses?|tomato(?:es)?|grapes?|strawberr(?:y|ies)|"
    r"tulips?|dahlias?|peon(?:y|ies)|clematis|hydrangeas?) (?:variet(?:y|ies)|cultivars?)|"
    r"variet(?:y|ies) of [a-z]{3,14}|"
    r"(?:kartoffel|apfel|birnen|pflaumen|kirsch|rosen|tomaten|trauben|reb|wein|erdbeer|tulpen|dahlien)sorten?|"
    r"variétés? de (?:pommes?(?: de terre)?|poires?|prunes?|cerises?|roses?|tomates?|fraises?)|"
    r"variedad(?:es)? de [a-z]{3,14}|varietà di [a-z]{3,14})\b"
    r"(?![^:\n]{0,60}\b(?:who|wer|(?:for|from|by|für|von|pour|chez|para|per) (?-i:[A-Z]))\b)"
    rf"[^:.!?\n]{{0,60}} ?[:：] (?P<list>{_ITEM}(?:(?:, |{_AND}){_ITEM}){{0,12}})",
    re.IGNORECASE,
)
# What is compared by its name: best running shoes: …
_GOODS = re.compile(
    r"\b[Bb]est (?:[a-z]{3,12} ){0,3}(?:shoes|boots|skis|bikes|tents|jackets|backpacks|phones|"
    r"laptops|tablets|cameras|headphones|earbuds|guitars|pens|watches|strollers|mattresses|monitors|"
    r"keyboards|machines|speakers|lenses|amplifiers|microphones|routers|blenders|mixers|knives|"
    r"pans|sneakers|cars|scooters|suvs|tyres|tires|mowers|drills|vacuums|"
    r"dishwashers|fridges|printers|perfumes|whisk(?:e?y|ies|eys)|wines|beers|brands) ?: "
    rf"(?P<list>{_ITEM}(?:(?:, |{_AND}){_ITEM}){{0,12}})"
)
_LONGEST_GROWER = 12  # characters
_GROWER = re.compile(r"\b(?:who|responsible|wer|wem|wen|qui|quién|chi|ask|tell)\b", re.IGNORECASE)
_TITLE_OPENERS = frozenset(("dear", "hello", "hey", "hi", "my", "our"))
_VERSUS = re.compile(r" (?:vs\.?|versus) [^.?!\n]{1,40} (?:vs\.?|versus) ")
_COMPARED = re.compile(
    r"\b(?:compar(?:e|es|ing|ison)|contrast|differ(?:s|ences?)?|similarit(?:y|ies)|vergleich\w*|"
    r"unterschiede?|comparez|différences?|compara\w*|diferencias?|confronta|differenze|porównaj)\b",
    re.IGNORECASE,
)
# What colleagues and craftsmen have, and no philosopher.
_OFFERED = re.compile(
    r"\b(?:offers?|quotes?|bids?|prices?|invoices?|estimates?|salar(?:y|ies)|scores?|results?|cvs?|"
    r"resumes?|applications?|performance|candidates?|reports?|grades?|rates?|hours|shifts?|sales|"
    r"angebote?|rechnung(?:en)?|noten|bewerbung(?:en)?|devis|factures?|ofertas?|offerte|oferty)\b",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"@(?:article|book|booklet|inbook|incollection|inproceedings|conference|manual|mastersthesis|misc"
    r"|phdthesis|proceedings|techreport|unpublished|online|thesis)\s{0,3}\{",
    re.IGNORECASE,
)
_CITED = re.compile(
    r"(?<!\w)(?:author|editor|translator|publisher)\s{0,20}=\s{0,20}"
    r"(?P<names>\{(?>[^{}]|\{[^{}]{0,80}\}){1,4000}\}|\"[^\"\n]{1,1000}\")",
    re.IGNORECASE,
)
LEAST_LISTED = 3  # items of a list, at least


def find_lists(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield the places of the items of each list in a sentence.

    >>> text = "Petra, Wadi Rum and Amman in Jordan"
    >>> [[text[start:end] for start, end in items] for items in find_lists(text)]
    [['Petra', 'Wadi Rum', 'Amman']]
    """
    for found in _LIST.finditer(text):
        items, start = [], found.start()
        for gap in _PARTED.finditer(text, found.start(), found.end()):
            items.append((start, gap.start()))
            start = gap.end()
        yield [*items, (start, found.end())]


def find_varieties(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of lists of varieties of plants.

    >>> text = "Which apple variety is sweeter: Elstar or Jonathan?"
    >>> [text[slice(*place)] for place in find_varieties(text)]
    ['Elstar or Jonathan']
    """
    return _find_listed(_VARIETIES, text)


def find_compared(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of lists of goods that are compared, in which nobody has a given name.

    >>> text = "best running shoes: Hoka Speedgoat or Brooks Cascadia?"
    >>> [text[slice(*place)] for place in find_compared(text)]
    ['Hoka Speedgoat or Brooks Cascadia']
    """
    for start, end in _find_listed(_GOODS, text):
        if not any(map(is_given, WORD.findall(text, start, end))):
            yield start, end


def _find_listed(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    line, searched, grower = -1, 0, None
    for found in pattern.finditer(text):
        begin = text.rfind("\n", searched, found.start()) + 1
        if begin > line:
            line, searched, grower = begin, begin, None
        if grower is None:  # of a long line each part is read once
            low = max(line, searched - _LONGEST_GROWER)
            grower = _GROWER.search(text, low, found.start())
        searched = found.start()
        if grower is None:
            yield found.span("list")


def find_titles(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of what may be titles in a text that speaks of songs, films or books: a few
    words in quotation marks, each with a capital or small.

    >>> [text[slice(*place)] for text in ['Who sang "Hey Jude"?'] for place in find_titles(text)]
    ['Hey Jude']
    """
    start = 0
    for line in text.splitlines(keepends=True):
        works = _WORKS.search(line)
        for found in _TITLE.finditer(line):
            dated = _YEAR.match(line, found.end()) and _PHRASE.search(found["title"])
            title, place = found["title"], found.start("title")
            wrote = _WROTE.search(line, max(0, found.start() - 24), found.start())
            asked = wrote and _ARTICLED.fullmatch(title) and not is_given(title.split()[1])
            if not works and not dated and not asked:
                continue
            keyed = _VALUE.search(line, max(0, place - _LONGEST_TITLE), place)
            written = title[0].isupper() and not _SAID.search(_TITLED.sub("", title))
            if len(title.split()) < _LONGEST_TITLE and written and not keyed:
                yield start + place, start + found.end("title")
        start += len(line)


def find_title_cells(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the cells with the titles in tables of works: `title,artist` above
    `Layla,…`. Of more than one word a title may tell of somebody: `Complaint about …`.

    >>> text = "title,artist\\nLayla,Derek\\n"
    >>> [text[slice(*place)] for place in find_title_cells(text)]
    ['Layla']
    """
    sign, column, count, spaced, start = "", 0, 0, False, 0
    for line in text.splitlines(keepends=True):
        row = line.rstrip()
        if head := _read_heads(row):
            sign, column, count = head
            spaced = f"{sign} " in row
        elif sign:
            cells = row.split(sign)
            prose = row.endswith(_ENDS) or (sign in ",;" and not spaced and f"{sign} " in row)
            if len(cells) != count or prose:
                sign = ""
            else:
                place = start + sum(len(cell) + 1 for cell in cells[:column])
                if len(cells[column].split()) == 1:
                    yield place, place + len(cells[column])
        start += len(line)


def _read_heads(row: str) -> tuple[str, int, int] | None:
    """Return the sign between the cells of a row of heads, the place of the titles among them, and
    how many they are; None for another row."""
    for sign in _CELL_SIGNS if len(row) <= _LONGEST_HEAD else "":
        cells = [cell.strip(" \"'") for cell in row.lower().split(sign)]
        place = _find_title_head(cells)
        if place is not None:
            return sign, place, len(cells)
    return None


def _find_title_head(cells: list[str]) -> int | None:
    """Return the place of the head of titles in a row of heads; None without it."""
    places = [place for place, cell in enumerate(cells) if cell in _TITLE_HEADS]
    if not places or _WORK_HEADS.isdisjoint(cells[: places[0]] + cells[places[0] + 1 :]):
        return None
    return places[0]


class Lists:
    """The lists, the titles and the tables of works of a text."""

    def __init__(self, words: TextWords, ties: Ties, questions: Questions) -> None:
        self._words, self._text, self._public = words, words.text, words.public
        self._given = words.given
        self._ties, self._questions = ties, questions

    def hold(self, name: Name) -> bool:
        """Tell if a person who is not on the list is an item of a list, or of a title."""
        return (
            self._is_listed(name)
            or self._is_title(name)
            or self.is_in_title_cell(name)
            or self._is_variety(name)
        )

    def _is_listed(self, name: Name) -> bool:
        """Tell if a finding is an item of a list of things, of surnames or of public persons, in a
        text that speaks of nobody as somebody's own."""
        items = self._listed.get(name.start, [])
        if not items or self._ties.contacts or self._ties.is_tied(name.start, name.end):
            return False
        if self._ties.is_impersonal and (
            self._lists_persons(name, items) or self._compares_persons(name, items)
        ):
            return True
        if self._ties.selves or self._ties.sets_task:
            return False
        return self._lists_things(name, items) or self._lists_surnames(items)

    @cached_property
    def _listed(self) -> dict[int, list[tuple[int, int]]]:
        """Return the items of the list in which an item begins, by its place. The verb of a
        sentence is none of the first: `Compare Smith and Ricardo`."""
        found = {}
        for items in find_lists(self._text):
            (start, end), *others = items
            if verb := _COMPARED.match(self._text, start, end):
                items = [(min(verb.end() + 1, end), end), *others]
            found.update({place: items for place, _ in items})
        return found

    def _lists_persons(self, name: Name, items: Sequence[tuple[int, int]]) -> bool:
        """Tell if a question lists persons, of whom half or more of the others are public."""
        if not holds(self._questions.asked, name.low, name.high):
            return False
        others = [self._words.meeting(*item) for item in items if item[0] != name.start]
        persons = [self._public.persons]
        known = sum(
            last - first > 1 and self._words.longest(first, last, persons) == last
            for first, last in others
        )
        return 2 * known >= len(others) > 0

    def _compares_persons(self, name: Name, items: Sequence[tuple[int, int]]) -> bool:
        """Tell if somebody asks to compare persons by surnames that are all public persons', one
        of them nobody else's: `Compare Smith, Ricardo and Malthus`."""
        low, high = name.low, name.high
        compared = _COMPARED.search(self._text, low, high) or _VERSUS.search(self._text, low, high)
        if not compared or _OFFERED.search(self._text):
            return False
        places = [self._words.meeting(*item) for item in items]
        keys = [[k for k in self._words.keys[first:last] if k != "s"] for first, last in places]
        surnames = [key[0] for key in keys if len(key) == 1 and key[0] in self._public.last_names]
        public = self._public.families, self._public.persons
        sure = any(key in names for key in surnames for names in public if key not in self._given)
        return len(surnames) == len(items) and sure

    def _lists_things(self, name: Name, items: Sequence[tuple[int, int]]) -> bool:
        """Tell if one of three things or more in a list is well known, and the finding has not the
        form of a person's name."""
        keys, public = name.keys, self._public
        borne = keys[0] in self._given or any(key in public.surnames for key in keys)
        if len(items) < LEAST_LISTED or (
            borne and not (len(keys) == 1 and keys[0] in public.shared)
        ):
            return False
        return any(self._is_thing(*item) for item in items if item[0] != name.start)

    def _is_thing(self, start: int, end: int) -> bool:
        first, last = self._words.meeting(start, end)
        return last > first and self._words.longest(first, last, [self._public.names]) == last

    def _lists_surnames(self, items: Sequence[tuple[int, int]]) -> bool:
        """Tell if a list has surnames alone, most of which are public persons', or of which the
        text speaks."""
        words = [self._words.meeting(*item) for item in items]
        keys = [self._words.keys[first] for first, last in words if last - first == 1]
        known = [key in self._public.families or key in self._public.persons for key in keys]
        borne = [key in self._public.surnames for key in keys]
        if len(keys) < len(items) or not self._names_surnames:
            return False
        if self._is_about_surnames:
            return sum(known) + sum(borne) >= LEAST_LISTED
        return len(items) > LEAST_LISTED and 2 * sum(known) > len(items)

    @cached_property
    def _is_about_surnames(self) -> bool:
        """Tell if the text speaks of surnames."""
        return _SURNAMES.search(self._text) is not None

    @cached_property
    def _names_surnames(self) -> bool:
        """Tell if every person in the text is public, or surnames alone."""
        return all(map(self._is_surname, self._ties.persons))

    def _is_surname(self, person: Name) -> bool:
        """Tell if a person is public, or surnames alone."""
        public = self._words.is_covered(person, self._public.persons)
        return public or bool(self._words.read_surnames(person))

    def _is_variety(self, name: Name) -> bool:
        """Tell if a finding is an item of a list of varieties of plants or of goods, and
        nobody's."""
        return self._is_grown(name) or self._is_compared(name)

    def _is_grown(self, name: Name) -> bool:
        if find_place(self._varieties, name) is None:
            return False
        person = len(name.keys) > 1 and name.keys[0] in self._given
        return not person and self._ties.speaks_of_nobody

    @cached_property
    def _varieties(self) -> list[tuple[int, int]]:
        return list(find_varieties(self._text))

    def _is_compared(self, name: Name) -> bool:
        if find_place(self._compared, name) is None:
            return False
        return self._public.surnames.isdisjoint(name.keys) and self._ties.speaks_of_nobody

    @cached_property
    def _compared(self) -> list[tuple[int, int]]:
        """The places of lists of goods of which one is well known, and nobody's surname."""
        public = self._public
        known = (public.terms | public.names) - public.surnames - public.families - NEUTRAL
        return [
            place
            for place in find_compared(self._text)
            if not known.isdisjoint(self._words.keys[slice(*self._words.meeting(*place))])
        ]

    def _is_title(self, name: Name) -> bool:
        """Tell if a finding is in the title of a song, a film or a book, and no sentence of the
        writer's."""
        title, selves = find_place(self._titles, name), self._ties.selves
        if title is None or self._ties.contacts:
            return False
        # Of the title itself: "My Man Godfrey".
        return not (holds(selves, name.low, title[0]) or holds(selves, title[1], name.high))

    @cached_property
    def _titles(self) -> list[tuple[int, int]]:
        return list(find_titles(self._text))

    def ends_title(self, name: Name) -> bool:
        """Tell if a finding ends the well-known title of a work that begins as a letter or a
        relation does: `Hey Jude`, `My Neighbor Totoro`. A line that begins with `Hey Jude,` greets
        somebody."""
        words, text, first, last = self._words, self._text, name.first, name.last
        greets = text[name.end : name.end + 1] in (",", "!", ":")
        return not self._ties.contacts and any(
            words.keys[place] in _TITLE_OPENERS
            and words.longest(place, last, [self._public.names]) >= last
            and not (greets and not text[: words.starts[place]].rpartition("\n")[2].strip(" >\t"))
            for place in range(max(0, first - 2), first)
        )

    def is_in_title_cell(self, name: Name) -> bool:
        """Tell if a finding is the title in a table of works, and no surname."""
        if self._ties.contacts or find_place(self._title_cells, name) is None:
            return False
        own = holds(self._ties.selves, name.low, name.high)
        return not own and self._public.surnames.isdisjoint(name.keys)

    @cached_property
    def _title_cells(self) -> list[tuple[int, int]]:
        return list(find_title_cells(self._text))

    def is_cited(self, name: Name) -> bool:
        """Tell if a finding is in a field for the names of an entry of BibTeX: of what is
        published."""
        return find_place(self._cited, name) is not None

    @cached_property
    def _cited(self) -> list[tuple[int, int]]:
        if not _ENTRY.search(self._text):
            return []
        return [match.span("names") for match in _CITED.finditer(self._text)]
