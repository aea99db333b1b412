"""Persons by what they are to somebody: `my husband tom`, `Otis's mum`, `clerk Rowan Tree`.

Titles are `titles`; what people are called in settings is `keys`.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.persons.written import (
    CAPITALS,
    LINK,
    NO_NAMES,
    PHRASE_WORDS,
    RATHER_WORDS,
    WRITTEN_FULL,
    WRITTEN_LOWER,
    WRITTEN_NAME,
    WRITTEN_WORD,
    is_given_name,
    is_lower_name,
    is_misspelt,
)
from perturb.selective.patterns.shape import any_listed, any_of, shape, words_of
from perturb.selective.patterns.words import DOINGS, PARTICLES
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = [
    "KNOWN_AS",
    "OWN_KIN",
    "RELATED_NOUNS",
    "RELATIONS",
    "RELATIVES",
    "VERBS",
    "is_predicate",
]

_KIN_WORDS = """
    husband wife spouse partner boyfriend girlfriend fiancé fiancée fiance fiancee ex ex-husband
    ex-wife mother father mom mum dad mama papa brother sister sibling son daughter child kid baby
    grandson granddaughter grandmother grandfather grandma grandpa uncle aunt auntie cousin nephew
    niece stepfather stepmother stepson stepdaughter mother-in-law father-in-law brother-in-law
    sister-in-law mother_in_law father_in_law brother_in_law sister_in_law twin roommate flatmate
    housemate neighbour neighbor landlord landlady nanny babysitter carer grandad granddad granny
    gran nan stepmum stepdad childminder bf gf hubby wifey bff bro sis roomie nana step_dad
    step_mom step_mum step_brother step_sister half_brother half_sister mother_in_law
    father_in_law brother_in_law sister_in_law mum_in_law mom_in_law
"""
_ACQUAINTED = """
    boss manager supervisor colleague coworker co-worker teammate friend mate buddy bestie tenant
    client customer patient doctor dentist therapist psychiatrist counsellor counselor lawyer
    solicitor attorney accountant teacher tutor professor coach nurse student intern assistant
    secretary ceo cto cfo cat_sitter dog_sitter pet_sitter house_sitter baby_sitter dog_walker
    hairdresser barber cleaner vet gp midwife physio trainer crush classmate plumber mechanic
    electrician
"""
_RELATED_FARTHER = """
    marito moglie fidanzato fidanzata figlio figlia fratello sorella mamma papà nonno nonna collega
    vicino vicina man vrouw vriend vriendin broer broertje zus zusje zoon dochter buurman buurvrouw
    moeder vader baas mąż męża mężem żona żonę żony brat brata siostra siostrę syn syna córka córkę
    mama tata kolega koleżanka sąsiad szef fru make hustru bror syster son dotter granne chef pappa
    nuera yerno mand kone søster søn datter nabo kæreste kjæreste sambo
    ragazzo ragazza capo nipote cugino cugina zio zia suocera suocero padre madre amico amica
    huisbaas collega oma opa tante oom neef nicht juf meester huisgenoot schoonmoeder kleinzoon
    maz zona corka siostra sasiad sasiadka szefa szefowa babcia babci dziadek ciocia wujek
    chłopak dziewczyna przyjaciel przyjaciółka kolezanka
    marido esposa mulher namorado namorada filho filha irmão irmã irmao irma pai mãe mae avó avô
    vovó vovô tio tia primo prima sobrinho sobrinha chefe vizinho vizinha amigo amiga colega patrão
    patroa sogro sogra cunhado cunhada genro nora neto neta
"""
_OWN_FARTHER = """
    mio mia mijn m'n mn mój moja mojego mojej mojemu moj moje min mitt meu minha
"""
_OWN_KIN_LIST = """
    kocam eşim karım oğlum kızım annem babam abim ablam kardeşim patronum komşum arkadaşım
    kayınvalidem kayınpederim teyzem halam amcam dayım dedem anneannem babaannem kuzenim yeğenim
    nişanlım müdürüm öğretmenim
    férjem feleségem fiam lányom főnököm szomszédom barátom barátnőm anyám apám bátyám nővérem
    öcsém húgom
    mieheni vaimoni äitini isäni veljeni siskoni ystäväni pomoni naapurini poikani tyttäreni
