"""Find street addresses and postcodes of several countries."""

from __future__ import annotations

import re

from perturb.selective.patterns.settings import assigned, read_setting
from perturb.selective.patterns.shape import (
    all_clues,
    any_figure,
    any_listed,
    any_match,
    any_of,
    any_string,
    beyond_latin,
    least_digits,
    shape,
    words_of,
)

__all__ = ["PLACES"]

_NUMBER = r"\d{1,4}(?: ?[a-zA-Z]|/\d{1,3})?(?!\w|-[A-Za-z]{2})"
# A word of a street's name; one that opens a clause belongs to no address.
_NO_NAME = any_of(
    "the of and or in a an at to by on for from with that which this these his her its their is",
    "was were are had has have would not § art under before after between fc sc sv gbit gbps mbit",
    "x1 x2 x4 x8 x16",
)
# Nor does one that a sentence ends with: `for 3 hours. Half way through`.
_WORD = rf"(?!{_NO_NAME}\b|[a-z]{{5,30}}\. )[^\W\d_][\w'’.-]{{0,30}}"
_CAPITAL = r"(?-i:[A-ZÀ-ÖØ-ÞŁŚŻŽŠČĐİ])[\w'’-]{1,30}+"

# -- number first: United States, United Kingdom, Ireland, Canada, Australia ----------------------
_SURE = "street st avenue ave road rd boulevard blvd lane ln drive dr parkway pkwy highway hwy"
_ALSO = (
    "court ct square sq place pl terrace way close crescent circle trail alley row walk gardens"
    " grove mews quay rise wynd strand cottages yard bend parade pde wharf villas brae vale drove"
)
# These end other phrases, too: a capital begins each word, and the phrase ends there.
_WORDED_ALSO = "hill view heights green park bank"
_UNIT = r"(?:,?\s{1,3}(?:apt|apartment|suite|unit|floor|fl|room|box|flat)\b\.? ?#?\w{1,6})?"
# In front of the number: `Flat 3b, 17 Rosendale Mews`.
_FLAT = r"(?:(?:flat|apartment|apt\.?|unit|room) #?\w{1,4},? )?"
_ENGLISH = "|".join(
    (
        rf"{_FLAT}\d{{1,5}}[a-z]?,? (?:{_WORD} ){{1,4}}{any_of(_SURE)}\b\.?{_UNIT}",
        # `12 November 1998 Court` is a year.
        rf"{_FLAT}(?!(?:19|20)\d\d\b)\d{{1,5}}[a-z]?,? (?:{_WORD} ){{1,4}}{any_of(_ALSO)}\b\.?"
        rf"{_UNIT}",
        # To 1930 Juniper Ct, which no year precedes.
        rf"(?:19|20)\d\d (?:{_CAPITAL} ){{1,2}}(?-i:Ct|Pl|Cir|Ter|Trl|Cres)(?!\w)\.?{_UNIT}",
        rf"{_FLAT}\d{{1,4}}[a-z]?,? (?:{_CAPITAL} ){{1,2}}"
        rf"(?-i:{any_of(_WORDED_ALSO.title())})(?=,|[ \t]{{0,3}}(?:\r?\n|\Z))",
        r"p\.? ?o\.? ?box \d{1,6}",
        r"(?:apt|apartment|suite|unit|flat)\b\.? ?#?\d{1,5}(?: box \d{1,6})?",
    )
)
# -- type first, number before or after: France, Spain, Italy, Portugal, Poland -------------------
_TYPE_LISTS = (
    "rue avenue av. boulevard bd chemin allée impasse quai faubourg place cours route passage",
    "venelle traverse sente ruelle esplanade chaussée",
    "montée sentier",
    "calle c/ avenida avda avda. plaza pza. paseo camino carretera ctra. ronda travesía glorieta",
    "rambla vía via viale piazza corso largo rua praça travessa ulica ul. al. aleja trg ulice",
)
_TYPES = any_of(*_TYPE_LISTS)
_LINK = r"(?:(?:de|du|des|della|delle|del|di|do|da|dos|das|la|le|les|el|los|las)\s|d['’]|l['’])"
_ROMANCE = (
    rf"(?:\d{{1,4}}(?: ?(?:bis|ter|[a-z]))?,? )?{_TYPES}(?:\s|(?<=[./]))\s?{_LINK}{{0,3}}"
    rf"{_CAPITAL}(?:[^\S\r\n]{_LINK}{{0,2}}{_CAPITAL}){{0,3}}(?:,? (?:n[º°.]\s?)?{_NUMBER})?"
)
# -- type last, in one word or two: German, Dutch, Scandinavian, Finnish, Hungarian ---------------
_ENDS = ("straße", "strasse", "str.", "straat", "gatan", "vägen", "veien", "gracht")
_CAPITAL_ENDS = (
    *("weg", "platz", "allee", "gasse", "damm", "ufer", "chaussee", "steig", "stieg", "markt"),
    *("laan", "plein", "gade", "vej", "vegen", "gata", "gate", "katu", "tie", "utca", "út"),
)
_GERMANIC = rf"(?:{_CAPITAL} )?(?=[^\W\d_])[\w.-]{{3,40}}+ {_NUMBER}"
_PREPOSITION = rf"(?:Am|An de[rn]|Im|In der|Auf de[mr]|Unter den|Zu[mr]|Beim) {_CAPITAL} {_NUMBER}"


