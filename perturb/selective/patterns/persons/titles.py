"""Persons by the title before or behind their name: `Mrs Castle`, `dear mr featherstonehaugh`,
`Kovács úr`.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.persons.relatives import VERBS, is_predicate
from perturb.selective.patterns.persons.written import (
    CAPITALS,
    NO_NAMES,
    PHRASE_WORDS,
    RATHER_WORDS,
    TITLE_LIST,
    TITLE_WORDS,
    WRITTEN_LOWER,
    WRITTEN_NAME,
    WRITTEN_TITLE,
    WRITTEN_WORD,
    is_given_name,
    is_lower_name,
    is_of_life,
)
from perturb.selective.patterns.shape import any_listed, any_of, any_string, shape, words_of
from perturb.selective.patterns.words import DOINGS, GERMAN_NOUNS, OPENERS, PARTICLES
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = ["TITLES"]

# What follows these titles, and names nobody or somebody everybody knows: Miss World, Dr Pepper.
_NOBODY_TITLED = words_of(
    """
    world universe america piggy marple president speaker chairman chair chairwoman bean who pepper
    strange evil doubtfire word excel office windows teams access project publisher outlook paint
    visual store edge saigon manners right wonderful big perfect clean potato incredible fox hyde
    scarlet scarlett white green black pink blonde orange plum mustard peacock robot minister
    ambassador mayor justice secretary teen earth sunshine
    """
)
# In small letters. After the first stands a name, whatever word it is, and after the next ones if
# they have a dot; after the others one that no dictionary has, or a given name.
_SURELY_TITLED = words_of("mr mrs dhr mw mevr mme mlle sig")
_SURE_WITH_DOT = words_of("ms fr hr")
_TITLED_WELL = words_of("ms dr prof herr herrn frau señor señora sr sra dott dra doc maître")
_POLISH_SURNAME = re.compile(
    r"\w{2,15}(?:[sc]k(?:i|a|iej|iego|iemu|im|ą)|wicz(?:a|owi|em)?|czyk(?:a|owi|iem)?)"
)
_TITLED_KIN = words_of(
    "uncle aunt auntie aunty nana granny grandma grandpa coach sensei professor"
)
_LOWER_TITLES = """
    mr mrs dhr mw mevr mme mlle sig ms dr prof herr herrn frau fr hr señor señora sr sra dott dra
    doc maître fru miss mister coach sensei uncle aunt auntie aunty nana granny grandma grandpa nan
    oma opa onkel tante zio zia nonna nonno tío tía tio tia tonton tata mamie papy babcia ciocia
    wujek pan pani pana panu panem don doña dona seu juf meester maestra maestro profe meneer
    mevrouw signora signor monsieur madame sister father pastor reverend rev officer judge
    principal nurse professor
"""
_OF_WOMAN = re.compile(r"(?<!\w)(?:die|der|\w{0,4}(?:ne|ner|re|rer)) frau\Z")
# What somebody is, before a title in Hungarian and Turkish: `Elnök úr`, `Doktor Bey`.
_ROLES_TITLED = words_of(
    """
    elnök tanár tanárnő miniszter igazgató főnök doktor doktornő professzor polgármester képviselő
    ügyvéd bíró tisztelt kedves házvezető uram müdür başkan hâkim hakim savcı vali kaymakam memur
    komiser amir avukat öğretmen hoca profesör sayın küçük büyük
    """
)
_GERMAN = words_of("Herr Herrn Frau Fräulein")
# Which stand in small letters before a surname inside a sentence.
_SMALL_TITLES = words_of(
    """
    dr mr mrs ms prof señor señora doña monsieur madame mademoiselle signor signora signorina
    senhor senhora meneer mevrouw fru pan pani pán paní tante onkel oma opa
    """
)
# What follows `Bapak` and `Ibu`, and is nobody's name.
_NOBODY_IN_MALAY = words_of(
    """
    choi choy kota negara negeri bangsa pertiwi presiden guru dokter polisi hakim rumah hamil dosen
    kepala direktur menteri gubernur walikota bupati camat lurah ketua manajer manager rektor jaksa
    proklamator pendeta ustad ustadz haji kos mertua tiri angkat kandung saya kami anda dan yang
    """
)


def _is_word_titled(word: str) -> bool:
    """Tell if an ordinary word with a capital may be somebody's surname: `Mrs Castle`."""
    return word.lower() not in NO_NAMES and word.lower() not in _NOBODY_TITLED