"""
_OWN_KIN = any_of(_OWN_KIN_LIST)
OWN_KIN = words_of(_OWN_KIN_LIST)  # my husband, in one word
_RELATED_ELSEWHERE = """
    mann ehemann frau ehefrau freund freundin partner partnerin verlobter verlobte mutter vater
    mama papa bruder schwester sohn tochter kind enkel enkelin oma opa onkel tante cousin
    cousine neffe
    nichte schwager schwägerin schwiegermutter schwiegervater chef chefin kollege kollegin kollegen
    nachbar nachbarin vermieter vermieterin mitbewohner mitbewohnerin arzt ärztin hausarzt lehrer
    lehrerin kunde kundin anwalt anwältin mari femme époux épouse compagnon compagne copain copine
    fiancé mère père frère sœur soeur fils fille enfant oncle neveu nièce patron patronne collègue
    ami amie voisin voisine propriétaire médecin avocat avocate marido esposo esposa mujer novio
    novia pareja madre padre mamá papá hermano hermana hijo hija abuelo abuela tío tía primo prima
    schüler schülerin patenkind
    sobrino sobrina jefe jefa compañero compañera colega amigo amiga vecino vecina casero casera
    médico médica abogado abogada moglie marito fratello sorella figlio figlia amico amica mąż żona
    brat siostra syn córka kumpel kumpels pote compa prof profe
"""
_KIN = any_of(_KIN_WORDS, _ACQUAINTED)
_KIN_FARTHER, _KIN_ELSEWHERE = any_of(_RELATED_FARTHER), any_of(_RELATED_ELSEWHERE)
# What people are to each other, in small letters.
RELATIONS = words_of(_KIN_WORDS, _ACQUAINTED, _RELATED_FARTHER, _RELATED_ELSEWHERE)
# The daughter of a third person may be known to everybody.
_OWNED = (
    r"(?:my|our|your|mein(?:e[nmrs]?)?|unser(?:e[nmrs]?)?|dein(?:e[nmrs]?)?|mon|ma|mes|notre|nos"
    r"|mi|mis|nuestr[oa]|mio|mia|mój|moja)"
)
_KIND_OF = (
    r"(?:late|ex|old|older|elder|eldest|younger|youngest|little|big|best|dear|good|close|new"
    r"|former|current|then|lieb(?:e[rn]?)|ältere[rn]?|jüngere[rn]?|kleine[rn]?|große[rn]?"
    r"|beste[rn]?"
    r"|alte[rn]?|ehemalige[rn]?|petite?|grande?|meilleure?|mejor|pequeñ[oa]|querid[oa])"
)
_MARKUP = r"(?:\*{1,2}|_{1,2}|\\text(?:bf|it|sc)\{|\\emph\{|<(?:b|i|em|strong)>)?"
# German ones, which have capitals: Die Ehefrau Hannelore berichtete.
RELATED_NOUNS = words_of(
    """
    ehefrau ehemann gattin gatte lebensgefährte lebensgefährtin lebenspartner lebenspartnerin
    mutter vater tochter sohn schwester bruder enkel enkelin cousin cousine neffe nichte schwager
    schwägerin schwiegermutter schwiegervater freundin freund nachbar nachbarin kollege kollegin
    mitbewohner mitbewohnerin hausmeister trainer trainerin betreuer betreuerin pflegerin pfleger
    mandant mandantin zeuge zeugin klient klientin azubi praktikant praktikantin chef chefin
    """
)
_ROLES = """
    executor executrix petitioner respondent plaintiff defendant babysitter bride groom widow
    widower stepson stepdaughter grandson granddaughter godson goddaughter guardian caregiver
    tochter sohn enkel enkelin bruder schwester schwager schwägerin neffe nichte patenkind
    babysitterin nuera yerno nieto nieta sobrino sobrina nachbar nachbarin kollege kollegin
    freundin schwiegermutter schwiegervater
    cousine vetter mitbewohner mitbewohnerin vecino vecina voisin
    voisine vicino vicina vizinho vizinha buurman buurvrouw sąsiad sąsiadka
"""
_NEIGHBOURS = """
    neighbours neighbors tenants landlords friends in-laws owners cousins guests family doors
"""
# Nobody is known to the public by these.
_OFFICES = """
    clerk notary passenger driver carer technician cox receptionist warden porter caretaker
    complainant claimant witness interpreter bookkeeper cleaner childminder midwife guarantor
    applicant appellant note_taker social_worker support_worker care_worker health_visitor
    case_worker caseworker key_worker line_manager headteacher head_teacher form_tutor
    reporting_to mentoring treasurer co-signer cosigner godmother godfather pallbearer
