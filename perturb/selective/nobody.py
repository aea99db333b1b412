"""Tell that what a text names is nobody's: it is an exercise, lists things or surnames, names
works, or holds a program's translations.

- An exercise of arithmetic asks for an amount, and one of grammar names what is practised: `Tom
  has 5 apples … How many …?`, `Put into passive voice: Peter paints the fence.`
- What stands in one list with a well-known thing is a thing: `Petra, Wadi Rum and Amman`. Who
  stands in one with well-known persons is of their kind.
- A name in quotation marks is the title of a song: `Who sang "Jolene"?`
- Who is in a well-known tale, in a sentence that evokes it, is a character: `Does Hermione marry
  Ron in Harry Potter?`
- The values of a program's translations are the words of its forms: `"password": "Passwort"`. The
  names of the keys say what the words mean, not that they are somebody's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from perturb.release import Span
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.labels import INTERFACE, LABELS, NAMES, ROLES, spell
from perturb.selective.patterns.persons import CAPITALS
from perturb.selective.patterns.settings import is_ordinary_word
from perturb.selective.patterns.shape import words_of
from perturb.text.marks import MARKS, WORD

__all__ = [
    "asks_for_amount",
    "drop_translated",
    "find_compared",
    "find_lists",
    "find_tales",
    "find_title_cells",
    "find_titles",
    "find_varieties",
    "is_about_surnames",
    "is_created",
    "is_eponym",
    "is_exercise",
    "is_invented",
    "is_of_fable",
    "is_played",
    "is_told",
    "is_told_to",
    "tells_tale",
]


# What an exercise of arithmetic asks for.
_AMOUNT = re.compile(
    r"\b(?:how (?:many|much|old|far|fast|heavy|tall)|"
    r"what (?:fraction|percentage|is the (?:average|total|sum|difference|ratio|probability))|"
    r"wie ?viele?|wie alt|wie schnell|wie weit|combien|quel âge|cu[áa]nt[oa]s?|"
    r"quant(?:[oiae]|[oa]s)|"
    r"hoeveel|ile|kolik|сколько|hur många|hvor mange|kaç)\b|"
    r"何[枚個本人円]|いくつ|いくら|多少|几个|몇",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.,/-])\d{1,6}(?:[.,]\d{1,3})?(?![\w/-])|[1-9]/\d{1,2}|"
    r"\b(?:twice|thrice|double|half|(?:three|four|five|ten) times|"
    r"(?:a|one) (?:third|quarter|fifth)|"
    r"doppelt|halb|(?:drei|vier|fünf)mal|ein (?:drittel|viertel|fünftel)|"
    r"(?:deux|trois|quatre|cinq|dix) fois|(?:un|le) (?:tiers|quart)|le (?:double|triple)|"
    r"doble|triple|(?:tres|cuatro|cinco) veces|un (?:tercio|cuarto)|"
    r"il (?:doppio|triplo)|(?:tre|quattro|cinque) volte|un (?:terzo|quarto)|"
    r"o (?:dobro|triplo)|(?:três|quatro|cinco) vezes|um (?:terço|quarto)|"
    r"(?:twee|drie|vier|vijf) keer|een (?:derde|kwart|vierde)|(?:dwa|trzy|cztery|pięć) razy|"
    r"jedn[ąa] (?:trzecią|czwartą)|(?:iki|üç|dört|beş) (?:katı|kat)|"
    r"(?:üçte|dörtte|beşte) biri\w{0,3})\b",
    re.IGNORECASE,
)
# In words they also stand in what somebody tells of their life, so they count only beside things
# that hardly anything but an exercise counts.
_IN_WORDS = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|hundred|"
    r"zwei|drei|vier|fünf|sechs|zehn|deux|trois|quatre|cinq|dix|"
    r"dos|tres|cuatro|cinco|diez|due|tre|quattro|cinque|dieci)"
)
_NUMBER_IN_WORDS = re.compile(
    rf"\b(?:{_IN_WORDS}|a (?:third|quarter|fifth|dozen)|ein (?:drittel|viertel)|un tiers|"
    r"un tercio|un terzo)\b",
    re.IGNORECASE,
)
_THINGS = (
    r"(?:apples|oranges|pears|bananas|peaches|"
    r"cookies|cand(?:y|ies)|marbles|pencils|crayons|stickers|balloons|muffins|cupcakes|"
    r"äpfel|birnen|orangen|murmeln|bonbons|buntstifte|kekse|luftballons|"
    r"pommes|poires|billes|manzanas|peras|naranjas|caramelos|canicas|lápices|galletas|"
    r"mele|pere|arance|caramelle|biglie|matite)\b"
)
_COUNTED = re.compile(
    rf"\b(?:\d{{1,4}}|{_IN_WORDS}) (?:[a-zäöü]{{2,10}} )?{_THINGS}", re.IGNORECASE
)
# How many apples, how many does each have, how many are left: no doses, and no calories.
_ASKED_FOR = re.compile(
    rf"\b(?:how many|wie ?viele|combien|cu[áa]nt[oa]s|quant[ie]) (?:d['’]|de )?(?:{_THINGS}|"
    r"(?:do(?:es)?|are|remain|has|have|bleiben|hat|haben|en|le|te|tiene|quedan|ha|ne|gli)\b)",
    re.IGNORECASE,
)
_NOT_COUNTED = re.compile(
    r"\b(?:child(?:ren)?|kids?|cancer|tumou?rs?|stage|debts?|ow(?:es?|ed|ing)|pills?|tablets?|doses?|"
    r"drugs?|insulin|diabet\w{1,4}|pregnan\w{1,3}|allerg\w{1,4}|sick|ill|doctors?|hospital|surgery|"
    r"stitches|st(?:eal|ole|olen)|salary|rent|loans?|fired|arrested|prison|jail|custody|divorce\w?|died|dead|"
    r"gestohlen|volée?s?|robad[oa]s?|kind(?:er|ern)?|krebs|stadium|schuld(?:en|et)?|tabletten|pillen|schwanger|krank|"
    r"enfants?|dettes?|doit|comprimés|malade|enceinte|hij[oa]s?|deudas?|debe|pastillas|enferm[oa]|"
    r"embarazada|figl[ioae]|debiti?|deve|pillole|malat[oa]|incinta)\b",
    re.IGNORECASE,
)
_LEAST = 2  # numbers of an exercise
_TOLD = re.compile(  # as a task, by somebody who sets it
    r"\b(?:word problems?|math(?:s|ematics)? (?:problems?|worksheets?|exercises?)|worksheets?|"
    r"textaufgaben?|sachaufgaben?|arbeitsblatt|problèmes? de maths?|problemas? de matemáticas)\b",
    re.IGNORECASE,
)
# What is practised. Of `grammar` alone people speak when a letter is to be corrected.
_PRACTISED = re.compile(
    r"\b(?:(?:passive|active) (?:voice|sentences?)|(?:reported|indirect|direct) speech|"
    r"subjunctive|(?:present|past|future) (?:simple|perfect|continuous|progressive)|simple past|"
    r"gap(?:ped)? (?:text|fill)|cloze (?:text|test)|relative clauses?|conditional (?:sentences?|"
    r"clauses?)|question tags?|tongue[- ]twisters?|grammar (?:exercises?|drills?|worksheets?)|"
    r"konjunktiv|passivsatz|(?:in|ins|das|im) passiv|indirekten? rede|lückentext|subjonctif|"
    r"voix passive|discours indirect|texte à trous|subjuntivo|voz pasiva|estilo indirecto|"
    r"example sentences|beispielsätze|phrases d['’]exemple|frases de ejemplo|frasi d['’]esempio|"
    r"congiuntivo|forma passiva|discorso indiretto|voz passiva|discurso indireto|strona bierna|"
    r"mowa zależna)\b|"
    r"\bpronounce\b|"
    # names as words: what does the name Emma mean?
    r"\bis \w{2,20} an? (?:\w+ )?(?:common|popular|rare|typical|old-fashioned|unusual|unisex|real|"
    r"outdated|modern|biblical|male|female) (?:\w+ )?name\b|"
    r"\bname \w{2,20} (?:mean|come from|originat)|\b(?:meaning|origin"
    r"|popular) (?:\w+ ){0,3}name\b|"
    r"\bdoes \w{2,20} mean in (?:irish|gaelic|welsh|hebrew|arabic|greek|latin|german|french"
    r"|spanish|italian|"
    r"japanese|chinese|korean|hindi|sanskrit|persian|turkish|polish|russian|swahili|yoruba)\b|"
    # what does karen mean as slang, who is chad and why is he a meme
    r"\bmean (?:as|in) (?:internet )?(?:slang|memes?)\b|"
    r"\bwho is \w{2,20} and why is \w{2,4} a meme\b|"
    r"\b(?:idioms?|proverbs?|homonyms?|phrasal verbs?) (?:with|using|containing) [\"“„'‘\w]|"
    r"\b(?:an?|good|cute|nice|popular|rare|unisex) (?:(?:boy|girl)'?s?|unisex)"
    r"(?: or (?:a )?(?:girl|boy)'?s?)? names?\b|\b(?:baby|boys?|girls?) names\b|"
    r"\b(?:nick|middle )names? (?:for|with|like|that|of)\b|\bhow (?:do|would|should"
    r"|to)(?: (?:you|u|i|we|one))? spell\b|"
    r"\bbedeutung (?:de[sr]|vom) (?:vor)?namens?\b|\bbedeutet der (?:vor)?name\b|"
    r"\bsignifica(?:do)? (?:d?el|o|do) nom(?:br)?e\b|\bsignifica(?:to)? (?:de)?l nome\b"
    r"|\bsignifica il nome\b|"
    r"\b(?:signification|origine) du (?:pré)?nom\b|\bveut dire le (?:pré)?nom\b"
    r"|\bbetekenis van de naam\b|"
    r"\bznaczenie imienia\b|\bco (?:oznacza|znaczy) imię\b|"
    # Is it "Mark and I" or "Mark and me"?
    r"\b(?:is it|correct|between|zwischen|entre|tra|tussen|heißt es) [\"“„'‘][^\"”“\n]{1,60}"
    r"[\"”“'’] (?:or|and|und|oder|et|ou|y|o|e|en|of) [\"“„'‘]",
    re.IGNORECASE,
)
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
_LONGEST = 6  # words of a title
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St)\.")  # "Mr. Smith Goes to Washington"
_SAID = re.compile(r"[,.;:@]|\d{3}[ -]?\d{4}")  # in a sentence, or beside a number
_YEAR = re.compile(r" \((?:18|19|20)\d\d\)")  # "My Man Godfrey" (1936)
# Which no person's name has: a year may also be that of a birth.
_PHRASE = re.compile(
    r"\b(?:the|my|your|his|our|their|to|in|on|at|with|for|from|who|what|is|was)\b", re.IGNORECASE
)
_TITLE = re.compile(r"[\"“„«](?P<title>[^\"”“»\n]{2,40})[\"”“»]")


def is_exercise(text: str) -> bool:
    """Tell if a text says that it is an exercise of arithmetic or of grammar.

    >>> [is_exercise(text) for text in ("Put into passive voice: Tom eats.", "Tom left me.")]
    [True, False]
    """
    return _TOLD.search(text) is not None or _PRACTISED.search(text) is not None


def asks_for_amount(text: str) -> bool:
    """Tell if a text gives numbers and asks for one.

    >>> asks_for_amount("Tom has 5 apples and buys 7 more. How many apples does he have?")
    True
    """
    if not _AMOUNT.search(text):
        return False
    numbers = sum(1 for _ in _NUMBER.finditer(text))
    counted = _COUNTED.search(text) and _ASKED_FOR.search(text)
    if numbers < _LEAST and counted and not _NOT_COUNTED.search(text):
        numbers += sum(1 for _ in _NUMBER_IN_WORDS.finditer(text))
    return numbers >= _LEAST


# What is named after who found it: laws, and animals that are nobody's pets.
_EPONYM = re.compile(
    r"(?:['’]s|(?<=s)['’]) (?:"
    r"law(?! (?:firm|school|degree|practice|office|student|exam|suit|books?)\b)|theorem|lemma|"
    r"conjecture|paradox|inequality|hypothesis|hierarchy of|taxonomy|razor|typology|maxims|"
    r"(?:growth|change|process) model|"
    r"theory of [a-z]{3,14}(?:ion|ism|ity|ment|ance|ence|ics|logy|ing)|"
    r"(?:equity|expectancy|attachment|learning|field|systems|game|number|graph) theory|"
    r"zebra|gulls?|whales?|gazelles?|sparrows?|warblers?|hummingbirds?|vultures?|petrels?|terns?|"
    r"tapirs?|sea lions?|plovers?|sandpipers?|woodpeckers?|lemurs?)\b"
    r"(?! (?:has|have|had|ran|runs?|escaped|died|bit|is ill|was|were|got|needs?|will)\b)"
)


def is_eponym(text: str, end: int) -> bool:
    """Tell if the name before a place is one that a law or an animal is called after.

    >>> is_eponym("Graham's law of effusion", 6), is_eponym("Graham's law firm", 6)
    (True, False)
    """
    return _EPONYM.match(text, end) is not None


_PART = r"(?:you(?: are|['’]re)|du bist|tu es|eres|sei)"
_OWN_PART = r"(?:I am|I['’]m|ich bin|je suis|yo soy|io sono)"
_PLAYED_BEFORE = re.compile(
    rf"\b{_PART} [^.!?\n]{{2,40}}?(?:,| and|, and| und| et| y| e) {_OWN_PART} \Z", re.IGNORECASE
)
_PLAYED_AFTER = re.compile(rf"(?:,| and|, and| und| et| y| e) {_PART} (?-i:[A-Z])", re.IGNORECASE)
_OWN_PART_BEFORE = re.compile(rf"\b{_OWN_PART} \Z", re.IGNORECASE)


def is_played(text: str, start: int, end: int) -> bool:
    """Tell if a name is the part of the writer, who gives the other one a part in the same breath.

    >>> is_played("You are Yoda and I'm Luke.", 21, 25)
    True
    >>> is_played("You are kind. I'm Luke.", 18, 22)
    False
    """
    if _PLAYED_BEFORE.search(text, max(0, start - 60), start):
        return True
    own = _OWN_PART_BEFORE.search(text, max(0, start - 12), start)
    return own is not None and _PLAYED_AFTER.match(text, end) is not None


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


def _find_title_head(cells: list[str]) -> int | None:
    """Return the place of the head of titles in a row of heads; None without it."""
    places = [place for place, cell in enumerate(cells) if cell in _TITLE_HEADS]
    if not places or _WORK_HEADS.isdisjoint(cells[: places[0]] + cells[places[0] + 1 :]):
        return None
    return places[0]


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
            keyed = _VALUE.search(line, max(0, place - _LONGEST), place)
            written = title[0].isupper() and not _SAID.search(_TITLED.sub("", title))
            if len(title.split()) < _LONGEST and written and not keyed:
                yield start + place, start + found.end("title")
        start += len(line)


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
_COMPARED = re.compile(
    r"\b[Bb]est (?:[a-z]{3,12} ){0,3}(?:shoes|boots|skis|bikes|tents|jackets|backpacks|phones|"
    r"laptops|tablets|cameras|headphones|earbuds|guitars|pens|watches|strollers|mattresses|monitors|"
    r"keyboards|machines|speakers|lenses|amplifiers|microphones|routers|blenders|mixers|knives|"
    r"pans|sneakers|cars|scooters|suvs|tyres|tires|mowers|drills|vacuums|"
    r"dishwashers|fridges|printers|perfumes|whisk(?:e?y|ies|eys)|wines|beers|brands) ?: "
    rf"(?P<list>{_ITEM}(?:(?:, |{_AND}){_ITEM}){{0,12}})"
)


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
    for start, end in _find_listed(_COMPARED, text):
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


_LONGEST_GROWER = 12  # characters
_GROWER = re.compile(r"\b(?:who|responsible|wer|wem|wen|qui|quién|chi|ask|tell)\b", re.IGNORECASE)
_BEINGS = (
    r"(?:aliens?|androids?|bards?|centaurs?|clerics?|cyborgs?|dinosaurs?|dragons?|dwar(?:f|ves)|el(?:f|ves)|"
    r"fair(?:y|ies)|ghosts?|giants?|goblins?|gnomes?|knights?|mermaids?|monsters?|necromancers?|ninjas?|npcs?|"
    r"ogres?|orcs?|paladins?|pirates?|rangers?|robots?|samurais?|sorcerer(?:s|ess)?|superhero(?:es)?|trolls?|"
    r"unicorns?|vampires?|vikings?|villains?|warlocks?|werewol(?:f|ves)|witch(?:es)?|wizards?|zombies?|"
    r"protagonist|main character|drache|pirat(?:a|e)?|ritter|zauberer|hexe|roboter|dragón"
    r"|dragon|mago|brujo|bruja|"
    r"chevalier|sorcier|sorcière|fée|drago|strega)"
)
_ANIMALS = (
    r"(?:bears?|bees?|birds?|bunn(?:y|ies)|camels?|cats?|chickens?|cows?|crabs?|crows?|dogs?|"
    r"dolphins?|donkeys?|ducks?|elephants?|fox(?:es)?|frogs?|giraffes?|goats?|hamsters?|hedgehogs?|"
    r"horses?|kittens?|lions?|mice|monkeys?|mouse|octopus|owls?|parrots?|penguins?|pigs?|ponies|"
    r"pony|pupp(?:y|ies)|rabbits?|rats?|sharks?|sheep|sloths?|snails?|snakes?|spiders?|squirrels?|"
    r"tigers?|turtles?|whales?|wol(?:f|ves))"
)
_CALLED = (
    r" (?:who(?:['’]s| is) )?(?:named|called|by the name of|namens|llamad[oa]|nommée?|appelée?|"
    r"chiamat[oa]) "
)
# What follows the name of who is invented, in a cast of figures or a part that the remote plays:
# `NPC list: Brakka (orc barbarian)`, `You are Vexara, an elven necromancer`. One word alone is
# also said of people, and so is what has a noun behind it: a golem of a boss, a vampire nurse.
_FOLK = (
    r"(?:(?:high |wood |dark )?(?:half-?)?(?:el(?:f|ven)|orc(?:ish)?)|drow|dwar(?:f|ven)|"
    r"halfling|tiefling|dragonborn|gnom(?:e|ish)|goblin|kobold)"
)
_CALLINGS = (
    r"(?:archmage|assassin|barbarian|bard|blacksmith|cleric|druid|fighter|knight|mage|monk|"
    r"necromancer|paladin|priest(?:ess)?|ranger|rogue|shaman|smith|sorcer(?:er|ess)|thief|warlock|"
    r"warrior|witch|wizard)"
)
_INVENTED_AFTER = re.compile(
    rf"(?:,? (?:an?|the) |, | ?\()(?:[a-z]{{2,15}} )?{_FOLK} {_CALLINGS}"
    r"(?=[),.;:!?\n]|\Z| of (?:[A-Z]|level\b))"
)
_RANK = r"(?:(?:captain|sir|lady|lord|king|queen|princess?|master|kapitän|capitaine|capitán) )?"
_CAST_BEFORE = re.compile(
    r"\b(?:NPCs?\b[^.!?\n]{0,100}|(?i:you(?: are|['’]re)|du bist|tu es|eres"
    rf"|character(?: sheet)? (?:for|of|named|called)) (?i:{_RANK}))\Z"
)
# Who the remote is to be: `You are Captain Blackwood, a gruff pirate.`
_PART_BEFORE = re.compile(
    rf"(?:\A|[.!?\n] ?)(?:you(?: are|['’]re)|du bist|tu es|eres|act as|play) {_RANK}\Z",
    re.IGNORECASE,
)
_BEING_AFTER = re.compile(
    r",? (?:an?|the|eine?|une?|una?) (?:[^\W\d_]{2,15} ){0,2}"
    r"(?:pirate|wizard|witch|vampire|werewolf|dragon|knight|elf|dwarf|orc|goblin|robot|android"
    r"|cyborg|ghost|necromancer|sorcerer|sorceress|warlock|paladin|viking|samurai|ninja|mermaid"
    r"|unicorn|superhero|supervillain|pirat|zauberer|hexe|vampir|drache|ritter|sorcier|sorcière"
    r"|chevalier|mago|bruja|dragón|caballero)"
    r"(?=[.,;:!?\n]|\Z| (?:who|from|of|on|in|der|die|qui|que))",
    re.IGNORECASE,
)
# A being that somebody is said to be is none: my boss is a pirate called Holloway.
_INVENTED = re.compile(
    r"(?P<said>(?<!here )\b(?:is|was|are|ist|est|es|è) (?:an?|the|eine?|une?|una?|un|il|el) "
    rf"(?:[a-z]{{2,15}} )?)?\b{_BEINGS}{_CALLED}"
    r"(?:(?:captain|capt|sir|lady|lord|king|queen|princess|prince|dr|kapitän|capitán|capitaine) )?"
    r"\Z",
    re.IGNORECASE,
)
_SAID_TO_BE = r"\b(?:is|was|are|ist|est|es|è) (?:an?|the|eine?|une?|una?|un|il|el) "
_ELFIN = re.compile(rf"(?P<said>{_SAID_TO_BE})?\b{_FOLK} {_CALLINGS}{_CALLED}\Z", re.IGNORECASE)
_FABLE = re.compile(
    r"\b(?:limericks?|poems?|stor(?:y|ies)|tales?|fables?|songs?|rhymes?|jokes?|haikus?) about "
    rf"(?:an?|two|three) (?:[a-z-]{{2,15}} ){{0,3}}{_ANIMALS}{_CALLED}"
    r"(?:(?:mr|mrs|ms|miss|dr|sir|lady|captain)\.? )?\Z",
    re.IGNORECASE,
)


_IDIOM = re.compile(
    r"\b(?:for pete['’]?s sake|peeping tom|doubting thomas|(?:every )?tom,? dick,? (?:and|or|&"
    r"|n) harry|plain jane"
    r"|average joe|smart alec|bob['’]?s your uncle|dear john letter|jack of all trades|uncle sam"
    r"|joe (?:public|bloggs|sixpack)"
    r"|the real mccoy|aunt sally|nosy parker|happy larry|jolly roger|lazy susan|(?:mary"
    r"|gary) (?:sue|stu)"
    r"|jack(?: frost| the lad|-in-the-box)|johnny[- ]come[- ]lately|keeping up with the joneses"
    r"|jan met de pet"
    r"|hinz und kunz|mein name ist hase|hans im glück|otto normalverbraucher|lieschen müller"
    r"|hans[- ]?wurst"
    r"|fulano|mengano|zutano|john hancock|rob(?:bing|bed|s)? peter to pay paul|debbie downer"
    r"|negative nancy|nervous nell(?:y|ie)|chatty cathy|even steven|simon says|life of riley"
    r"|for the love of mike|gordon bennett|moaning minnie|joe (?:blow|average|schmo)"
    r"|john q\.? public|johnny on the spot|bad luck brian|scumbag (?:steve|stacy)|good guy greg"
    r")\b",
    re.IGNORECASE,
)
# Breeds and drinks with a person's full name, after an article and not as who does something.
_KIND = re.compile(
    r"(?<!\b(?:by|to|as) )(?<!\bmet )(?<!\bthere['’]s )(?<!\bwith )"
    r"(?<!(?<!\bdiffer )(?<!\bdifferent )\bfrom )"
    r"\ban? (?:jack russells?|(?:tom|john) collins|rob roy|arnold palmer|shirley temple)\b"
    r"(?! (?:called|phoned|rang|texted|e?mailed|wrote|writes|signed|said|says|asked|asks|came|left"
    r"|works|worked|lives|lived|who|from|at|in|on|has|had|paid|owes|booked|ordered|born|aged)\b)",
    re.IGNORECASE,
)
_IDIOM_NEAR = 40


def is_told(text: str, start: int, end: int, *, invented: bool = True, elfin: bool = True) -> bool:
    """Tell if a name is one of a saying, or of a being of tales where it may be `invented`, or an
    elf with a calling where it may be `elfin`: `for Pete's sake`, `a dragon named Fizz`.

    >>> is_told("a dragon named Fizz", 15, 19), is_told("a man named Fizz", 12, 16)
    (True, False)
    """
    low = max(0, start - 60)
    being = _INVENTED.search(text, low, start)
    if invented and being and not being["said"]:
        return True
    elf = _ELFIN.search(text, low, start) if elfin else None
    if elf and not elf["said"]:
        return True
    near = max(0, start - _IDIOM_NEAR), end + _IDIOM_NEAR
    found = chain(_IDIOM.finditer(text, *near), _KIND.finditer(text, *near))
    return any(idiom.start() <= start and end <= idiom.end() for idiom in found)


TALES = Path(__file__).parents[1] / "data" / "tales.txt"
# What is told of characters. `Story` alone also stands in reports.
_FICTION = re.compile(
    r"\b(?:fan ?fic(?:tion|s)?|fics?|twists?|characters?|protagonists?|villains?|plot|"
    r"summari[sz]e|retell|riassumi|résume|resume|podsumuj|özetle|chapters?|episodes?|seasons?|sequels?|prequels?|spoilers?|movies?|films?|novels?|sitcoms?|trilogy|saga|anime|"
    r"manga|figuren?|romanfigur(?:en)?|kapitel|staffel|folge|personnages?|chapitre|personajes?|"
    r"capítulo|personaggi(?:o)?|capitolo|personagens?|postac(?:i|ie|iach)|rozdział)\b",
    re.IGNORECASE,
)
# Children are named after characters and have parties, and colleagues borrow books.
_LIFE = re.compile(
    r"\b(?:birthdays?|part(?:y|ies)|presents?|gifts?|costumes?|cosplay|invit(?:e|es|ed|ing)|"
    r"invitations?|tickets?|trips?|lov(?:es|ed)|lik(?:es|ed)|fans? of|favou?rite|obsessed|"
    r"turn(?:s|ed|ing) \w{1,8}|years? old|aged?|born|kids?|child(?:ren)?|daughters?|sons?|nieces?|"
    r"nephews?|teachers?|class(?:es|mates?)?|school|works?|worked|working|lives?|lived|moved|phone|"
    r"address|(?:movie|film|book|game|quiz|trivia) (?:night|evening|club)|boss|managers?|"
    r"colleagues?|coworkers?|office|hr|accounting|fired|hired|borrow\w{0,3}|lend|lent|"
    r"return(?:s|ed)|library|buy|bought|shops?|stores?|orders?|ordered|invoices?|pay(?:s|ments?)?|"
    r"paid|owes?|arriv(?:es|ed)|deliver(?:y|ed)|neighbou?rs?|landlord|hospital|clinic|lawyer|"
    r"divorce|today|tonight|tomorrow|yesterday|last night|next week|"
    r"teach(?:es|ing)?|taught|funeral|groups?|clubs?|watch(?:es|ing)?|binge\w{0,6}|reads|reading|"
    r"heute|morgen|gestern|aujourd['’]hui|demain|hier|hoy|mañana|ayer|oggi|domani|ieri|"
    r"geburtstag|geschenk|schenken|einlad\w*|anniversaire|cadeau|cumpleaños|regalo|compleanno|"
    r"aniversário|presente|urodziny|prezent)\b",
    re.IGNORECASE,
)
_TOLD_TO = re.compile(
    r"\b(?:tell|ask|remind|give|send|show|call|text|thank|pay|help|invite|meet|with|frag|sag)\s\Z",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _load_tales() -> Mapping[str, frozenset[str]]:
    """Return by a name the phrases that evoke a tale in which somebody is called so."""
    found: dict[str, set[str]] = {}
    for line in TALES.read_text("utf-8").splitlines():
        phrases, _, names = line.partition(": ")
        tale = phrases.split(", ") if names else []
        for name in (*names.split(), *(phrase for phrase in tale if " " not in phrase)):
            found.setdefault(name, set()).update(f" {phrase} " for phrase in tale)
    return {name: frozenset(phrases) for name, phrases in found.items()}


def find_tales(names: Iterable[str]) -> frozenset[str]:
    """Return the phrases, between blanks, each of which evokes a tale in which somebody is called
    by all of some names, each a key (`perturb.selective.public.read_key`).

    >>> " hogwarts " in find_tales(["hermione"]), find_tales(["hermione", "blake"])
    (True, frozenset())
    """
    tales = _load_tales()
    found = [tales.get(name, frozenset()) for name in names]
    return frozenset.intersection(*found) if found else frozenset()


# What is to be written, or who is to be played.
_CREATED = re.compile(
    r"\b(?:write|compose|imagine|invent|continue|create)\b[^.!?\n]{0,60}\b(?:scenes?|poems?|stor(?:y|ies)|"
    r"dialogues?|monologues?|ballads?|songs?|limericks?|haikus?|sonnets?|rap battles?|scripts?|"
    r"sketch(?:es)?|parod(?:y|ies)|pastiches?|crossovers?)\b|"
    r"\b(?:parod(?:y|ies)|pastiches?|crossovers?|role-?play)\b|\b(?:you are|you['’]re) (?=[A-Z])",
    re.IGNORECASE,
)


def is_created(text: str, low: int, high: int) -> bool:
    """Tell if the text between two places asks for a scene, a poem or the like, or for a part to
    be played.

    >>> is_created("Write a scene in which Gimli sings", 0, 34)
    True
    >>> is_created("Write to Gimli", 0, 14)
    False
    """
    return _CREATED.search(text, low, high) is not None


def is_told_to(text: str, start: int) -> bool:
    """Tell if somebody is to be told or given something: `Tell Percy that`."""
    return _TOLD_TO.search(text, max(0, start - 10), start) is not None


def tells_tale(text: str) -> bool | None:
    """Tell if a text speaks of characters, by words for tales and of no life; None if it has
    neither.

    >>> tells_tale("A scene of chapter 3"), tells_tale("Ron's birthday"), tells_tale("Ron?")
    (True, False, None)
    """
    if _LIFE.search(text):
        return False
    return True if _FICTION.search(text) else None


def is_invented(text: str, start: int, end: int) -> bool:
    """Tell if what stands around a name says that its bearer is a being of tales.

    >>> is_invented("NPC: Brakka (orc barbarian)", 5, 11), is_invented("Brakka (orc)", 0, 6)
    (True, False)
    """
    if _BEING_AFTER.match(text, end, end + 80):
        return _PART_BEFORE.search(text, max(0, start - 40), start) is not None
    if not _INVENTED_AFTER.match(text, end, end + 60):
        return False
    return _CAST_BEFORE.search(text, max(0, start - 120), start) is not None


def is_of_fable(text: str, start: int) -> bool:
    """Tell if the name at a place is an animal's in a tale or a poem that is asked for.

    >>> is_of_fable("A poem about a shy cat called Tom", 30), is_of_fable("My cat called Tom", 14)
    (True, False)
    """
    return _FABLE.search(text, max(0, start - 120), start) is not None


def is_about_surnames(text: str) -> bool:
    """Tell if a text speaks of surnames."""
    return _SURNAMES.search(text) is not None


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


# What a key may be evidence for. A value with a digit or another sign is no translation.
_TYPES = frozenset(("LOCATION", "NAME", "ORGANIZATION", "PASSWORD", "PERSON", "USERNAME"))
_AFTER_KEY = re.compile(
    r"(?:[:=]>?[ \t]{0,8}|>|\bmsgstr )(?P<quote>\\?[\"'`]?)"
    rf"(?P<value>[¿¡]?[^\W\d_](?:[^\W\d_]|[{MARKS} .,'’?!…()/-]){{0,60}}?)(?P=quote)"
    r"[ \t]{0,4}(?:[,;}<\n]|\\n|\Z)"
)
_KEY = re.compile(r"([\w.-]{1,60})[\"'`\])]*\s{0,4}(?:[:=]>?[ \t]{0,8}|>)\Z")
_NEAR = 16  # values before and after one
_FEW, _SHARE = 3, 0.3  # so many labels among them say that the text is one of translations
# Labels in other languages than English, whose words are the values of logs and records as well;
# and not what people are: a customer, a patient.
_EVIDENCE = frozenset(
    label
    for label in ({*LABELS} | INTERFACE | NAMES) - ROLES
    if not is_ordinary_word(label.replace("_", ""))
)
# Also inside words, and where words have no blanks: 确认密码, Şifreyi.
_SECRETS = [label for label in _EVIDENCE if LABELS.get(label) == "PASSWORD" and len(label) != 3]
_WHOLE = {*LABELS} | INTERFACE | NAMES | ROLES


class _Value(NamedTuple):
    start: int
    end: int
    key: str
    label: bool  # the whole value is one
    told: bool  # it is evidence, or a part of it is
    role: bool  # it is what somebody is


def drop_translated(
    text: str, findings: Iterable[Span], own: Collection[str] = ()
) -> tuple[Span, ...]:
    """Return the findings without those that lie in the value of a translation. The values near
    it have a key each, as in no log, and many of them are labels of forms, in another language
    than English. It is one itself, or has a label's words, or it is no password and has no given
    name.

    Args:
        own: types that the operator named, of which every finding counts.

    >>> text = '{"user": "Benutzer", "phone": "Telefon", "save": "Speichern", "find": "Suchen"}'
    >>> drop_translated(text, [Span(10, 18, "USERNAME")])
    ()
    """
    findings, types = tuple(findings), _TYPES.difference(own)
    if not any(span.type in types for span in findings):
        return findings
    values = list(_read_values(text))
    starts = [value.start for value in values]
    return tuple(
        span
        for span in findings
        if span.type not in types or not _is_translated(text, span, values, starts)
    )


def _read_values(text: str) -> Iterator[_Value]:
    for match in _AFTER_KEY.finditer(text):
        key = _KEY.search(text, max(0, match.start("value") - 72), match.start("quote"))
        words = [spell(word) for word in WORD.findall(match["value"])]
        sizes = range(1, 4) if len(words) < 8 else ()
        phrases = {"_".join(words[i : i + size]) for i in range(len(words)) for size in sizes}
        whole = "_".join(words)
        name = key[1] if key else f"{match.start()}"
        told = not _EVIDENCE.isdisjoint(phrases) or any(label in whole for label in _SECRETS)
        yield _Value(*match.span("value"), name, whole in _WHOLE, told, whole in ROLES)


def _is_translated(text: str, span: Span, values: list[_Value], starts: list[int]) -> bool:
    place = bisect_right(starts, span.start) - 1
    if place < 0 or span.end > values[place].end:
        return False
    near = [*values[max(0, place - _NEAR) : place], *values[place + 1 : place + 1 + _NEAR]]
    told = sum(value.told for value in near)
    keys = [value.key for value in (*near, values[place])]
    counted = sum(not value.role for value in near)
    if told < max(_FEW, _SHARE * counted) or len(set(keys)) < len(keys):
        return False
    if values[place].label or values[place].told:
        return True
    named = any(is_given(word) for word in WORD.findall(text, span.start, span.end))
    return span.type != "PASSWORD" and not named
