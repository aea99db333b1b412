"""Find dates of birth: a date beside a word for it, in several languages and formats."""

from __future__ import annotations

import re

from perturb.selective.patterns.clues import all_clues, any_string, least_digits
from perturb.selective.patterns.dates import DATE_FORMS
from perturb.selective.patterns.shape import shape

__all__ = ["BIRTHS"]

_WORDS = "|".join(
    (
        r"d\.?o\.?b\.?|date[ _-]?of[ _-]?birth|birth[ _-]?dat(?:e|um)|birth[ _-]?day|b-?day|born"
        r"|birth|dateofbirth",
        r"geb(?:\.|oren|urtsdatum|urtstag|dat\w{0,3})?|geburt",
        r"née?(?:\(e\))?|date[ _]de[ _]naissance|date[ _]naissance|naissance|anniversaire",
        r"nacid[oa](?:/a)?|nací|fecha[ _]de[ _]nacimiento|fecha[ _]nacimiento|nacimiento"
        r"|cumpleaños",
        r"nat[oa]|data[ _]di[ _]nascita|nascid[oa]|data[ _]de[ _]nascimento|geboren|geboortedatum"
        r"|född|født|fødselsdato|födelsedatum|syntynyt|ur\.|urodzon[ya]|data[ _]urodzenia|nar\."
        r"|narozen[aý]?|datum[ _]narození|szül(?:etett)?\.?|doğum[ _]tarihi",
        r"рожд(?:ения|[её]н|ение)|дата[ _]рождения|г\.р\.|родил(?:ся|ась)|день[ _]рождения",
        r"出生(?:日期|年月日)?|生年月日|生日|誕生日|생년월일|생일",
        r"تاريخ الميلاد|תאריך לידה|γεννήθηκε|γέννηση",
    )
)
_LINK = (
    r"(?:(?: is| was| ist| war| est| es| am| on| the| le| el| il| em| op| den| in| its|:|,|-|=>|="
    r"|>|\||\"|'|`|\*|\(|\[|;value=date|：|は|是|：| ){0,8}?)"
)
_FORMS = (
    rf"(?:{DATE_FORMS}|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:19"
    rf"|20)\d\d年\d{{1,2}}月\d{{1,2}}日"
    r"|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,2}\. ?\d{1,2}\. ?\d{4})"
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def _is_recent(date: str) -> bool:
    """Check that somebody who was born then may be alive."""
    found = _YEAR.search(date)
    if found is None:
        return any(c.isdigit() for c in date)
    return int(found[0]) >= 1915 and len(date) > 5


BIRTHS = (
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
                *("誕生", "생", "الميلاد", "לידה", "γεν", "γέν"),
            ),
        ),
        reach=(30, 200),
    ),
    shape(
        "DATE_OF_BIRTH",
        r"(?:🎂|🍼|👶)[ \t]?(?P<part>\d{1,4}[-./]\d{1,2}[-./]\d{1,4})(?!\w)"
        r"|(?<![\w*])\*[ ]?(?P<star>\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d)(?!\w)",
        _is_recent,
        clue=any_string("🎂", "🍼", "👶", "*"),
        reach=(4, 20),
    ),
    shape(
        "DATE_OF_BIRTH",
        r"(?<![A-Za-z])(?:born|birth|birth_date|birthdate|birthday|dob|geburtsdatum)[\"']?\]?"
        r"(?: ?[:=] ?)(?:new )?(?:dt\.|datetime\.|datetime\.date)?"
        r"(?:date|Date|datetime|LocalDate\.of)"
        r"\((?P<part>(?:19|20)\d\d, ?\d{1,2}, ?\d{1,2})\)",
        clue=any_string("date(", "datetime(", "localdate.of("),
        case=False,
        reach=(60, 30),
    ),
)