"""
KNOWN_AS = words_of(_KIN_WORDS, _OFFICES, _ROLES)
_NOBODY_RELATED = words_of(
    """
    earth nature time christmas teresa superior mary abraham god jesus cain abel sun moon may june
    april bear sam tom
    """
)
_SUBJECT_ENDS = re.compile(  # my son kit is ill, my uncle art's car
    r"['’]s\b| (?:is|isn['’]?t|was|wasn['’]?t|has|hasn['’]?t|had|hadn['’]?t)(?!\w)"
)
# How verbs end whose subject is the relation before them, by whose it is: `mein mann kommt`.
_GERMAN_VERB, _FRENCH_VERB = r"\w{1,30}(?:[^\Wd]t|te|en)", r"\w{1,30}(?:[eé]|[dt]|ent)"
VERBS = {
    **dict.fromkeys(("mein", "meine", "meinen", "meinem", "meiner"), re.compile(_GERMAN_VERB)),
    **dict.fromkeys(("mon", "ma"), re.compile(_FRENCH_VERB)),
    "mi": re.compile(r"\w{1,30}(?:[aeóí]|ía)"),
}
# vapes, gaslights; thnks, loooves
_ENGLISH_VERB = re.compile(
    r"\w{1,30}(?:[bdfgklmnprtvw]|[^\W\d_]e)s|[^aeiouyà-ÿ]{1,30}|\w{0,30}(\w)\1{2}\w{0,30}"
)
# Who is called by a surname: no list has all of them, so that what they do is listed.
_CALLED_BY_SURNAME = words_of(
    """
    chef chefin kollege kollegin kollegen nachbar nachbarin vermieter vermieterin mitbewohner
    mitbewohnerin arzt ärztin hausarzt lehrer lehrerin kunde kundin anwalt anwältin patron patronne
    collègue voisin voisine propriétaire médecin avocat avocate prof jefe jefa compañero compañera
    colega vecino vecina casero casera médico médica abogado abogada profe
    """
)
# After a name in German, French and Spanish, and hardly after a verb.
_BEFORE_VERB = re.compile(
    r" (?:ist|war|hat|hatte|will|kann|muss|soll|wird|sagt|meint|ne|n['’]|me|m['’]|se|s['’]|est"
    r"|a|veut|va"
    r"|dit|no|te|le|es|está|ha|va|quiere|dice)(?!\w)"
)


def _is_related(name: str) -> bool:
    """Check a word after a relation in a language whose nouns have no capital."""
    if name.istitle() and not is_ordinary_word(name):
        return name.lower() not in NO_NAMES
    return is_given(name) and not (name.islower() and name in RATHER_WORDS)


def _locate_relative(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name in small letters after a relation. A word that is not known as a
    given name may be a verb or an adverb there, unless it is said to be a name."""
    name, owner = match["part"], match["owner"]
    if name.islower() and is_given(name):
        ends = _SUBJECT_ENDS.match(match.string, match.end("part"))
        return match.span("part") if ends or name not in RATHER_WORDS else None
    if not is_lower_name(name):
        return None
    named = bool(match["called"]) or (name.endswith("s") and is_given(name[:-1]))  # toms car
    if owner in VERBS and name not in DOINGS:
        before_verb = _BEFORE_VERB.match(match.string, match.end("part"))
        named = named or match["kin"] in _CALLED_BY_SURNAME or before_verb is not None
    return match.span("part") if named or not is_predicate(name, owner) else None


def is_predicate(word: str, owner: str) -> bool:
    """Tell if a word after somebody's relation says something of them: it has the ending of a verb
    in the owner's language, or is an English word with swapped letters: `alwyas`."""
    ending = VERBS.get(owner, _ENGLISH_VERB)
    return ending.fullmatch(word) is not None or (owner not in VERBS and is_misspelt(word))


