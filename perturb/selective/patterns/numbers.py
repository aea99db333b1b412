"""Read numbers written in digits or in English, German, French and Spanish words."""

from __future__ import annotations

from perturb.selective.patterns.shape import any_of

__all__ = ["FIGURE", "NUMBER", "WORDS"]

_ENGLISH = any_of(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred hundreds thousand thousands million millions billion billions dozen half
    """
)
_FRENCH = any_of(
    """
    un une deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt
    vingts trente quarante cinquante soixante septante huitante octante nonante cent cents mille
    milliard milliards demi demie
    """
)
_SPANISH = any_of(
    """
    uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince
    dieciséis diecisiete dieciocho diecinueve veinte veintiún veintiuno veintiuna veintidós
    veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve treinta
    cuarenta cincuenta sesenta setenta ochenta noventa cien ciento doscientos doscientas
    trescientos trescientas cuatrocientos cuatrocientas quinientos quinientas seiscientos
    seiscientas setecientos setecientas ochocientos ochocientas novecientos novecientas mil millón
    millones medio media
    """
)
# German numbers are one word: `dreiundvierzig`.
_GERMAN = (
    "(?>(?:"
    + any_of(
        """
        ein eins zwei zwo drei vier fünf sechs sieben acht neun zehn elf zwölf sech sieb zwan und
        zig ßig ssig hundert tausend einhalb millionen milliarden
        """
    )
    + "){1,12})(?:en?|er|es|em)?"
)
_WORD = rf"(?!(?:und|and|et|y|e)\b)(?>(?:{_ENGLISH}|{_FRENCH}|{_SPANISH}|{_GERMAN})(?!\w))"
_AND = r"(?:[ -]|,? and |-et-| et | y )(?:a )?"

WORDS = rf"(?:{_WORD}(?:{_AND}{_WORD}){{0,7}})"
# 1,300.50; 1 300,50; 1.300,50; also with blanks around the marks, as in tokenised text.
FIGURE = r"(?:\d{1,3}(?>(?: \d{3}){1,5})(?!\d)(?:[.,]\d{1,9})?|\d{1,15}(?: ?[.,'’] ?\d{1,9}){0,5})"
NUMBER = rf"(?:{FIGURE}|{WORDS})"