def _is_english_street(text: str) -> bool:
    """Tell if a number before a kind of street belongs to it: not in `12 lines this way`."""
    return not _WORDED.fullmatch(text) and not _FAMOUS.match(text)


# Addresses that everybody knows, or that stand in the headers of a licence.
_FAMOUS = re.compile(
    r"51 Franklin St|59 Temple Place|675 Mass Ave|1[01] Downing St|221b Baker St"
    r"|742 Evergreen Terrace|4 Privet Drive|21 Jump Street"
    r"|10 Cloverfield Lane|84 Charing Cross|350 Fifth Ave",
    re.IGNORECASE,
)

_WORDED = re.compile(
    r"\d{1,5}[a-z]?,? (?:[a-z]{1,30} ){1,4}(?:way|place|close|row|square|pl|sq|ct|walk|drive"
    r"|circle|terrace|court|trail|alley|crescent|mews|gardens)"
)
# These words also begin other phrases: `sort in place AND return`, `via Twitter`, `route Flask`.
_AMBIGUOUS = re.compile(
    r"(?:place|via|cours|route|passage|sentier|corso|ronda|camino|trg|al\.|av\.|quai|largo)\s",
    re.IGNORECASE,
)


def _is_romance_street(text: str) -> bool:
    """Tell if a kind of street has a number, or begins nothing else: no `ul.Close()`."""
    if re.match(r"[a-z]{1,3}[./][A-Za-z]", text):
        return any(c.isdigit() for c in text) and " " in text
    if not _AMBIGUOUS.match(text):
        return True
    return any(c.isdigit() for c in text) and text[0].isupper() and " Port " not in text


def _is_street(text: str) -> bool:
    """Tell if the word before the house number ends as a kind of street."""
    before, _, word = text[: re.search(r" \d", text).start()].rpartition(" ")  # type: ignore[union-attr]
    if word.lower() in _CAPITAL_ENDS:  # `Neuer Weg 3`, `Karl Johans gate 5`; not `Auf Platz 3`
        named = word != "Gate" and before.endswith(("er", "s"))
        return named and before not in ("Der", "Unser", "Ihr", "Dieser", "Jeder", "Seiner")
    return word.lower().endswith(_ENDS) or (
        text[0].isupper() and word.lower().endswith(_CAPITAL_ENDS)
    )


# A stair, a flat or a court, and the postcode with its place: `, Whg. 17 · 80337 München`.
_FIGURES_CITY = r"(?:\d{5}|\d{4}(?: ?[A-Z]{2}|-\d{3})?|\d{3} \d{2}|\d{2}-\d{3})"
_CITY = (
    r"(?:(?:-\d{1,3}|/\d{1,4})?(?:, ?[\w.º°/ -]{1,20}(?=, ?|\s[·|]\s))?(?:,?\s{1,3}|\s[·|]\s)"
    rf"(?:[A-Z]{{1,2}}-)?{_FIGURES_CITY} {_CAPITAL}(?: {_CAPITAL})?)?"
)
# A name and a house number before a postcode: `Jagerij 64, 9999 AA`.
_BARE = (
    # In a list of files: May 20  2026 X11
    r"(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d)"
    rf"{_CAPITAL}(?: {_CAPITAL}){{0,3}} (?!(?:19|20)\d\d\b)\d{{1,4}}[a-z]?"
    r"(?:-\d{1,3}|/\d{1,4})?"
    rf"(?=,?\s{{1,3}}(?:[A-Z]{{1,2}}-)?{_FIGURES_CITY} [A-ZÀ-ÖØ-Þ])"
)

