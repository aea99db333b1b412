"""Find the names of firms by their legal form, or by their trade where somebody works there. The
legal form stays: what stands before it is the name."""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.settings import is_ordinary_word
from perturb.selective.patterns.shape import any_listed, any_of, any_string, shape, words_of
from perturb.selective.patterns.words import OPENERS
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = ["FIRMS"]

_CAPITALS = "A-ZÀ-ÖØ-ÞŁŚŻŽŠČĐİ"
_FIRST = rf"[{_CAPITALS}](?:[\w&-]|['’.](?=\w)){{0,24}}\.?"
_WORD = rf"(?:{_FIRST}|&|and|und|et|y|e|of)"
# Of which a word in capitals is hardly anything else, after a name.
_FORMS = (
    r"(?:GmbH(?: & Co\.? KG)?|UG|OHG|Ltd\.?|Limited|LLC|LLP|Pty Ltd\.?|Inc\.|plc|PLC|SARL"
    r"|S\.[ ]?L\.|S\.p\.A\."
    r"|S\.r\.l\.|Srl|B\.V\.|N\.V\.|ApS|A/S|AS(?=[,.;:)]|\Z)|Oy"
    r"|sp\. z o\.o\.|s\.r\.o\.|Ltda\.?|EURL"
    r"|& (?:Sons|Söhne|Söhnen|Daughters|Sohn|Fils|Hijos|Figli|Zonen))"
)
_TRADES = """
    accountants bakery bistro builders cafe carpentry childcare cleaners clinic construction
    daycare
    deli dental dentistry electrical electricians flooring florist florists garage garages grooming
    hairdressers joinery kennels landscaping law lettings montessori motors nursery nurseries
    optician
    opticians painting pharmacy photography physio pizzeria plastering plumbing preschool realty
    roofing salon scaffolding solicitors surveyors tailoring tattoo tattoos taxis transport
    tyres vets
    veterinary welding windows
"""
_TRADES_BEFORE = """
    malerbetrieb autohaus bäckerei metzgerei schreinerei tischlerei friseursalon kanzlei
    zahnarztpraxis
    arztpraxis gärtnerei spedition fahrschule kita boulangerie boucherie garage pharmacie salon
    plomberie estética peluquería panadería carnicería taller clínica farmacia academia restaurante
    trattoria pizzeria officina parrucchiere panificio padaria salão oficina clínica bakkerij
    schildersbedrijf kapsalon warsztat piekarnia
"""
_AT = """
    work_at works_at worked_at working_at work_for works_for worked_for working_for work_in
    works_in
    worked_in working_in job_at job_with boss_at shift_at manager_at worked_for_me_at arbeite_bei
    arbeitet_bei chef_bei chefin_bei ausbildung_bei job_bei patron_chez jefe_en arbeite_in_der
    travaille_chez travaille_à bosse_chez boulot_chez trabajo_en trabaja_en
    lavoro_da lavoro_in lavora_da trabalho_na trabalho_no trabalha_na werk_bij werkt_bij pracuję_w
    pracuje_w
"""
_SMALL = r"[^\W_][\w&'’-]{0,20}"
# What kind of firm it is, and no name.
_PLAIN = words_of(
    """
    local car auto hair nail dog pet cat night day home house school company public state city town
    village criminal civil corporate family
    """
)


def _is_own_name(name: str) -> bool:
    """Tell if words before a trade are the name of one firm, and not the kind of it: `dannys
    garage`, not `a car garage`."""
    words = name.lower().split()[:-1]
    kinds = [word in _PLAIN or word in FUNCTION_WORDS for word in words]
    return words[0] not in FUNCTION_WORDS and not all(kinds)


def _is_unusual(name: str) -> bool:
    """Tell if a word before a trade is somebody's name or in no dictionary: `riverside dental`."""
    words = [word.removesuffix("'s").removesuffix("s") for word in name.lower().split()[:-1]]
    return _is_own_name(name) and any(
        is_given(word) or not (is_ordinary_word(word) or is_ordinary_word(f"{word}s"))
        for word in words
        if word.isalpha()
    )


