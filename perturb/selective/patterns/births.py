"""Find dates of birth: a date beside a word for it, in several languages and formats."""

from __future__ import annotations

import re

from perturb.selective.patterns.dates import DATE_FORMS, MONTHS, is_long_ago
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.numbers import WORDS
from perturb.selective.patterns.persons import RELATIONS
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
)

__all__ = ["BIRTHS"]

_WORDS = "|".join(
    (
        r"d\.?o\.?b\.?|date[ _-]?of[ _-]?birth|birth[ _-]?dat(?:e|um)|birth[ _-]?day|b-?day|born"
        r"|birth|birt|dateofbirth",
        r"geb(?:\.|oren|urtsdatum|urtstag|dat\w{0,3})?|geburt",
        r"née?(?:\(e\))?|date[ _]de[ _]naissance|date[ _]naissance|naissance|anniversaire",
        r"nacid[oa](?:/a)?|nací|fecha[ _]de[ _]nacimiento|fecha[ _]nacimiento|nacimiento"
        r"|cumpleaños",
        r"nat[oa]|data[ _]di[ _]nascita|nascid[oa]|data[ _]de[ _]nascimento|geboren|geboortedatum"
        r"|född|født|fødselsdato|födelsedatum|syntynyt|ur\.|urodzon[ya]|data[ _]urodzenia|nar\."
        r"|narozen[aý]?|datum[ _]narození|szül(?:etett)?\.?|doğum[ _]tarihi",
        r"рожд(?:ения|[её]н|ение)|дата[ _]рождения|г\.р\.|родил(?:ся|ась)|день[ _]рождения",
        r"出生(?:日期|年月日)?|生年月日|生日|誕生日|생년월일|생일",
        r"تاريخ الميلاد|مواليد|תאריך לידה|γεννήθηκε|γέννηση|γεννημέν(?:ος|η)|जन्म ?(?:तिथि|दिनांक)"
        r"|народи(?:вся|лася|лась)|дата народження|doğum (?:tarihim|günüm)",
    )
)
_LINK = (
    r"(?:(?: is| was| ist| war| est| es| am| on| the| le| el| il| em| op| den| in| its"
    r"| στις|:|,|-|=>|=|>|\||\"|'|`|\*|\(|\[|;value=date|：|は|是|：| ){0,8}?)"
)
# In scripts whose dates nothing else reads.
_MONTHS = any_of(
    "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου",
    "Οκτωβρίου Νοεμβρίου Δεκεμβρίου",
    "जनवरी फ़रवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर सितम्बर अक्टूबर नवंबर दिसंबर",
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "בינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר",
)
_FORMS = (
    rf"(?:{DATE_FORMS}|(?:昭和|平成|令和)(?:\d{{1,2}}|元)年\d{{1,2}}月\d{{1,2}}日|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:19"
    rf"|20)\d\d年\d{{1,2}}月\d{{1,2}}日"
    r"|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,2}\. ?\d{1,2}\. ?\d{4}"
    r"|\d{1,2}(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\d{4}"
    rf"|\d{{1,2}} {_MONTHS} \d{{4}}"
    r"|(?:19|20)\d\d년 ?\d{1,2}월 ?\d{1,2}일)"
)

# In scripts without blanks.
_GLUED = r"(?:出生(?:日期|年月日)?|生于|生於|生年月日|生日|誕生日|생년월일|생일)"
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def _is_recent(date: str) -> bool:
    """Check that somebody who was born then may be alive."""
    found = _YEAR.search(date)
    if found is None:
        return any(c.isdigit() for c in date)
    return not is_long_ago(found[0]) and len(date) > 5