def _locate_lower_titled(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name in small letters after a title."""
    name, dotted = match["part"].rpartition(" ")[2], bool(match["dot"])
    plain = name in OPENERS or name in NO_NAMES or name in PHRASE_WORDS or name in TITLE_WORDS
    if not name.islower() or plain or name in _NOBODY_TITLED or name in PARTICLES:
        return None
    if is_given(name) and name not in RATHER_WORDS:
        return match.span("part")
    wife = _OF_WOMAN.search(match.string, max(0, match.start() - 8), match.end("title"))
    if wife and (name in DOINGS or VERBS["meine"].fullmatch(name)):  # die frau sagt
        return None
    own = not is_ordinary_word(name) or is_of_life(match.string, *match.span("part"))
    titled = own and _is_titled_name(match["title"], name, dotted=dotted)
    return match.span("part") if titled else None


def _is_titled_name(title: str, name: str, *, dotted: bool) -> bool:
    """Tell if a word in small letters that is no given name is one after a title."""
    if title in _SURELY_TITLED or (title in _SURE_WITH_DOT and dotted):
        return name not in FUNCTION_WORDS
    if title.startswith("pan") and _POLISH_SURNAME.fullmatch(name):
        return True
    if title in _TITLED_KIN:
        return is_lower_name(name) and not is_predicate(name, "my")
    return is_lower_name(name) and (title in _TITLED_WELL or dotted)


def _locate_titled(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the name after a title; None where a street ends: `12 Elm Dr Leeds`."""
    before = match.string[max(0, match.start() - 30) : match.start()]
    title = match[0][: match.start("part") - match.start()].strip(" .")
    if title[:1].islower() and title not in _SMALL_TITLES:
        return None
    if title in ("Senhor", "Senhora"):  # Nossa Senhora de Fátima, Senhor dos Anéis
        return None
    if title == "M" and match["part"][1:2] == ".":  # M. R. James
        return None
    if title in (
        "M",
        "Fr",
        "Hr",
        "Pan",
        "Judge",
        "Justice",
        "Officer",
        "Nurse",
        "Coach",
        "Lt",
        "Sig",
        "Ing",
    ):
        dotted = match[0][len(title) : len(title) + 1] == "."
        if not dotted and title in ("M", "Fr", "Hr", "Pan", "Sig", "Ing", "Lt"):
            return None
    if re.search(r"\d{1,5} (?:\w+ ){1,3}\Z", before):
        return None
    start, end = match.span("part")
    return (start, start + len(_cut_nouns(match["part"]))) if title in _GERMAN else (start, end)


def _cut_nouns(name: str) -> str:
    """Leave the nouns after a name, which have capitals in German: `Holzapfels Akte`."""
    words = name.split(" ")
    for place, word in enumerate(words):
        if word.endswith("s") and not is_given(word):  # a genitive
            words = words[: place + 1]
            break
    while len(words) > 1 and (words[-1].lower() in GERMAN_NOUNS or is_ordinary_word(words[-1])):
        words.pop()
    return " ".join(words)


def _is_titled_in_malay(name: str) -> bool:
    return name.split(" ")[0].lower() not in _NOBODY_IN_MALAY and not is_ordinary_word(name)


TITLES = (
    shape(  # PC 4471 Dunmore, Sgt 12 Ravensworth
        "PERSON",
        r"(?<!\w)(?:WPC|PC(?= \d{3})|PCSO|Sgt|Const(?:able)?|Officer|Deputy) "
        r"(?:No\.? ?)?[A-Z]{0,2}\d{1,6} "
        rf"(?P<part>{WRITTEN_WORD})(?![\w-])",
        lambda name: not is_ordinary_word(name),
        clue=any_string("pc ", "pcso ", "sgt ", "const", "officer ", "deputy "),
        reach=2,
    ),
    shape(
        "PERSON",
        rf"(?<![\w.-])(?:(?i:{WRITTEN_TITLE})\b\.?(?:<br ?/?>| |\xa0){{1,2}}){{1,4}}"
        rf"(?P<part>{WRITTEN_NAME})",
        is_given_name,
        clue=any_listed(TITLE_LIST),
        reach=70,
        locate=_locate_titled,
    ),
    shape(  # Mrs Castle
        "PERSON",
        rf"(?<![\w.-])(?:(?:Mrs|Mr|Ms|Miss|Mx|Cllr|Rev|Revd|[Pp]ani|[Mm]evrouw|[Mm]eneer)\.?"
        rf"|(?:[Mm]w|[Dd]hr|[Mm]evr|[Ff]am)\.) "
        rf"(?P<part>(?:[Dd]e |[Vv]an (?:de |den |der )?|D[aeo]s? )?"
        rf"[{CAPITALS}][^\W\d_{CAPITALS}]{{2,20}})(?!\w|['’-]\w\w| [{CAPITALS}]\w| (?:von|van"
        rf"|de) )",
        _is_word_titled,
        clue=any_listed("mr mrs ms miss mx cllr rev revd pani mevrouw meneer mw dhr mevr fam"),
        reach=8,
    ),
    shape(  # Bapak Suryo Wicaksono
        "PERSON",
        r"(?<![\w-])(?:Bapak|Bpk\.?|Pak|Ibu|Bu|Mbak|Sdri?\.?) (?:(?:Dr|Ir|H|Hj)\.? )?"
        rf"(?P<part>{WRITTEN_WORD}(?: {WRITTEN_WORD}){{0,3}})(?![\w'’-])",
        _is_titled_in_malay,
        clue=any_listed("bapak bpk pak ibu bu mbak sdr sdri"),
        reach=4,
    ),
    shape(  # Kovács úr, Karadağ Hanım
        "PERSON",
        rf"(?<![\w-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,20}}) "
        r"(?:úr|asszony|[Bb]ey|[Hh]anım)(?![\w'’-])",
        lambda name: name.lower() not in _ROLES_TITLED and not is_ordinary_word(name),
        clue=any_listed("úr asszony bey hanım"),
        reach=24,
    ),
    shape(  # dear mr featherstonehaugh, ms. lark, fr. özdemir, don eusebio
        "PERSON",
        r"(?<![\w.@/-])"
        rf"(?P<title>{any_of(_LOWER_TITLES)})(?P<dot>\.?) "
        rf"(?P<part>(?:(?:van der|van den|van de|van|von|de la|de los|de|del|di|el|al) )?"
        rf"{WRITTEN_LOWER})(?![\w-]|['’](?!s\b)|\.\w)",
        clue=any_listed(_LOWER_TITLES),
        locate=_locate_lower_titled,
        reach=12,
    ),
    shape(  # Mme LE PROVOST
        "PERSON",
        rf"(?<![\w.-])(?:M|Mr|Mme|Mlle|Mrs|Ms|Dr)\.? "
        rf"(?P<part>(?:LE|LA|DE|DU|DES|DA|DI|VAN|VON|DEL|DE LA|VAN DER)[ ][{CAPITALS}]{{3,20}}"
        rf"(?:-[{CAPITALS}]{{2,20}})?)(?![\w-])",
        clue=any_listed("m mr mme mlle mrs ms dr"),
        reach=8,
    ),
)
