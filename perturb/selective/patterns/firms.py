"""Find the names of firms by their legal form, or by their trade where somebody works there. The
legal form stays: what stands before it is the name."""

from __future__ import annotations

import re

from perturb.selective.patterns.everyday import is_everyday
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.settings import PROGRAMS
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
# With a capital, after an unusual word: Pargeter Roofing, Holtkötter Bau.
_TRADES_NAMED = words_of(
    _TRADES,
    """
    adjusters aquaculture associates baustoffe bau broadband catering clinical consulting
    digital drogerie estates farms flowers foods freight furniture gartenbau
    haustechnik hauswartung holdings homes immobilien interiors krankenkasse labs logistics media
    metallbau partners pharma reederei retail robotics software solutions studios surgery
    textiles trading transporte travel treuhand ventures verlag versicherung
    """,
)
# Before a name: Hotel Alvorada, Muebles Torrecárdenas, Praxis Wilgenhof.
_KINDS_NAMED = words_of(
    """
    agencia agenzia agência autohaus bakkerij boucherie boulangerie cabinet ceramiche clínica
    clinique conserverie conserveries cooperativa elektro fisioterapia fysiotherapie garage
    gasthaus gasthof grafiche hotel hôtel installatiebedrijf kanzlei laiterie laiteries
    liftservice lycée malerbetrieb metalúrgica muebles officina óptica ótica panadería panificio
    papelaria pastificio pension pharmacie physiotherapie praxis restaurant restaurante ristorante
    schreinerei spedition steuerkanzlei studio taller tandartspraktijk trattoria wärmetechnik
    woningcorporatie zahnarztpraxis
    """
)
_NAMED_KINDS = "|".join(sorted(word.capitalize() for word in _KINDS_NAMED))
_NAME_WORD = rf"[{_CAPITALS}][^\W\d_]{{2,24}}(?:-[{_CAPITALS}][^\W\d_]{{1,20}})?"
_ARTICLE = r"(?:(?:le|la|les|du|de|del|della|di|da|do|van|De|La|Le|Les|Het|Zum|Zur|El|Il) )?"
_PROJECTS = r"(?:[Pp]roject|Projekt|[Pp]rojet|[Pp]royecto|[Pp]rogetto|[Pp]rojeto)"
# What else stands with a capital behind the word.
_OF_PROJECTS = words_of(
    """
    architect area assistant board brief budget charter code coordinator cost data date deadline
    deliverables description design details development director documentation document engineer
    facts file files folder goals governance id ideas information introduction kickoff lead leader
    leiter lifecycle management manager managers manger meeting methodology milestones monitoring
    name notes number objective objectives office officer overview owner phase plan planner
    planning portfolio proposal report requirements resources review risk schedule scope setup
    specialist sponsor stakeholders start status structure summary support task tasks team
    template timeline title tracker type update updates work management
    """
)


def _is_firm(name: str) -> bool:
    """Tell if a word before or after a trade is in no dictionary, and no program's name; and the
    first is not made of a name: `Gaussian`."""
    words = [word for word in re.split("[ -]", name) if len(word) > _SHORT]
    unusual = (word for word in words if not is_ordinary_word(word))
    first = next((word for word in unusual if word.lower() not in _KINDS_NAMED), "")
    if first.endswith("ian") or first.lower() in _OF_PROGRAMS:
        return False
    return any(
        not is_ordinary_word(word)
        and not is_ordinary_word(word.removesuffix("s"))
        and not is_everyday(word)
        and word.lower() not in PROGRAMS
        and word.lower() not in _TRADES_NAMED
        and word.lower() not in _KINDS_NAMED
        for word in words
    )


_SHORT = 3  # letters of an article or an abbreviation
_OF_PROGRAMS = words_of(
    """
    amber leyden lilliput loom panama valhalla wycheproof gutenberg manhattan
    elixir erlang golang haskell java javascript kotlin python scala typescript
    """
)


def _is_project(match: re.Match[str]) -> tuple[int, int] | None:
    word = match["name"]
    known = word.lower() in _OF_PROJECTS | _OF_PROGRAMS
    return None if known or word.isupper() else match.span("part")


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
    shape(  # Pargeter Roofing
        "ORGANIZATION",
        rf"(?<![\w.&/@'’-])(?P<part>(?:{_NAME_WORD} ){{1,2}}"
        rf"(?:{'|'.join(sorted(word.capitalize() for word in _TRADES_NAMED))}))(?![\w-])",
        _is_firm,
        clue=any_listed(" ".join(_TRADES_NAMED)),
        reach=90,
    ),
    shape(  # Muebles Torrecárdenas
        "ORGANIZATION",
        rf"(?<![\w.&/@-])(?P<part>(?:{_NAMED_KINDS}) {_ARTICLE}{_NAME_WORD}(?: {_NAME_WORD})?)"
        r"(?![\w-])",
        _is_firm,
        clue=any_listed(" ".join(_KINDS_NAMED)),
        reach=30,
    ),
    shape(  # Project Kestrel, Projekt „Seeadler“
        "ORGANIZATION",
        rf"(?<![\w-]){_PROJECTS} (?P<part>(?P<name>[{_CAPITALS}][^\W\d_]{{2,20}}))(?![\w-]"
        rf"| [{_CAPITALS}])",
        locate=_is_project,
        clue=any_listed("project projekt projet proyecto progetto projeto"),
        reach=30,
    ),
    shape(
        "ORGANIZATION",
        rf"(?<![\w-])(?:{_PROJECTS}|Projektmeeting|(?i:code ?name)) [\"“„«'‘]{{1,2}} ?"
        rf"(?P<part>[{_CAPITALS}][^\W_]{{2,20}}(?: [^\W_]{{2,20}})?)[\"“”»'’]",
        clue=any_listed(
            "project projekt projet proyecto progetto projeto projektmeeting codename name"
        ),
        reach=40,
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
