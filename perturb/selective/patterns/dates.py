"""Find dates, times and durations, written in English, German, French and Spanish."""

from __future__ import annotations

import re

from perturb.selective.patterns.numbers import FIGURE, WORDS
from perturb.selective.patterns.shape import (
    any_clue,
    any_listed,
    any_match,
    any_of,
    any_string,
    shape,
)

__all__ = ["DATES", "DATE_FORMS", "MONTHS", "SPANS", "is_long_ago"]

_EARLIEST = 1915  # year in which somebody was born who may be alive

MONTHS = any_of(
    "january february march april may june july august september october november december",
    "jan feb mar apr jun jul aug sep sept oct nov dec",
    "januar jänner februar märz mai juni juli oktober dezember mär okt dez",
    "janvier février mars avril juin juillet août septembre octobre novembre décembre",
    "janv févr avr juil déc",
    "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre",
    "diciembre ene abr ago dic",
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre",
    "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro",
    "januari februari maart mei augustus oktober maj augusti marts",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada",
    "grudnia ledna února března dubna května června července srpna září října listopadu prosince",
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
)
_WEEKDAY_LISTS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
)
_WEEKDAYS = any_of(*_WEEKDAY_LISTS)
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|º|ª|\.)?"
_YEAR = r"(?:1[5-9]|20)\d\d"
_OF = "(?: of| de| del)?"
_SEVERAL = (  # 3-5 May, 3 and 5 May, del 3 al 5 de mayo
    rf"(?:{_DAY}(?: of)?(?: ?[-/] ?|,? (?:and|to|or|und|bis|oder|et|au|y|al|a|until) )"
    r"(?:the |den |dem |le |el )?){0,3}"
)
_FORMS = "|".join(
    (
        r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{1,2}:\d\d(?::\d\d)?)?",
        r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}",
        r"\d{1,2}\. \d{1,2}\. \d{4}",
        rf"{_SEVERAL}{_DAY}{_OF}[ -]{MONTHS}\b\.?(?:,?{_OF}[ -]\d{{2,4}})?",
        rf"{MONTHS}\b\.? {_DAY}(?: ?(?:-|and|to) ?{_DAY})?(?:,? {_YEAR})?",
        rf"{MONTHS}\b\.?,?{_OF} {_YEAR}",
        rf"(?:spring|summer|autumn|winter)(?: of)? {_YEAR}",
        r"\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\b\.?)?",
        r"\d{1,2} ?[ap]\.?m\b\.?",
        r"\d{1,2}(?:[.:]\d\d)? ?uhr|\d{1,2} ?h(?: ?\d\d)",
        rf"{_WEEKDAYS}(?!\w)",
        rf"{_YEAR}(?:s|[-/]\d\d(?:\d\d)?)?",
    )
)
# With the day, the month and perhaps the year.
DATE_FORMS = "|".join(
    (
        r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}",
        r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}",
        r"\d{1,2}\. \d{1,2}\. \d{4}",
        rf"{_DAY}{_OF}[ -]{MONTHS}\b\.?(?:,?{_OF}[ -]\d{{4}})?",
        rf"{MONTHS}\b\.? {_DAY}(?:,? {_YEAR})?",
    )
)
_UNIT_LISTS = (
    "year years month months week weeks fortnight fortnights day days hour hours minute minutes",
    "jahr jahre jahren monat monate monaten woche wochen tage tagen stunde stunden minuten",
    "ans année années mois semaine semaines jour jours heure heures",
    "año años mes meses semana semanas día días hora horas minutos",
)
_UNITS = any_of(*_UNIT_LISTS)
SPANS = rf"{_UNITS}(?!\w)"
_COUNT = rf"(?!one day\b)(?:{FIGURE}|{WORDS})"
_PERIOD = (
    rf"{_COUNT}(?: and a half)?(?: ?- ?|[ -](?:calendar |working |whole |full )?)"
    rf"(?:{_UNITS}|(?<=un )an)"
    r"(?!\w)(?! ?-? ?(?:old|alt)\b| of age)"
)
_JOINED = r"(?:,? (?:and|und|et|y) |, )"
# No age: `43 Jahre alt`, `43-year-old`, `43 años de edad`.
_DURATION = (
    rf"(?:{_PERIOD})(?: and a half)?(?:{_JOINED}(?:{_PERIOD})){{0,3}}"
    r"(?! of age| de edad| d.âge)"
)

DATES = (
    shape(
        "DATE_TIME",
        rf"(?<!\w)(?=[\dadefjlmnostvw])(?:{_FORMS})(?!\w)",
        case=False,
        clue=any_clue(any_match(r"\d+"), any_listed(*_WEEKDAY_LISTS)),
        reach=24,
    ),
    shape(
        "DURATION",
        rf"(?<![\w.,-]){_DURATION}",
        case=False,
        clue=any_clue(any_listed(*_UNIT_LISTS), any_string("un an")),
        reach=340,
    ),
)


def is_long_ago(date: str) -> bool:
    """Tell if nobody is alive who was born then.

    >>> is_long_ago("12 February 1809"), is_long_ago("12.2.1999"), is_long_ago("18/09/12")
    (True, False, False)
    """
    years = [int(year) for year in re.findall(rf"(?<!\d){_YEAR}(?!\d)", date)]
    return bool(years) and max(years) < _EARLIEST