_LEAD = OPENERS | words_of(
    "firma fa. messrs company client customer supplier with from for by to inc. inc ltd. ltd llc"
)


def _locate_formed(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name before a legal form, in the sentence of the form and without the
    words that lead to it: `Die Firma Lindner`."""
    words, start = match["part"].split(" "), match.start("part")
    for place, word in enumerate(words[:-1]):
        if (word.endswith(".") and len(word) > _ABBREVIATED) or word.lower() in _LEAD:
            start = match.start("part") + sum(len(word) + 1 for word in words[: place + 1])
    name = match.string[start : match.end("part")]
    return (start, match.end("part")) if name.lower() not in FUNCTION_WORDS | _LEAD else None


_ABBREVIATED = 4  # letters of a word with a dot in a name: `Gebr. Lindner`


FIRMS = (
    shape(  # Larkspur Digital Ltd
        "ORGANIZATION",
        rf"(?<![\w.&/@-])(?P<part>{_FIRST}(?: {_WORD}){{0,4}}),? {_FORMS}"
        r"(?![\w-])",
        locate=_locate_formed,
        clue=any_string(
            *(
                "gmbh",
                " ug",
                " ohg",
                " ltd",
                "limited",
                " llc",
                " llp",
                " inc.",
                " plc",
                "sarl",
                " s.",
                "srl",
            ),
            *(" b.v.", " n.v.", "aps", " a/s", " as", " oy", "sp. z", " ltda", "eurl", " & "),
        ),
        reach=160,
    ),
    shape(  # working in a&j scaffolding ltd
        "ORGANIZATION",
        rf"(?<!\w)(?:{any_of(_AT)}|called|from|firma) (?P<part>(?:{_SMALL} ){{1,4}})(?:ltd|llc"
        rf"|gmbh|inc)(?![\w-])",
        lambda name: name.split()[0].lower() not in FUNCTION_WORDS,
        clue=any_listed("ltd llc gmbh inc"),
        locate=lambda match: (match.start("part"), match.end("part") - 1),
        reach=120,
    ),
    shape(  # my boss at dannys garage, i work at little acorns nursery
        "ORGANIZATION",
        rf"(?<!\w)(?:{any_of(_AT)}) (?P<part>(?:{_SMALL} ){{1,3}}{any_of(_TRADES)})(?![\w-])",
        _is_own_name,
        case=False,
        clue=any_listed(_TRADES),
        reach=110,
    ),
    shape(  # at riverside dental
        "ORGANIZATION",
        rf"(?<!\w)(?:at|from|chez|bei) (?P<part>(?:{_SMALL} ){{1,3}}{any_of(_TRADES)})(?![\w-])",
        _is_unusual,
        case=False,
        clue=any_listed(_TRADES),
        reach=90,
    ),
    shape(  # arbeite bei malerbetrieb hoffmeister
        "ORGANIZATION",
        rf"(?<!\w)(?:{any_of(_AT)}) (?P<part>{any_of(_TRADES_BEFORE)} [^\W\d_]{{3,20}})(?![\w-])",
        lambda name: name.split()[1].lower() not in FUNCTION_WORDS,
        case=False,
        clue=any_listed(_TRADES_BEFORE),
        reach=40,
    ),
    shape(  # pemberton & sons
        "ORGANIZATION",
        r"(?<![\w&-])(?P<part>[^\W\d_]{3,20} & (?:sons|söhne|co|daughters"
        r"|partners)(?: (?:solicitors|builders|accountants))?)(?![\w-])",
        lambda name: not is_ordinary_word(name.split()[0]),
        clue=any_string(" & sons", " & söhne", " & co", " & daughters", " & partners"),
        reach=24,
    ),
)
