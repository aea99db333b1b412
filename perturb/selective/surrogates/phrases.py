"""Read places, firms and street addresses: which of their words and numbers are drawn.

Generic words stay, and so do the signs between words. Every other word is drawn by itself, so that
the short form of a firm, or a town without its country, has the same surrogate as in the long one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from perturb.selective.surrogates.forms import SurrogateForm, read_form
from perturb.selective.surrogates.kinds import ORGANIZATIONS, PLACES
from perturb.selective.surrogates.names import read_script
from perturb.text.fold import decode_entities, fold_name

__all__ = [
    "PATH_WORDS",
    "SCRIPT",
    "PhrasePiece",
    "read_phrase",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Articles, prepositions and conjunctions inside names.
SMALL_WORDS = _words(
    """
    a an the of and for in at on upon by to de del della delle dell di da do dos das du des la le
    les el los las lo l d y et e i von vom zu zum zur am an der den dem des die das im in bei auf
    ob unter und für mit van ter ten het og och på
    """
)
# Legal forms, and what many firms call themselves.
FIRM_WORDS = _words(
    """
    inc incorporated ltd limited llc llp lp plc corp corporation co company companies group gruppe
    groupe grupo holding holdings gmbh mbh ggmbh ag se kg kgaa ohg gbr ug ev eg sarl sas sasu sa
    spa srl sl bv nv ab oy oyj as asa aps kft zrt doo ood pty pte pvt partner partners sons söhne
    brothers gebrüder fils hermanos associates international team project projekt projet proyecto
    """
)
# Institutions: a word after one is a place (`University of Hamburg`, `Klinikum Hanau`).
INSTITUTION_WORDS = _words(
    """
    university universität université universidad università universiteit college hochschule school
    schule gymnasium grundschule école lycée escuela instituto institute institut academy akademie
    hospital hospitals klinik kliniken klinikum krankenhaus clinic clinique hôpital medical center
    centre zentrum bank banque banco sparkasse court amtsgericht landgericht gericht tribunal
    ministry ministerium ministère ministerio department agency authority council commission
    committee office amt museum library bibliothek bibliothèque theater theatre theatre foundation
    stiftung fondation association verein verband society club union federation police polizei
    services service practice praxis kanzlei apotheke pharmacy hotel restaurant café airport
    flughafen station bahnhof stadtwerke
    """
)
# Kinds of streets and places, parts of a house, and the quarters of the sky.
PLACE_WORDS = _words(
    """
    street st avenue ave road rd boulevard blvd lane ln drive dr parkway pkwy highway hwy court ct
    square sq place pl terrace way close crescent circle trail alley row walk gardens grove mews
    quay straße strasse str weg platz allee gasse damm ufer chaussee steig markt ring rue av bd
    chemin allée impasse quai faubourg cours route calle avenida avda plaza pza paseo camino
    carretera ctra ronda travesía glorieta rambla vía via viale piazza corso largo rua praça
    travessa ulica ul al aleja trg ulice straat laan plein gracht gatan vägen veien vej gade gata
    katu utca út utcája tér cad caddesi sokak sk mahallesi mah bulvarı strada aleea șoseaua jl
    jalan gang đường phố phường quận no nr nº box po obox pobox apt apartment suite unit floor fl
    room flat bis ter north south east west northern southern eastern western central upper lower n
    s e w ne nw se sw nord süd ost sud est ouest norte sur ober unter bad alt neu lake river mount
    mountain mountains island islands isle bay beach valley forest port harbour harbor city town
    village county district state province region republic lac mont lago río monte san santa santo
    saint sankt ste see fluss insel stadt landkreis kreis bezirk dorf
    """
)
# Kinds of streets that are written with the name in one word.
STREET_ENDS = (
    *("straße", "strasse", "str", "straat", "gatan", "vägen", "veien", "gracht", "weg", "platz"),
    *("allee", "gasse", "damm", "ufer", "chaussee", "steig", "markt", "laan", "plein", "gade"),
    *("vej", "vegen", "gata", "katu", "utca"),
)
# Of paths and queries: they tell nothing of anybody.
PATH_WORDS = _words(
    """
    http https ftp www api rest graphql json xml html htm xhtml php asp aspx jsp cgi css js pdf png
    jpg jpeg gif svg csv txt zip doc docx xls xlsx ppt pptx md index home main default login logout
    signin signup register account accounts user users u profile profiles people person team teams
    member members admin settings search query q id ids ref page pages p item items product
    products order orders cart file files download downloads upload uploads image images img media
    static assets public docs doc wiki blog post posts news article articles tag tags category
    categories event events calendar group groups project projects repo repos issue issues pull
    blob tree commit commits raw edit view show new list share link links invite meeting meetings
    room rooms channel channels message messages thread threads status v lang locale en de fr es
    tab top name email sid hash ver version size limit offset filter format mode state code lib src
    token key session utm source medium campaign type sort order by asc desc from to date start end
    """
)


SCRIPT = "latin"  # the only one with coined places and firms
_LEGAL = (
    r"(?:e\. ?V|e\. ?K|S\.A\.S|S\.A|S\.p\.A|S\.r\.l|S\.L|B\.V|N\.V|L\.L\.C|L\.P|d\.o\.o|A/S)"
    r"(?!\w)\.?"
)
_CODE = (
    r"[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}|[A-Z][0-9][A-Z][ -]?[0-9][A-Z][0-9]"
    r"|[0-9]{4} [A-Z]{2}|[0-9]{5}-[0-9]{4}|[0-9]{2}-[0-9]{3}|[0-9]{4,5}"
)
_TOKEN = re.compile(
    rf"(?P<legal>(?<!\w){_LEGAL})|(?P<code>(?<!\w)(?:{_CODE})(?!\w))"
    r"|(?P<ordinal>[0-9]{1,4}(?:st|nd|rd|th)(?!\w))"
    r"|(?P<number>[A-Za-z]{0,9}[0-9][A-Za-z0-9]{0,19})"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]{2,20}){0,2})"
    r"|(?P<gap>[\s,.;:&/()'’\"#-]+)"
)
_ENDS = sorted(STREET_ENDS, key=len, reverse=True)
_STEM = 3  # letters before the kind of a street


@dataclass(frozen=True)
class PhrasePiece:
    """A piece of a place, a firm or an address.

    Attributes:
        kind: a `word`, a `number` and a `code`, which is a postcode, are drawn; the rest is kept.
        text: as it is written, without `end`.
        role: of a word: `place` or `firm`.
        key: what a word or a number is drawn by.
        end: the kind of a street at the end of a word, which stays.
    """

    kind: Literal["word", "number", "code", "kept"]
    text: str
    role: str = ""
    key: str = ""
    end: str = ""

    @property
    def form(self) -> SurrogateForm | None:
        """Return the form of a number or a postcode; None for one of zeros."""
        form = read_form("ZIP_CODE" if self.kind == "code" else "STREET_NUMBER", self.text)
        single = (
            re.match("[A-Za-z]*(?=[1-9](?![0-9]))", self.text) if self.kind == "number" else None
        )
        if form and single:  # no house has the number 0
            alphabets = list(form.alphabets)
            alphabets[single.end()] = "123456789"
            return replace(form, alphabets=tuple(alphabets))
        return form


def read_phrase(type_: str, raw: str) -> list[PhrasePiece] | None:
    """Return the pieces of a part; None if nothing in it is drawn, or if it has other signs, words
    in a script without lists, or initials.

    >>> [piece.key for piece in read_phrase("ORGANIZATION", "Lindenhof Logistik GmbH") or ()]
    ['lindenhof', '', 'logistik', '', '']
    """
    if decode_entities(raw) != raw:
        return None
    pieces = list(_cut(raw, firm=type_ in ORGANIZATIONS))
    if "".join(piece.text + piece.end for piece in pieces) != raw:
        return None
    if not any(piece.kind != "kept" for piece in pieces):
        return None
    address = type_ in PLACES and any(piece.kind in ("number", "code") for piece in pieces)
    if not address and any(map(_is_initial, pieces)):
        return None
    if any(piece.kind == "word" and read_script(piece.key) != SCRIPT for piece in pieces):
        return None
    street, count = " ".join(_find_street(pieces)), 0
    for i, piece in enumerate(pieces):
        if piece.kind == "number":
            pieces[i] = replace(piece, key=f"{street} {count}")
            count += 1
    return pieces


def _cut(raw: str, *, firm: bool) -> Iterator[PhrasePiece]:
    """Yield the pieces of a part, as far as it can be read."""
    role, end = "firm" if firm else "place", 0
    generic = FIRM_WORDS | INSTITUTION_WORDS if firm else PLACE_WORDS
    while found := _TOKEN.match(raw, end):
        kind, text = str(found.lastgroup), found[0]
        plain = text.casefold()
        if kind in ("legal", "gap"):
            yield PhrasePiece("kept", text)
        elif kind in ("code", "number"):
            yield _read_number(raw, found)
        elif plain in generic or plain in SMALL_WORDS or _is_abbreviated(raw, found, firm=firm):
            yield PhrasePiece("kept", text)
            if firm and plain in INSTITUTION_WORDS:
                role = "place"
        else:
            kept = 0 if firm else _find_end(text)
            stem = text[: len(text) - kept]
            key = fold_name(stem.replace("’", "'"))
            yield PhrasePiece("word", stem, role, key, text[len(stem) :])
        end = found.end()


def _is_abbreviated(raw: str, word: re.Match[str], *, firm: bool) -> bool:
    """Tell if a word of an address is the abbreviation of what follows, or a single letter."""
    if len(word[0]) == 1:
        return True
    return not firm and len(word[0]) < 5 and re.match(r"\. ?\w", raw[word.end() :]) is not None


def _read_number(raw: str, found: re.Match[str]) -> PhrasePiece:
    """Return the piece of a number: a postcode, unless it is a house number at the beginning."""
    code = found["code"] and (found.start() > 0 or not _has_street(raw))
    piece = PhrasePiece("code" if code else "number", found[0])
    return piece if piece.form else PhrasePiece("kept", found[0])


def _has_street(raw: str) -> bool:
    """Tell if the words of an address name a street."""
    words = [found[0].casefold() for found in re.finditer(r"[^\W\d_]+", raw)]
    return any(word in PLACE_WORDS or _find_end(word) for word in words)


def _find_end(word: str) -> int:
    """Return the length of the kind of a street at the end of a word; 0 if there is none."""
    plain = word.lower()
    ends = (len(end) for end in _ENDS if plain.endswith(end) and len(word) >= len(end) + _STEM)
    return next(ends, 0)


def _is_initial(piece: PhrasePiece) -> bool:
    """Tell if a piece is a single letter, but not the s of a genitive."""
    return (
        piece.kind == "kept"
        and piece.text.isalpha()
        and len(piece.text) == 1
        and (piece.text.casefold() not in "aeisy")
    )


def _find_street(pieces: Sequence[PhrasePiece]) -> Sequence[str]:
    """Return the words by which the numbers of an address are drawn: those of its street, in any
    spelling of its kind, without the town."""
    words: list[str] = []
    for piece in pieces:
        if words and (piece.kind == "code" or "," in piece.text or "\n" in piece.text):
            break
        if piece.kind == "word":
            words.append(piece.key)
    return words or [piece.text.casefold() for piece in pieces if piece.text.isalpha()]