def _locate_shouted(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name after a relation, in capitals without the rest of the sentence:
    `MY BOSS ANNA WEBER WILL NOT PAY`."""
    start, end = match.span("part")
    words = match["part"].split(" ") if match["part"].isupper() else []
    small = [place for place, word in enumerate(words) if _is_of_sentence(word)]
    if small[:2] == [0, 1]:  # MY BOSS WILL NOT PAY
        return None
    ordinary = (
        place
        for place, word in enumerate(words)
        if place > 1 and is_ordinary_word(word.lower()) and not is_given(word.lower())
    )
    cut = min([*filter(None, small), *ordinary], default=len(words))
    return start, start + len(" ".join(words[:cut])) if words else end


def _is_of_sentence(word: str) -> bool:
    plain = word.lower()
    return plain not in PARTICLES and (plain in FUNCTION_WORDS or plain in PHRASE_WORDS)


def _is_unusual(name: str) -> bool:
    """Tell if words name a person of whom not all words are ordinary, and are no acronym."""
    words = re.split(r"[ -]+", name)
    return is_given_name(name) and not name.isupper() and not is_ordinary_word(words[0])


def _is_household(name: str) -> bool:
    return not is_ordinary_word(name) and not is_ordinary_word(name[:-1])


RELATIVES = (
    shape(
        "PERSON",
        rf"(?<!\w)(?i:{_OWNED}) (?:(?i:{_KIND_OF}),? ){{0,2}}(?i:{_KIN}|{_KIN_ELSEWHERE})"
        rf"(?:['’]s name is|,? (?i:called|named|namens|is called|is named|heißt|genannt))?,?"
        rf"[ (:]{{1,2}}{_MARKUP}(?P<part>{WRITTEN_NAME})",
        is_given_name,
        locate=_locate_shouted,
        clue=any_listed(
            "my our your mein meine meinen meinem meiner meines unser unsere unseren unserem",
            "unserer unseres dein deine deinen deinem deiner deines mon ma mes notre nos mi mis",
            "nuestro nuestra mio mia mój moja",
        ),
        reach=4,
    ),
    shape(  # my husband tom, my sons teacher jean
        "PERSON",
        rf"(?<!\w)(?P<owner>my|me|our|your|ur|his|her|their|mein|meine|meinen|meinem|meiner|mon|ma"
        rf"|mi) (?:{_KIND_OF} )?(?:[a-z]{{2,12}}['’]?s )?(?P<kin>{_KIN}|{_KIN_ELSEWHERE}"
        rf"|little one)"
        rf"(?P<called>,|['’]s name is| is called| called| named)?"
        rf"[ (]{{1,2}}(?P<part>{WRITTEN_LOWER})(?![\w-]|['’](?!s\b))",
        clue=any_listed(
            "my me our your ur his her their mein meine meinen meinem meiner mon ma mi"
        ),
        locate=_locate_relative,
        reach=4,
    ),
    shape(  # mijn buurman wim, min fru Gunilla, kocam Hüseyin
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_OWN_FARTHER)} {_KIN_FARTHER}"
        rf"|{_OWN_KIN}),? (?P<part>[^\W\d_]{{2,20}}(?: (?:{LINK} ?)?{WRITTEN_WORD}){{0,3}})"
        r"(?![\w'’-])",
        lambda name: _is_related(name.partition(" ")[0]),
        clue=any_listed(_OWN_FARTHER, _OWN_KIN_LIST),
        reach=24,
    ),
    shape(  # executor Alphonse, Enkel Malte
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_ROLES)}) (?P<part>{WRITTEN_NAME})",
        lambda name: is_given(name.split(" ")[0]) and _is_unusual(name),
        clue=any_listed(_ROLES),
        reach=20,
    ),
    shape(  # collected by grandad Enoch, proxy to son Ari
        "PERSON",
        rf"(?<!\w)(?<!(?:his|the) )(?<!her )(?<!their )(?:{any_of(_KIN_WORDS)}) {_MARKUP}"
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{1,15}})(?!\w|['’-]\w\w| [{CAPITALS}])",
        lambda name: is_given(name) and name.lower() not in _NOBODY_RELATED,
        clue=any_listed(_KIN_WORDS),
        reach=24,
    ),
    shape(  # clerk Rowan Tree
        "PERSON",
        rf"(?<!\w)(?:(?i:{any_of(_OFFICES)}):? |(?<=\w)\()(?P<part>{WRITTEN_FULL})(?![\w-])",
        lambda name: is_given(re.split("[ -]", name)[0]) and not name.isupper(),
        clue=any_listed(_OFFICES),
        reach=24,
    ),
    shape(  # Otis's mum
        "PERSON",
        rf"(?<![\w-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{1,15}})['’]s? "
        r"(?:mum|mummy|mom|mommy|dad|daddy|nan|gran|granny|grandad|stepmum|stepdad)(?!\w)",
        is_given,
        clue=any_listed("mum mummy mom mommy dad daddy nan gran granny grandad stepmum stepdad"),
        reach=24,
    ),
    shape(  # our neighbours are the Mulvaneys
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_NEIGHBOURS)})(?!\w)[^.!?\n]{{0,30}}? the "
        rf"(?P<part>[{CAPITALS}][^\W\d_]{{3,20}}s)"
        r"(?![\w'’-])",
        _is_household,
        clue=any_listed(_NEIGHBOURS),
        reach=12,
    ),
)