_ORDINALS = any_of(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
    twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth
    twenty-ninth thirtieth thirty-first
    """
)
# The second of March nineteen eighty-four; March second, 1984
_SPELLED = (
    rf"(?:(?:the )?{_ORDINALS}(?: day)?(?: of)? {MONTHS}\b|{MONTHS}\b (?:the )?{_ORDINALS}\b)"
    rf"(?:,? (?:in |of )?(?:(?:19|20)\d\d|{WORDS}))?"
)
_BORN = r"(?:born|geboren|née?|nacid[oa]|nat[oa]|nascid[oa]|birth(?:day|date)?)"
_BORN_CLUE = any_listed(
    "born geboren né née ne nee nacido nacida nato nata nascido nascida birth birthday birthdate"
)
_PLACE = (
    r"(?-i:[A-ZÀ-ÖØ-Þ][\w'’.-]{1,30}(?:(?<![a-zß-ÿ]{3}\.) [A-ZÀ-ÖØ-Þ][\w'’.-]{1,30}){0,2})(?<!\.)"
)
_IN = "(?:in|at|à|a|en|em|te|w|v|i|u)"
_ON = r"(?:,? \([A-Z]{2}\))?,?(?: on| am| le| el| il| em| op| den)?"
_RECENT = rf"(?:{DATE_FORMS}|{_SPELLED})"


def _locate_birthplace(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place where somebody was born who may be alive."""
    return None if is_long_ago(match["date"]) else match.span("part")


def _locate_in_record(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a date in a line that names a person or their address, and is of the
    years in which people who live were born."""
    text, (start, end) = match.string, match.span("part")
    low = max(text.rfind("\n", max(0, start - _LINE), start) + 1, start - _LINE)
    high = text.find("\n", end, end + _LINE)
    line = text[low : high if high >= 0 else end + _LINE]
    if _RELEASE.match(line):  # version 1.26 - Ana Holz, 2011-03-12
        return None
    if not 1925 <= int(match["year"] or match["end"]) <= 2012:
        return None
    named = any(is_given(name[1]) for name in _NAMED.finditer(line))
    return (start, end) if named or _MAIL.search(line) else None


_LINE = 300  # characters of a record on either side
_RELEASE = re.compile(
    r"\W{0,4}(?:version|release|changes? in|v\d|\w{0,20}[ -]?\d+\.\d+)[ \d.]", re.IGNORECASE
)
_MAIL = re.compile(r"[\w.+-]@[\w-]+\.\w")
_NAMED = re.compile(
    r"(?<!\w)([^\W\d_a-z][^\W\d_A-Z]{1,20})[\"']?[ ,;|\t]{1,3}[\"']?[^\W\d_a-z][^\W\d_A-Z]"
)

_KIN = any_of(*(relation.replace(" ", "_") for relation in RELATIONS))

BIRTHS = (
    shape(  # me (3 march 1994) and my crush devon (11/08/1992)
        "DATE_OF_BIRTH",
        rf"(?<!\w)(?:me|(?:my|our|mein\w{{0,2}}|mon|ma|mi|mio|mia) {_KIN}(?: [^\W\d_]{{2,20}})?)"
        rf" \((?P<part>{_FORMS})\)",
        _is_recent,
        case=False,
        clue=all_clues(least_digits(1), any_string("(")),
    ),
    shape(  # ("Mira Holzapfel", "1984-03-02", …)
        "DATE_OF_BIRTH",
        r"(?:[,;|\t(\[][ ]?|[:=] |  )\\{0,3}[\"']?"
        r"(?P<part>(?P<year>(?:19|20)\d\d)-(?:0\d|1[0-2])-[0-3]\d"
        r"|(?<!\|)(?<!\| )[0-3]?\d[./][01]?\d[./](?P<end>(?:19|20)\d\d))"
        r"(?=\\{0,3}[\"']?[ ]?(?:[,;|\t)\]}]|  |\r?\n|\\n|\Z))",
        clue=any_figure(r"\d(?:\d{3}-[01]\d-[0-3]\d|[./][01]?\d[./](?:19|20)\d\d)"),
        locate=_locate_in_record,
        reach=8,
    ),
    shape(
        "DATE_OF_BIRTH",
        rf"(?<![^\W_]){_BORN}(?: is| was| falls)?(?: on|,|:)? (?P<part>{_SPELLED})(?!\w)",
        case=False,
        clue=_BORN_CLUE,
        reach=4,
    ),
    shape(
        "BIRTHPLACE",
        rf"(?<![^\W_]){_BORN}(?: on| am| le| el| il)? (?P<date>{_RECENT}),?"
        rf" (?:in|at|à|en|a|em|te) (?P<part>{_PLACE})",
        case=False,
        clue=_BORN_CLUE,
        locate=_locate_birthplace,
        reach=4,
    ),
    shape(  # born in Onitsha on 12 April 1988, nato a Chioggia il 8/7/1985
        "BIRTHPLACE",
        rf"(?<![^\W_]){_BORN} {_IN} (?P<part>{_PLACE}){_ON} (?P<date>{_FORMS})(?![\w/-])",
        case=False,
        clue=all_clues(least_digits(1), _BORN_CLUE),
        locate=_locate_birthplace,
        reach=4,
    ),
    shape(
        "DATE_OF_BIRTH",
        rf"(?<![^\W_]){_BORN} {_IN} {_PLACE}{_ON} (?P<part>{_FORMS})(?![\w/-])",
        _is_recent,
        case=False,
        clue=all_clues(least_digits(1), _BORN_CLUE),
        reach=4,
    ),
    shape(  # geb. 03.09.1991 in Pforzheim
        "BIRTHPLACE",
        rf"(?<![^\W_])geb\. (?P<date>{_FORMS}) (?:in|à|a|te|em|w) (?P<part>{_PLACE})",
        case=False,
        clue=all_clues(least_digits(1), any_listed("geb")),
        locate=_locate_birthplace,
        reach=6,
    ),
    shape(  # in a list of passengers: Wu Amity F 02/05/11
        "DATE_OF_BIRTH",
        r"(?<=[\w.'’)][ ,;|\t][MF][ ,;|\t])"
        r"(?P<part>[0-3]?\d[/.-][0-3]?\d[/.-](?:(?:19|20)\d\d|\d\d))(?![\w/.-]\d|\w)",
        clue=all_clues(least_digits(4), any_match(r"[MF][ ,;|\t][0-3]?\d[/.-][0-3]?\d[/.-]\d\d")),
        reach=6,
    ),
    shape(  # Israel Montague, b. 28 Oct 1986
        "DATE_OF_BIRTH",
        rf"(?<![\w.-])b\. ?(?P<part>{_FORMS})(?![\w/-])",
        _is_recent,
        clue=all_clues(least_digits(1), any_string("b.")),
        case=False,
        reach=4,
    ),
    shape(  # 生年月日は平成5年2月27日
        "DATE_OF_BIRTH",
        rf"{_GLUED}[是于於为為在は은는]?[ :：]{{0,2}}(?P<part>{_FORMS})(?![\d/-])",
        _is_recent,
        clue=all_clues(beyond_latin, any_match(_GLUED)),
        reach=8,
    ),
    shape(  # DOB 030490
        "DATE_OF_BIRTH",
        r"(?<![^\W_])(?:dob|d\.o\.b\.?)(?: is)?[ :=]{1,3}"
        r"(?P<part>(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|[12]\d|3[01])(?:\d{2}|(?:19|20)\d{2}))(?!\w)",
        case=False,
        clue=any_string("dob", "d.o.b"),
        reach=4,
    ),
    shape(  # <input name="dob" value="1994-03-08">
        "DATE_OF_BIRTH",
        r"<input\b[^<>]{0,200}?\bname=[\"'](?:dob|birth\w{0,8}|date_of_birth|geburtsdatum)[\"']"
        rf"[^<>]{{0,200}}?\bvalue=[\"'](?P<part>{_FORMS})",
        case=False,
        clue=any_string("<input"),
        reach=2,
    ),
    shape(  # an age beside a date of birth is the year
        "DATE_OF_BIRTH",
        rf"(?<![^\W_]){_BORN}(?: on| am)? {_RECENT}[^.!?\n]{{0,60}}? "
        rf"(?:turned|turns|aged|is now|wurde) (?P<part>\d{{1,3}}|{WORDS})(?!\w)",
        case=False,
        clue=all_clues(_BORN_CLUE, any_listed("turned turns aged now wurde")),
        reach=4,
    ),
    shape(
        "DATE_OF_BIRTH",
        rf"(?<![^\W_])(?:{_WORDS})(?![^\W_]){_LINK}(?P<part>{_FORMS})(?![\w/-])",
        _is_recent,
        case=False,
        clue=all_clues(
            least_digits(1),
            any_string(
                *("d.o.b", "dob", "d.ob", "do.b", "birth", "bday", "b-day", "born", "geb", "né"),
                *(
                    "naissance",
                    "anniv",
                    "nac",
                    "cumple",
                    "nat",
                    "nasc",
                    "föd",
                    "fød",
                    "synt",
                    "ur.",
                ),
                *("urodz", "nar.", "naroz", "szül", "doğum", "рожд", "родил", "г.р", "出生", "生"),
                *("誕生", "생", "الميلاد", "مواليد", "לידה", "γεν", "γέν", "जन्म", "народ"),
                *("doğ", "birt"),
            ),
        ),
        reach=30,
    ),
    shape(
        "DATE_OF_BIRTH",
        r"(?:🎂|🍼|👶)[ \t]?(?P<part>\d{1,4}[-./]\d{1,2}[-./]\d{1,4})(?!\w)"
        r"|(?<![\w*])\*[ ]?(?P<star>\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d)(?!\w)",
        _is_recent,
        clue=any_string("🎂", "🍼", "👶", "*"),
        reach=4,
    ),
    shape(
        "DATE_OF_BIRTH",
        r"(?<![A-Za-z])(?:born|birth|birth_date|birthdate|birthday|dob|geburtsdatum)[\"']?\]?"
        r"(?: ?[:=] ?)(?:new )?(?:dt\.|datetime\.|datetime\.date)?"
        r"(?:date|Date|datetime|LocalDate\.of)"
        r"\((?P<part>(?:19|20)\d\d, ?\d{1,2}, ?\d{1,2})\)",
        clue=any_string("date(", "datetime(", "localdate.of("),
        case=False,
        reach=60,
    ),
)