# Of the United Kingdom: no letters in the second half that it does not have, and no `8GB`.
_BRITISH = (
    r"(?:A[BL]|B[ABDHLNRST]?|C[ABFHMORTVW]|D[ADEGHLNTY]|E[CHNX]?|F[KY]|G[LUY]?|H[ADGPRSUX]|I[GMPV]"
    r"|JE|K[ATWY]|L[ADELNSU]?|M[EKL]?|N[EGNPRW]?|O[LX]|P[AEHLOR]|R[GHM]|S[AEGKLMNOPRSTWY]?"
    r"|T[ADFNQRSW]|UB|W[ACDFNRSV]?|YO|ZE)\d[A-Z\d]? ?\d(?![GT]B)[ABD-HJLNP-UW-Z]{2}"
)
_IRISH = (  # P0482R6 is a proposal for C++
    r"(?!P\d{4}R\d)(?:[AC-FHKNPRTV-Y]\d{2}|D6W) ?"
    r"(?=[A-Z\d]{0,3}\d)(?=[A-Z\d]{0,3}[A-Z])[\dAC-FHKNPRTV-Y]{4}"
)
_CANADIAN = r"[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d"
# Figures alone are no evidence: a word for a postcode stands before, or a place after them.
_FIGURES = r"\d{5}-\d{4}|\d{4} ?[A-Z]{2}|\d{3} \d{2}|\d{2}-\d{3}|\d{5,6}|\d{4}"
_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]"
    "|T[NX]|UT|V[AT]|W[AIVY]"
)
_CODE_WORDS = any_of(
    "zip zipcode zip_code postcode post_code postal_code postalcode plz postleitzahl code_postal",
    "código_postal codigo_postal cap cp postnummer postcode: psč kod_pocztowy",
).replace(" ", "[ _-]?")


