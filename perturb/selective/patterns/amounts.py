"""Find amounts of money, percentages, measures and ages, in figures and in words."""

from __future__ import annotations

from perturb.selective.patterns.numbers import FIGURE, NUMBER, WORDS
from perturb.selective.patterns.shape import (
    all_clues,
    any_clue,
    any_figure,
    any_listed,
    any_of,
    any_string,
    shape,
)

__all__ = ["AMOUNTS", "UNITS"]

# ISO 4217, with currencies that old documents name; only in capitals
_CODE_LIST = """
    USD EUR GBP CHF JPY CNY SEK NOK DKK ISK PLN CZK HUF RON ROL BGN HRK RSD TRY TRL UAH RUB RUR
    GEL AMD AZN MDL BYN KZT INR PKR BDT KRW HKD SGD TWD THB MYR IDR PHP VND AUD CAD NZD MXN BRL
    ARS CLP COP PEN ZAR NGN KES EGP MAD TND ILS SAR AED QAR KWD ATS DEM DM FRF ITL ESP BEF NLG FIM
    GRD PTE IEP LUX SKK EEK LVL LTL CYP MTL
"""
_CODES = any_of(_CODE_LIST)
_NAME_LIST = """
    dollar dollars euro euros pound pounds franc francs yen yuan renminbi rouble roubles ruble
    rubles rupee rupees krona kronor krone kroner koruna korunas crowns zloty zlotys złoty złotys
    forint forints lira liras lire lei leva levs hryvnia hryvnias peseta pesetas peso pesos reais
    rand dinar dinars dirham dirhams drachma drachmas guilder guilders schilling schillings markka
    marks shekel shekels cent cents pence franken pfund kronen livre livres couronne couronnes
    dólar dólares libra libras corona coronas
"""
_NAMES = any_of(_NAME_LIST)
_SCALE = (
    r"(?: ?(?:k|m|bn|thousand|million|billion|trillion|tsd\.?|mio\.?|mrd\.?|millionen|milliarden"
    r"|millions?|milliards?|mil|millones)\b)?(?: de| d['’])?"
)
# Swedish kronor, Pfund Sterling, coronas suecas (SEK)
_ORIGIN = r"(?:(?!per|pour|por)[^\W\d_]{3,12}+[ -])?"
_AFTER = rf"(?:\b ?sterling| (?:sueca|danesa|noruega|checa|estonia)s)?(?: \((?-i:{_CODES})\))?"
_MONEY = "|".join(
    (
        rf"(?<!\w)(?:(?-i:{_CODES}) ?|[$€£¥₤₺₽₹₩₪] ?){FIGURE}{_SCALE}(?!\d)",
        rf"(?<![\w.,]){FIGURE}{_SCALE} ?(?:[$€£¥₺₽₹₩₪](?!\w)|(?-i:{_CODES})\b)",
    )
)
_NAMED_MONEY = rf"(?<![\w.,]){NUMBER}{_SCALE} {_ORIGIN}(?:{_NAMES}|(?-i:Mark))\b{_AFTER}"
_MEASURE_LISTS = (
    "kilometre kilometres kilometer kilometers km metre metres meter meters centimetre",
    "centimetres centimeter centimeters cm millimetre millimetres mm mile miles yard yards foot",
    "feet ft inch inches kilogram kilograms kilo kilos kg gram grams gramm mg tonne tonnes ton",
    "tons lbs litre litres liter liters hectare hectares acre acres km/h mph m² m2 km²",
    "square_metres square_meters square_kilometres square_miles square_feet mmhg mmol/l mg/dl",
    "kilogramm quadratmeter hektar mètres kilomètres grammes tonnes kilómetros metros kilogramos",
    "hectáreas toneladas gramos",
)
_MEASURES = any_of(*_MEASURE_LISTS)
# A unit with its scale: `million euros`, `km/h`.
UNITS = (
    rf"(?:(?:k|m|bn|thousand|million|billion|trillion|millionen|milliarden|millions?)\b ?)?"
    rf"(?:{_CODES}|{_NAMES}|{_MEASURES}|per ?cent|percent|prozent|pour cent|por ciento)(?!\w)"
)
_AGE = rf"(?:\d{{1,3}}|{WORDS})"
_YEARS = r"(?:years?|yrs?|months?|weeks?)"

_MONEY_CLUE = any_clue(
    any_string(*"$€£¥₤₺₽₹₩₪"),
    any_listed(_CODE_LIST),
    any_listed(" ".join(f"de{code}" for code in _CODE_LIST.split())),  # `de` without a blank
)
_OLD_CLUE = any_clue(
    any_listed("yo"),
    any_string(" old", "-old", "y.o", "y/o", "y./o", " of age", "jähr", "jahre alt", "d'âge"),
    any_string("d’âge", "de edad"),
)
_AGED_CLUE = any_listed("age aged alter âgé âgée âgés âgées âge edad")
_TURN_CLUE = any_listed("turn turns turned turning im i he she bin ist")

AMOUNTS = (
    shape("MONEY", _MONEY, case=False, clue=_MONEY_CLUE, reach=130),
    shape(
        "MONEY",
        _NAMED_MONEY,
        case=False,
        clue=any_listed(_NAME_LIST, "mark"),
        reach=360,
    ),
    shape(
        "PERCENTAGE",
        rf"(?<![\w.,]){NUMBER} ?(?:%|‰|(?:per ?cent|percent|percentage points?|prozent"
        r"|pour cent|por ciento)(?!\w))",
        case=False,
        clue=any_string("%", "‰", "cent", "prozent", "ciento"),
        reach=300,
    ),
    shape(
        "QUANTITY",
        rf"(?<![\w.,]){NUMBER}[ -]?{_MEASURES}(?!\w)",
        case=False,
        clue=any_listed(*_MEASURE_LISTS),
        reach=320,
    ),
    shape(
        "AGE",
        rf"(?<![\w.,])(?P<part>{_AGE})(?:[ -]?{_YEARS}[ -]old|[ -]?y\.?/?o\b"
        rf"|[ -]?{_YEARS} of age|[ -]?jähr(?:ige[nrms]?|ig)\b| jahre alt\b| ans? d['’]âge"
        r"| años de edad)",
        case=False,
        clue=_OLD_CLUE,
        reach=330,
    ),
    shape(
        "AGE",
        r"(?<!\w)(?:aged?:?(?: of)?|alter(?: von)?:?|âgée?s?(?: de)?|âge:?|edad(?: de)?:?)"
        rf" (?P<part>{_AGE}(?: (?:and|to|und|et|y) {_AGE})?(?: ans| años)?)(?!\w)",
        case=False,
        clue=_AGED_CLUE,
        reach=8,
    ),
    shape(
        "AGE",
        r"(?<!\w)(?:turn(?:s|ed|ing)?|i['’]?m|i am|(?:he|she)(?:['’]s| is| was)|bin|ist)"
        r" (?P<part>\d{1,3})(?![\w%]|[.,:/]\d| (?:percent|per|pounds|miles|feet|minutes|hours))",
        case=False,
        clue=all_clues(any_figure(r"\d(?<=\w .)"), _TURN_CLUE),
        reach=18,
    ),
    shape(
        "AGE",
        r"(?<!\w)(?:in|im)(?: (?:his|her|their|my|the))? (?:age|alter)(?: of| von)? "
        rf"(?P<part>{_AGE})(?!\w)",
        case=False,
        clue=any_listed("age alter"),
        reach=12,
    ),
)