def _locate_street(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a street's address by the name of its key, in quotation marks."""
    found = read_setting(match)
    if found is None or not found.quote or found.between not in (":", "=", "=>", "value="):
        return None
    value = found.value
    words = re.search(r"[^\W\d_]{3}|[\u3040-\u9fff]{2}", value) is not None
    number = re.search(r"(?<![\w.@])\d{1,4}[a-zA-Z]?(?![\w.])", value) is not None
    foreign = re.search(r"[@{}<>$%=]|://|0x|\d\.\d", value) is not None
    if not (words and number) or foreign or (" " not in value and value.isascii()):
        return None
    return found.start, found.start + len(value)


_STREET_KEYS = any_of(
    "address address1 address2 street street_address addr adresse anschrift straße strasse calle",
    "dirección direccion domicilio indirizzo rue ship_to endereço adres ulica",
    "住所 地址 주소 адрес",
).replace(" ", "[ _-]?")
_STREET_STEMS = words_of(
    "addr adres anschrift street straße strasse calle direcci domicilio indirizzo rue ship endere",
    "ulica 住所 地址 주소 адрес",
)


# -- Chinese, Japanese, Korean: from the largest to the smallest, without blanks ------------------
_HAN = "\u3400-\u9fff"
_CHINESE = (
    rf"(?:(?<=[区區市县縣镇鎮乡省州在于是:：,，、；。（( ])|(?<![{_HAN}\w]))"
    rf"(?P<part>(?![区區市县縣])[{_HAN}]{{1,8}}?(?:大道|大街|胡同|[路街巷弄道])"
    rf"(?:[{_HAN}]{{1,4}}段)?"
    r"\d{1,5}[号號弄巷](?:-?\d{1,4}(?:号楼|號樓|号|號|栋|棟|幢|座|单元|單元|层|樓|楼|室)){0,4}"
    r"(?:(?<=[元栋棟幢楼樓座])\d{2,4})?)"
)
_JAPANESE = (
    rf"(?<=[区市町村郡])(?P<part>[{_HAN}\u3041-\u30ff]{{1,10}}?\d{{1,3}}(?:丁目|[-−－‐])\d{{1,3}}"
    r"(?:(?:番地?|[-−－‐])\d{1,4}号?)?(?:[-−－‐]\d{1,4}(?:号室)?)?)(?!\d)"
)
_KOREAN = (
    r"(?<=[시군구읍면동] )(?P<part>[가-힣]{1,10}(?:대로|로|길)(?: ?\d{1,3}(?:번길|길))?"
    r" ?\d{1,4}(?:-\d{1,3})?(?:,? \d{1,4}동)?(?:,? \d{1,4}호)?)(?![\d년월일시분])"
)
# -- other scripts, and Turkish: a word for a street, and a number --------------------------------
_CYRILLIC_WORD = r"(?-i:[А-ЯЁІЇЄҐ])[\w'’-]{1,24}"
_CYRILLIC = (
    rf"(?:(?:г|м|с|пос|смт)\. ?{_CYRILLIC_WORD}(?:[ -]{_CYRILLIC_WORD})?, ?)?"
    r"(?:(?:ул|вул|пер|пров|просп|пр-т|бул|бульв|наб|пл)\.|улиц[аеу]|вулиц[яію]|проспект[еау]?"
    rf"|переул(?:ок|ке)|бульвар[еу]?) ?{_CYRILLIC_WORD}(?: {_CYRILLIC_WORD}){{0,2}}"
    r",?(?: (?:д|буд|дом|будинок|б)\.?)? ?\d{1,4}(?:/\d{1,3})?(?: ?(?-i:[а-я])(?!\w))?"
    r"(?:, ?(?:кв|корп|к|стр|оф|под|эт|квартира|офис)\.? ?\d{1,4}){0,3}"
)
_GREEK_WORD = r"[Α-ΩΆ-Ώ][\w'’-]{1,24}"
_GREEK = (
    rf"(?:{_GREEK_WORD} ){{1,3}}\d{{1,4}}, ?(?:Τ\.?Κ\.? ?)?\d{{3}} ?\d{{2}},? {_GREEK_WORD}"
    rf"|(?:[Οο]δ(?:ός|ού)|Λεωφ(?:όρος|\.)) (?:{_GREEK_WORD} ){{1,3}}\d{{1,4}}"
)
_TURKISH = (
    r"(?:[A-ZÇĞİÖŞÜ][\w'’-]{1,24} ){1,3}(?:Cad(?:desi)?|Sok(?:ak|ağı)?|Mah(?:allesi)?|Bulvarı|Blv"
    r"|Sk|Cd)\.?,?(?: [\w.]{2,20},?){0,5}? (?:No|Nu|D|Kat|Daire) ?[:.]? ?\d{1,4}(?:/\d{1,4})?"
)
_HEBREW = (
    r"(?:רחוב|רח['׳]|שדרות|שד['׳]|סמטת) [^\s\d,.]{2,20}(?: [^\s\d,.]{2,20}){0,2} \d{1,4}"
    r"(?:,? (?:דירה|קומה|כניסה) \d{1,4}){0,3}"
)
_ARABIC_UNIT = r"(?:مبنى|عمارة|شقة|بناية|منزل|رقم|طابق|الدور|فيلا)"
_ARABIC = (
    r"(?:حي [^\s،,.\d]{2,20}(?: [^\s،,.\d]{2,20}){0,2}[،,] ?)?شارع [^\s،,.\d]{2,20}"
    rf"(?: [^\s،,.\d]{{2,20}}){{0,2}}(?:[،,]? ?{_ARABIC_UNIT} [\d٠-٩]{{1,4}}){{1,4}}"
)
_HINDI = (
    r"(?:मकान|फ्लैट|प्लॉट)(?: नं\.?| नंबर| संख्या)? ?[\d०-९]{1,4}(?:, ?[^\n,।\d]{2,30}){0,4}"
    r"(?: ?[\d०-९]{6})?"
)


def _is_postcode(text: str) -> bool:
    """Tell if a postcode is none of the formulas that look like one of Canada: `C9H8O4`."""
    return " " in text or not _FORMULA.fullmatch(text)


_FORMULA = re.compile(r"(?:[CHNOPSFKBIV]\d){3}")

_HOUSES = """
    cottage farm house barn lodge hall mill smithy vicarage rectory grange manor annexe croft
    farmhouse bungalow villa stables gatehouse schoolhouse forge maltings
"""
_TITLED = r"(?-i:[A-ZÀ-ÖØ-Þ][a-zß-ÿ'’]{2,20})"
_AT_HOME = re.compile(
    r"(?:\b(?:live|lives|living|lived|moved|home|house|address|deliver|delivered|resident"
    r"|residing|reside|resides)\b[^.!?]{0,40}|\n[^\n]{3,40},?\n)\Z",
    re.IGNORECASE,
)
_LIVES = re.compile(
    r"\b(?:lives?|living|lived|resid(?:e|es|ing|ent)|(?:moved|delivered?|sent?|post) to|address:?)"
    r"(?: (?:at|in|of|by|near|is))?(?: the)? \Z",
    re.IGNORECASE,
)
_POSTCODE_AFTER = re.compile(rf"[,\s][^.!?]{{0,40}}?(?:{_BRITISH})(?!\w)")


def _locate_house(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a house of a name if somebody's home is spoken of before it, or a
    postcode stands after it."""
    start, end = match.span("part")
    before = match.string[max(0, start - 60) : start]
    if _AT_HOME.search(before) or _POSTCODE_AFTER.match(match.string, end):
        return start, end
    return None


def _locate_named_house(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a house with a name where somebody lives, or before a postcode."""
    start, end = match.span("part")
    lives = _LIVES.search(match.string[max(0, start - 40) : start])
    return (start, end) if lives or _POSTCODE_AFTER.match(match.string, end) else None


# Where somebody lives or a thing is sent, before an address in small letters.
_LIVING = """
    wohne wohnt wohnhaft live_at lives_at lived_at living_at live_on stay_at staying_at
    staying_in stays_at move_to
    moved_to moving_to address_is adress_is addy_is address: adress: house_at home_at flat_at
    deliver_to deliver_it_to delivered_to ship_to ship_it_to send_it_to come_to pick_me_up_at
    pick_me_up_from i_live_in wohne_in wohnt_in wohnen_in wohne_in_der wohne_im wohne_am
    ziehe_in_die adresse_ist adresse: habite_au habitons_au habite habite_à habitons j'habite_au
    adresse_est vivo_en vive_en vivimos_en vivo_na vive_na moro_na mora_na moramos_na moro_no
    mora_no dirección: direccion: abito_in abita_in abitiamo_in vivo_in vive_in woon_op woont_op
    woon_in woont_in woon_aan mieszkam_na mieszka_na mieszkamy_na mieszkam_przy adres: envoyer_au
    livrer_au situé_au
"""
_LOWER = (
    r"(?!(?:the|this|that|same|per|px|of|in|to|and|an?|my|her|his|our|your|their|other|different|more)\b)"
    r"[^\W\d_]{2,20}"
)
_LOWER_NUMBER = r"(?:n[º°.] ?)?\d{1,4}(?:[a-z](?!\w))?(?: \d{1,2}[º°ªa]?-?[A-Za-z](?!\w))?"
_LOWER_HOME = "|".join(
    (
        rf"\d{{1,5}}[a-z]?,? (?:{_LOWER} ){{1,3}}{any_of(_SURE, _ALSO, _WORDED_ALSO)}(?!\w)",
        rf"\d{{1,4}}(?: ?(?:bis|ter))?,? {_TYPES}(?:\s"
        rf"|(?<=\.)){_LINK}{{0,3}}{_LOWER}(?: {_LOWER})?(?!\w)",
        rf"{_TYPES}(?:\s|(?<=\.))\s?{_LINK}{{0,3}}(?:{_LOWER} ){{1,3}}{_LOWER_NUMBER}",
        r"(?:(?:am|im|an der|auf der) )?[^\W\d_]{2,20}(?:weg|platz|allee|gasse|damm|ring|stieg"
        r"|ufer|laan|plein|vej"
        r"|straße|strasse|str\.|straat|gatan|vägen) \d{1,4}[a-z]?(?!\w)",
    )
)

_TOWN = rf"{_TITLED}(?:[ -](?:{_TITLED}|on|upon|le|under|by|in|the)){{0,3}}"
_HOUSE_BEFORE = re.compile(r"(?<!\d)\d{1,5}[a-zA-Z]?(?:[ ,/-]|\n)[^.!?;]{3,60}[,\n] {0,4}\Z")

_PUBLISHER = re.compile(r"\b(?:Foundation|Inc\.|Corporation|Press|Publishers?)\b")  # of licences


def _locate_town(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a town with its postcode if it ends an address: a house has a number
    before it."""
    start, end = match.span("part")
    before = match.string[max(0, start - 120) : start]
    found = _HOUSE_BEFORE.search(before[-80:]) and not _PUBLISHER.search(before)
    return (start, end) if found else None


PLACES = (
    shape(  # 14 Cullingworth Avenue, Leeds LS8 3QT
        "STREET_ADDRESS",
        rf"(?<=[\n ])(?P<part>{_TOWN},? {{1,2}}(?:{_BRITISH}))(?!\w)",
        clue=any_figure(r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"),
        locate=_locate_town,
        reach=90,
    ),
    shape(  # 2207 Maple Hollow Dr, Apt 4B, Asheville, NC 28801
        "STREET_ADDRESS",
        rf"(?<=[\n ])(?P<part>{_TOWN}, (?-i:[A-Z]{{2}}) \d{{5}}(?:-\d{{4}})?)(?![\w-])",
        clue=any_figure(r", [A-Z]{2} \d{5}"),
        locate=_locate_town,
        reach=90,
    ),
    shape(  # Gartenweg 12 in 38518 Gifhorn
        "STREET_ADDRESS",
        r"(?<![\w-])(?-i:[A-ZÄÖÜ])[\w.-]{2,24}(?:weg|straße|strasse|str\.|allee|platz|gasse|ring|damm"
        rf"|ufer|steig) \d{{1,4}} ?[a-z]? in \d{{5}} {_TITLED}(?:-{_TITLED})?(?!\w)",
        clue=any_figure(r" in \d{5}"),
        reach=60,
    ),
    shape(  # i live at 14 thornbury close, vivo en calle olmo 23 2ºB
        "STREET_ADDRESS",
        rf"(?<!\w){any_of(_LIVING)} (?P<part>{_LOWER_HOME})(?!\w)",
        case=False,
        clue=all_clues(least_digits(1), any_listed(_LIVING)),
        reach=24,
    ),
    shape(  # Unit 4, Wharf Road
        "STREET_ADDRESS",
        rf"(?<![\w-])(?:Unit|Flat|Apt|Apartment|Suite) \w{{1,4}}, (?:{_CAPITAL} ){{1,3}}"
        rf"(?-i:{any_of(_SURE.title())})(?!\w)",
        clue=any_listed(_SURE),
        reach=90,
    ),
    shape(  # The Old Forge, Church Lane
        "STREET_ADDRESS",
        rf"(?<![\w-])(?:The )?(?:{_TITLED} ){{1,2}}(?-i:{any_of(_HOUSES.title())}), "
        rf"(?:{_TITLED} ){{1,2}}(?-i:{any_of(_SURE.title())})(?!\w)",
        clue=all_clues(any_listed(_HOUSES), any_listed(_SURE)),
        reach=80,
    ),
    shape(
        "STREET_ADDRESS",
        assigned(_STREET_KEYS),
        case=False,
        clue=all_clues(least_digits(1), any_string(*sorted(_STREET_STEMS))),
        locate=_locate_street,
        reach=24,
    ),
    shape(  # of a vCard: a post-office box, an extension, the street
        "STREET_ADDRESS",
        r"(?m:^)[+-]?(?:item\d{1,2}\.)?ADR(?:;[^:\n]{0,80})?:[^;\n]{0,40};[^;\n]{0,40};(?P<part>[^;\n]{3,80});",
        case=False,
        clue=any_string("adr:", "adr;"),
    ),
    shape(  # its first line
        "STREET_ADDRESS",
        r"<address[^<>]{0,80}>\s{0,40}(?P<part>(?=[^<>\n]{0,80}\d)[^<>\n]{4,80}?)\s{0,10}<(?:br\b|/address)",
        case=False,
        clue=any_string("<address"),
    ),
    shape(  # Shuinan Road 66
        "STREET_ADDRESS",
        rf"(?<!\w){_CAPITAL} (?:Road|Rd\.?|Street|Avenue|Lane) \d{{1,4}}(?![\w.,]\d|\w)",
        clue=any_string(" road ", " rd", " street ", " avenue ", " lane "),
        reach=40,
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w-])(?<![\d\w][.:])(?=[\dafprsu])(?:{_ENGLISH})(?!\w)",
        _is_english_street,
        case=False,
        clue=all_clues(
            any_match(r"\d+"),
            any_listed(
                _SURE, _ALSO, _WORDED_ALSO, "box obox pobox apt apartment suite unit flat room"
            ),
        ),
        reach=20,
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w-])(?=[\dacbfilpqrstuv])(?:{_ROMANCE}){_CITY}",
        _is_romance_street,
        case=False,
        clue=any_listed(*_TYPE_LISTS),
        reach=14,
    ),
    shape(  # 44 Heol y Parc
        "STREET_ADDRESS",
        rf"(?<![\w-])\d{{1,4}}[a-z]?,? (?:Heol|Ffordd|Stryd|Lôn|Rhodfa|Maes|Clos)"
        rf"(?:(?: [Yy]r?)? {_CAPITAL}){{1,3}}",
        clue=any_listed("heol ffordd stryd lôn rhodfa maes clos"),
        reach=8,
    ),
    shape(  # vivo in via Garibaldi 7
        "STREET_ADDRESS",
        rf"(?<!\w)(?:in|residenza:?|residente|domicilio:?|indirizzo:?|indirizzo è|è) "
        rf"(?P<part>(?:via|viale|corso|piazza|piazzale|largo|vicolo) {_LINK}?{_TITLED}"
        rf"(?: {_LINK}?{_TITLED}){{0,3}},? (?:n\.? ?)?\d{{1,4}}(?:[a-z]|/\d{{1,3}})?(?!\w)"
        rf"{_CITY})",
        case=False,
        clue=all_clues(
            least_digits(1), any_listed("via viale corso piazza piazzale largo vicolo")
        ),
        reach=20,
    ),
    shape(  # We live at 17, The Larches
        "STREET_ADDRESS",
        r"(?<![\w.-])(?P<part>\d{1,4}[a-z]?,? The [A-Z][a-z]{2,20})(?=[,.\n]|\Z)",
        clue=all_clues(least_digits(1), any_string(" the ")),
        locate=_locate_house,
        reach=12,
    ),
    shape(  # She lives at Foxglove Barn
        "STREET_ADDRESS",
        rf"(?<![\w-])(?P<part>(?:{_TITLED} ){{1,3}}(?-i:{any_of(_HOUSES.title())}))(?![\w'’-])",
        clue=any_listed(_HOUSES),
        locate=_locate_named_house,
        reach=70,
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w-]){_GERMANIC}{_CITY}",
        _is_street,
        clue=all_clues(
            least_digits(1), any_string(*(f"{end} " for end in (*_ENDS, *_CAPITAL_ENDS)))
        ),
        reach=80,
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w-]){_PREPOSITION}{_CITY}",
        clue=all_clues(
            least_digits(1), any_match("(?:Am|de[nmr]|Im|In der|Zu[mr]|Beim) [A-ZÀ-ÖØ-ÞŁŚŻŽŠČĐİ]")
        ),
        reach=12,
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w-])(?:{_BARE}){_CITY}",
        clue=all_clues(
            least_digits(5), any_figure(r"\d(?:\d{3}| \d\d|-\d{3}|\d-\d{3}) [A-ZÀ-ÖØ-Þ]")
        ),
        reach=190,
    ),
    shape(  # 上海市浦东新区世纪大道1589号
        "STREET_ADDRESS",
        _CHINESE,
        clue=any_match(r"[路街巷弄道同段]\d{1,5}[号號弄巷]"),
        reach=16,
    ),
    shape(  # 渋谷区神南1-19-11
        "STREET_ADDRESS",
        _JAPANESE,
        clue=any_match(rf"[{_HAN}\u3041-\u30ff]\d{{1,3}}(?:丁目|[-−－‐])\d"),
        reach=16,
    ),
    shape(  # 강남구 테헤란로 152
        "STREET_ADDRESS",
        _KOREAN,
        clue=any_match(r"[로길] ?\d"),
        reach=24,
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w.]){_CYRILLIC}",
        case=False,
        clue=all_clues(
            least_digits(1),
            any_string(
                "ул.",
                "пер.",
                "пров.",
                "просп",
                "пр-т",
                "бул",
                "наб.",
                "пл.",
                "улиц",
                "вул",
                "переул",
            ),
        ),
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<!\w)(?:{_GREEK})",
        clue=all_clues(beyond_latin, least_digits(1), any_match("[Α-ΩΆ-Ώ]")),
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<!\w){_TURKISH}(?!\w)",
        clue=all_clues(
            least_digits(1), any_string("cad", "sok", "mah", "bulvar", "blv", " sk", " cd")
        ),
        reach=90,
    ),
    shape("STREET_ADDRESS", _HEBREW, clue=any_string("רחוב", "רח", "שדרות", "שד", "סמטת")),
    shape("STREET_ADDRESS", _ARABIC, clue=any_string("شارع")),
    shape("STREET_ADDRESS", _HINDI, clue=any_string("मकान", "फ्लैट", "प्लॉट")),
    shape(
        "ZIP_CODE",
        r"〒 ?(?P<part>\d{3}-?\d{4})(?!\d)",
        clue=any_string("〒"),
        reach=2,
    ),
    shape(
        "ZIP_CODE",
        rf"(?<![\w#-])(?:{_BRITISH}|{_CANADIAN}|{_IRISH})(?![\w-])",
        _is_postcode,
        clue=any_figure(
            r"\d[ABD-HJLNP-UW-Z]{2}(?!\w)|\d[A-Z] ?\d[A-Z]\d"
            r"|\d(?<=[A-Z].)[\dW] ?[\dAC-FHKNPRTV-Y]{4}(?!\w)"
        ),
        reach=10,
    ),
    shape(
        "ZIP_CODE",
        rf"(?<![^\W_]){_CODE_WORDS}[\"'`]?(?: (?:is|ist|est|es))?[:=>#.\s\"'`]{{1,4}}"
        rf"(?P<part>{_FIGURES})(?![\w-])",
        case=False,
        clue=any_string("zip", "post", "plz", "cap", "cp", "psč", "kod"),
        reach=16,
    ),
    shape(  # 2217 Harkness Ave, Bakersfield, CA 93304
        "ZIP_CODE",
        rf"(?<![\w.-])\d{{1,5}} [^\n\d]{{4,60}}(?:\d{{1,4}}[a-z]?|[#\w]{{1,4}})?,? {_CAPITAL}"
        rf"(?: {_CAPITAL}){{0,2}},? (?:{_STATES}) (?P<part>\d{{5}}(?:-\d{{4}})?)(?![\w-])",
        clue=all_clues(least_digits(6), any_figure(rf"(?:{_STATES}) \d{{5}}")),
        locate=lambda match: None if _FAMOUS.match(match[0]) else match.span("part"),
        reach=130,
    ),
    shape(  # Am Hasenberg 14;37085;Göttingen
        "ZIP_CODE",
        r"(?:(?<=[^\W\d_][. ])|(?<=[^\W\d_]\. ))\d{1,4}[a-z]?\"?(?:[;,\t|]"
        r"|\\\\)\"?(?P<part>\d{4,5})(?:\"?[;,\t|]\"?| )"
        rf"{_CAPITAL}",
        clue=all_clues(least_digits(5), any_figure(r"[;,\t|\\]\"?\d{4}")),
        reach=12,
    ),
    shape(
        "ZIP_CODE",
        rf"(?<![\w-])(?P<part>\d{{3}} \d{{2}}|\d{{2}}-\d{{3}}|\d{{4}} [A-Z]{{2}}) {_CAPITAL}",
        lambda code: not code.endswith(("AM", "PM", "AD", "BC", "MB", "KB", "GB", "TB", "HZ")),
        clue=all_clues(least_digits(4), any_figure(r"\d(?: [A-Z]{2})? [A-ZÀ-ÖØ-ÞŁŚŻŽŠČĐİ]")),
        reach=10,
    ),
)
