"""Persons by the line that their name is in: heads of mails and commits, cards, addresses and
bills, papers in LaTeX and curricula, lists of those present, and beside telephone numbers.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given, is_ordinary_word, stands_alone
from perturb.selective.patterns.persons.relatives import KNOWN_AS
from perturb.selective.patterns.persons.written import (
    CAPITALS,
    LABEL_WORDS,
    LETTER,
    NO_NAMES,
    OF_PLACES,
    OF_THINGS,
    WRITTEN_FULL,
    WRITTEN_NAME,
    WRITTEN_PART,
    WRITTEN_TITLE,
    WRITTEN_WORD,
    is_full_name,
    is_given_name,
    is_name,
    is_strange,
)
from perturb.selective.patterns.shape import (
    all_clues,
    any_figure,
    any_listed,
    any_match,
    any_of,
    any_string,
    least_digits,
    shape,
    words_of,
)

__all__ = ["LINES"]

# AM and PM end a time: `at 10:00 AM, Bob Smith <…>`.
_ADDRESSED = rf"(?!(?:AM|PM)\b)(?P<part>{WRITTEN_PART}(?:[ ,]{{1,2}}{WRITTEN_PART}){{0,4}})"
_MAILBOX = re.compile(
    r"(?:no-?reply|support|info|team|hello|contact|security|bot|admin|sales|help|notifications?"
    r"|service|newsletter|office|mail|list|dev|users|announce|git|build|ci)(?:[+-].*)?",
    re.IGNORECASE,
)
_NUMBER = r"(?:\+|00|\(?0)\d?[\d ()/.-]{6,20}\d"
# Of a club, a council or a firm, in brackets after who has it.
_CHAIRS = """
    Clerk Chair Chairman Chairwoman Chairperson Vice-Chair Secretary Treasurer Trustee Warden
    Apologies Minutes Note_taker Observer Guest Vorsitz Vorsitzender Vorsitzende Kassenwart
    Schriftführer Schriftführerin Protokoll Gast secrétaire trésorier trésorière présidente
"""
_IN_CAPITALS = rf"[{CAPITALS}]{{2,20}}"
_CAPITAL_PARTICLES = words_of("le la les de du des da di del van von der den ben el al y e")
_IN_LIST = re.compile(
    rf"(?<![\w'’-])(?:[{CAPITALS}]{{3,20}} [{CAPITALS}]{LETTER}{{2,15}}"
    rf"|[{CAPITALS}]{LETTER}{{2,15}} [{CAPITALS}]{{4,20}})(?![\w'’-])"
)
_LISTED_NEAR = 200  # characters between two names of a list
_AFTER_TITLE = re.compile(r"(?<!\w)(?:M|Mr|Mme|Mlle|Mrs|Ms|Dr|Monsieur|Madame|Herr|Frau)\.? \Z")
_FIRMS = words_of("gmbh ag kg ltd inc llc corp bv sa srl spa plc co ab oy as aps ohg mbh")
_OF_CARD = r"(?:;[\w=;-]{1,60})?"  # the parameters of a property of vCard
_TELEPHONE_CLUE = all_clues(least_digits(7), any_figure(r"[+0](?<=[ (].)\d"))


def _is_small_name(name: str) -> bool:
    """Check words in small letters before an address of mail: `sales team` is nobody."""
    return not any(
        is_ordinary_word(word) and not is_given(word) for word in re.split("[ -]", name)
    )


def _locate_display(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the name before an e-mail address; None for an office's."""
    if _MAILBOX.fullmatch(match["local"]) and not is_full_name(match["part"]):
        return None
    return match.span("part") if is_name(match["part"]) else None


def _locate_card(match: re.Match[str]) -> tuple[int, int] | None:
    text = match.string
    near = text[max(0, match.start() - 400) : match.start()].lower()
    return match.span("part") if "vcard" in near or "version:" in near else None


def _locate_before_number(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name before a telephone number: several words from a given name on,
    or a given name after a relation or an office."""
    words = match["part"].split(" ")
    end = match.end("part")
    start = match.start("part")
    for place, word in enumerate(words):
        several = place + 1 < len(words) and not is_ordinary_word(words[-1])
        if is_given(word.partition("-")[0]) and (several or stands_alone(word)):
            return start, end
        start += len(word) + 1
    before = match.string[max(0, match.start("part") - 24) : match.start("part")].rstrip("* ")
    known = before.rpartition(" ")[2].lower()
    if len(words) == 1 and is_given(words[0]) and known in KNOWN_AS:
        return match.span("part")
    return None


def _locate_called(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name before a telephone number, from its given name on."""
    start, end = match.span("part")
    for word in match["part"].split(" "):
        if is_given(word.partition("-")[0]) and not is_ordinary_word(word):
            return start, end
        start += len(word) + 1
    return None


def _is_head(name: str) -> bool:
    """Tell if words in capitals are a name: a given name is among them, or no ordinary word."""
    words = re.split("[ -]", name)
    ordinary = [is_ordinary_word(word) or word.lower() in OF_PLACES for word in words]
    return not any(ordinary) or (any(map(is_given, words)) and not all(ordinary))


def _is_bare(name: str) -> bool:
    """Tell if several words are a name: the first is a given name, or none is ordinary."""
    words = re.split(r"[ -]+", name)
    return is_full_name(name) and (is_given(words[0]) or not any(map(is_ordinary_word, words)))


def _is_family(name: str) -> bool:
    """Tell if words in capitals may be a surname: none is a word of a dictionary or a label."""
    words = [word for word in re.split("[ -]", name) if word.lower() not in _CAPITAL_PARTICLES]
    return bool(words) and not any(
        is_ordinary_word(word) or word.lower() in LABEL_WORDS or word.lower() in NO_NAMES
        for word in words
    )


def _has_capitals_last(name: str) -> bool:
    """Tell if a given name stands before a surname in capitals."""
    given, _, family = name.partition(" ")
    first = given.partition("-")[0]
    return is_given(first) and not is_ordinary_word(first) and _is_family(family)


def _has_capitals_first(name: str) -> bool:
    """Tell if a given name stands after a surname in capitals."""
    family, _, given = name.rpartition(" ")
    first = given.partition("-")[0]
    return is_given(first) and not is_ordinary_word(first) and _is_family(family)


def _locate_in_list(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name that begins with the surname in capitals, beside another one or
    after a title: `IKEA Billy` is nobody."""
    start, end = match.span("part")
    text = match.string
    if _AFTER_TITLE.search(text, max(0, start - 12), start):
        return start, end
    around = (
        *_IN_LIST.finditer(text, max(0, start - _LISTED_NEAR), start),
        *_IN_LIST.finditer(text, end, end + _LISTED_NEAR),
    )
    named = (_has_capitals_first(found[0]) or _has_capitals_last(found[0]) for found in around)
    return (start, end) if any(named) else None


def _is_payer(name: str) -> bool:
    """Tell if a bill goes to a person: a given name is first, or no word is in a dictionary, and
    the last is of no firm."""
    words = name.split(" ")
    firm = words[-1].lower() in OF_THINGS | _FIRMS | NO_NAMES
    return is_full_name(name) and not firm and (is_given(words[0]) or is_strange(name))


def _locate_invited(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of the name of a guest of an event: no room, and no group."""
    words = re.findall(WRITTEN_WORD, match["part"])
    strange = len(words) > 1 and not any(map(is_ordinary_word, words))
    return match.span("part") if strange or any(map(is_given, words)) else None


LINES = (
    shape(  # of iCalendar: ATTENDEE;CN="Torvald Ostrander":mailto:…
        "PERSON",
        r"(?m:^)(?:ATTENDEE|ORGANIZER)(?:;(?!CN=)[^\n;:]{1,60}){0,6};CN=\"?"
        rf"(?P<part>{WRITTEN_NAME})(?=[\";:\r\n])",
        clue=any_string(";cn="),
        locate=_locate_invited,
        reach=400,
    ),
    shape(  # attn. Torvald Ostrander, z. Hd. Frau Ostrander
        "PERSON",
        rf"(?<![^\W_])(?i:attn\.?:?|attention:|fao:?|f\.a\.o\.|z\. ?hd\.|zu händen(?: von)?"
        r"|à l['’]attention de|a la atención de|all['’]attenzione di|t\.a\.v\.|k rukám|do rąk)"
        rf" (?:(?i:{WRITTEN_TITLE})\.? ){{0,2}}(?P<part>{WRITTEN_FULL})"
        r"(?! (?:GmbH|AG|KG|Ltd|Inc|LLC|S))",
        is_full_name,
        clue=any_string(
            "att", "fao", "f.a.o.", "hd.", "händen", "atención", "t.a.v.", "rukám", "rąk"
        ),
        reach=16,
    ),
    shape(  # Bill to: Torvald Ostrander, 12 Elm Road
        "PERSON",
        r"(?<![\w-])(?i:(?:bill(?:ed)?|ship(?:ped)?|sold|deliver(?:ed)?|invoiced?|payable) to"
        r"|rechnung an|liefern an|facturer à|facturar a|fatturare a):? "
        rf"(?:(?i:{WRITTEN_TITLE})\.? )?(?P<part>{WRITTEN_FULL})"
        rf"(?=[.,;\n]|\Z)(?! ?[.,]? (?:GmbH|AG|KG|Ltd|Inc|LLC|S\.))",
        _is_payer,
        clue=any_listed(
            "bill billed ship shipped sold deliver delivered invoice invoiced payable rechnung",
            "liefern facturer facturar fatturare",
        ),
        reach=4,
    ),
    shape(
        "PERSON",
        rf"(?<![\w'’-]){_ADDRESSED}\"?(?: \([^()\n]{{1,40}}\))? (?:<|&lt;)(?:mailto:)?"
        r"(?P<local>[\w.+-]{1,64})(?:@|%40| at | \[at\] )[\w-]",
        clue=all_clues(any_string("<", "&lt;"), any_string("@", "%40", " at ", "[at]")),
        locate=_locate_display,
        reach=200,
    ),
    shape(  # To: mira holzapfel <mira@…>
        "PERSON",
        r"(?m:^)[ >]{0,3}(?:From|To|Cc|Bcc|Reply-To|Sender|Von|An|De): {1,4}[\"']?"
        r"(?P<part>[a-z]{2,20}(?:[ -][a-z'’]{1,20}){1,3})[\"']? {0,2}(?:<|&lt;)[\w.+-]{1,64}@",
        _is_small_name,
        clue=all_clues(any_string("<", "&lt;"), any_string("@")),
        reach=120,
    ),
    shape(
        "PERSON",
        rf"(?m:^)[ +>-]{{0,3}}(?:Signed-off|Co-authored|Reviewed|Acked|Tested|Reported"
        rf"|Suggested|Helped"
        rf"|Co-developed|Approved|Mentored|Requested|Debugged)-[Bb]y: {_ADDRESSED}"
        rf"(?=[ \t]{{0,2}}(?:<|\n|\Z))",
        is_name,
        clue=any_string("-by: "),
        reach=20,
    ),
    shape(
        "PERSON",
        rf"(?m:^)[ +>-]{{0,3}}(?:Author|Committer|From|To|Cc|Commit"
        rf"|AuthorName): {{1,4}}\"?{_ADDRESSED}"
        r"\"?(?=[ \t]{0,2}(?:<|\[|\n|\Z))",
        is_full_name,
        clue=any_string("author", "committer", "from:", "to:", "cc:", "commit:"),
        reach=14,
    ),
    shape(  # between pictures
        "PERSON",
        rf"(?<=[\U0001f300-\U0001faff])\ufe0f?[ \t]?(?P<part>{WRITTEN_FULL})"
        r"(?=[ \t]?(?:[\U0001f300-\U0001faff\u2600-\u27bf]|\n|\Z))",
        is_full_name,
        clue=any_match("[\U0001f300-\U0001faff]"),
        reach=4,
    ),
    shape(  # above a street and a postcode
        "PERSON",
        rf"(?m:^)[ \t>*]{{0,8}}(?:(?i:{WRITTEN_TITLE})\b\.? ){{0,2}}(?P<part>{WRITTEN_FULL})"
        rf"[ \t]{{0,2}}\r?\n"
        rf"(?=[ \t>*]{{0,8}}(?:\d{{1,5}}[a-z]?,? [{CAPITALS}][\w.'’ -]{{2,40}}"
        rf"|[{CAPITALS}][\w.'’ -]{{2,40}} \d{{1,4}}[a-zA-Z]?),?[ \t]{{0,2}}\r?\n"
        r"[ \t>*]{0,8}[^\n]{0,40}(?<!\d)(?:\d{4,5}(?!\d)|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b))",
        is_full_name,
        clue=all_clues(least_digits(2), any_string("\n")),
    ),
    *(
        shape(  # vCard: FN:Mira Holzapfel, N:Holzapfel;Mira
            "PERSON",
            rf"(?m:^)[ +-]?{key}(?P<part>{LETTER}[^\n:;]{{0,60}}[^\W\d_])",
            case=False,
            clue=any_match(r"(?im:^[ +-]?(?:FN|N|NICKNAME)[:;])"),
            locate=_locate_card,
            reach=10,
        )
        for key in (
            rf"(?:FN|N|NICKNAME){_OF_CARD}:(?:{WRITTEN_TITLE}\.? ){{0,2}}",
            rf"N{_OF_CARD}:[^\n:;]{{1,60}};",
        )
    ),
    shape(  # Readers: Ngozi, Tim B
        "PERSON",
        rf"(?<![\w.'’-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{1,15}} [{CAPITALS}])"
        rf"(?=\.?(?:[,;:)\n]| [–—-] |\.?\s*\Z))",
        lambda name: is_given(name[:-2]) and not is_ordinary_word(name[:-2]),
    ),
    shape(  # Host (me, Perpetua): …
        "PERSON",
        rf"(?m:^)[^\W\d_a-z][\w -]{{1,24}} \((?:me,? )?(?P<part>{WRITTEN_NAME})\):",
        lambda name: is_given(re.split("[ -]", name)[0]),
        clue=any_string("):"),
        reach=60,
    ),
    shape(  # \name{Bartholomew}{Holzapfel}
        "PERSON",
        rf"\\name\{{(?P<part>{WRITTEN_NAME})\}}(?=\{{)",
        clue=any_string("\\name{"),
        reach=8,
    ),
    shape(
        "PERSON",
        rf"\\name\{{{WRITTEN_NAME}\}}\{{(?P<part>{WRITTEN_NAME})\}}",
        clue=any_string("\\name{"),
        reach=8,
    ),
    shape(  # of letters and papers in LaTeX
        "PERSON",
        rf"\\(?:signature|author|name|fromname|begin\{{letter\}})\{{(?P<part>{WRITTEN_FULL})"
        r"(?=\}| \\\\|,)",
        is_full_name,
        clue=any_string("signature{", "author{", "name{", "letter}{"),
        reach=18,
    ),
    shape(  # above a CV
        "PERSON",
        rf"(?:\A|\n[ \t]{{0,4}}\r?\n)[ \t]{{0,4}}"
        rf"(?P<part>[{CAPITALS}'’-]{{3,20}}(?: [{CAPITALS}'’-]{{2,20}}){{1,3}})"
        r"[ \t]{0,3}\r?\n"
        r"(?=[^@]{0,300}?(?:@|(?<!\w)\+?\d[\d ()-]{7,20}\d))",
        _is_head,
        clue=any_match(
            rf"(?:\A|\n[ \t]{{0,4}}\r?\n)[ \t]{{0,4}}[{CAPITALS}'’-]{{3,20}} [{CAPITALS}'’-]{{2}}"
        ),
    ),
    shape(  # Stéphane URVOY, beside words in small letters
        "PERSON",
        rf"(?<![\w'’-])(?P<part>[{CAPITALS}]{LETTER}{{1,15}}(?:-[{CAPITALS}]{LETTER}{{1,15}})?"
        rf"(?<![{CAPITALS}]) (?:{_IN_CAPITALS}[ -]){{0,2}}[{CAPITALS}]{{4,20}})(?![\w'’/-]|\.\w)",
        _has_capitals_last,
        clue=any_match(rf"{LETTER}(?<![{CAPITALS}]) [{CAPITALS}]{{2}}"),
        reach=34,
    ),
    shape(  # LE RESTE-TILLEROT Mathis
        "PERSON",
        rf"(?<![\w'’/-])(?P<part>(?:{_IN_CAPITALS}[ -]){{0,2}}[{CAPITALS}]{{4,20}}"
        rf" [{CAPITALS}]{LETTER}{{1,15}}(?:-[{CAPITALS}]{LETTER}{{1,15}})?)"
        rf"(?![\w'’-]| [{CAPITALS}])",
        _has_capitals_first,
        locate=_locate_in_list,
        clue=any_match(rf"[{CAPITALS}]{{4}} [{CAPITALS}]{LETTER}(?<![{CAPITALS}])"),
        reach=60,
    ),
    shape(  # In attendance: Desiree Home (Clerk)
        "PERSON",
        rf"(?<![\w'’-])(?P<part>{WRITTEN_FULL})(?= \((?:{any_of(_CHAIRS)})\))",
        lambda name: is_given(re.split("[ -]", name)[0]) and not name.isupper(),
        case=True,
        clue=any_string(*(f"({word.lower().split('_')[0]}" for word in _CHAIRS.split())),
        reach=204,
    ),
    shape(  # 919-256-2873 (JESSICA)
        "PERSON",
        rf"(?<=\d) ?\((?P<part>[{CAPITALS}]{LETTER}{{2,16}}"
        rf"(?: [{CAPITALS}]{LETTER}{{1,20}})?)\)",
        lambda name: is_given(name.split()[0]),
        clue=any_figure(rf"\d ?\([{CAPITALS}]"),
        reach=4,
    ),
    shape(  # Ring Amina at +254 722 555 012; Ortrud (04321 555 99)
        "PERSON",
        rf"(?<![\w'’-])(?P<part>{WRITTEN_NAME}) ?"
        r"(?:at |on |under |unter |au |al |em |op |på |pod |\()"
        rf"(?={_NUMBER})",
        clue=_TELEPHONE_CLUE,
        locate=_locate_called,
        reach=204,
    ),
    shape(  # tel. +39 340 555 0123. Ildebranda Scognamiglio
        "PERSON",
        rf"(?<![\w.])\+?\d[\d ()/-]{{6,24}}\d[.,;] (?P<part>{WRITTEN_FULL})(?=[.,]?\s*\Z|\n|, )",
        _is_bare,
        clue=all_clues(least_digits(8), any_figure(rf"\d[.,;] [{CAPITALS}]")),
        reach=30,
    ),
    shape(  # carer Comfort Adeyemi, 07700 900 129
        "PERSON",
        rf"(?<![\w'’-])(?P<part>{WRITTEN_NAME})(?:\*\*)?(?: \([^()\n]{{1,20}}\))?,? (?={_NUMBER})"
        r"(?!\d{3}-\d\d-\d{4}(?!\d))",
        clue=_TELEPHONE_CLUE,
        locate=_locate_before_number,
        reach=226,
    ),
    shape(  # ring Wiebke 01970 555 014
        "PERSON",
        rf"(?<!\w)(?i:call|ring|phone|text|contact|whatsapp|ruf|appelle|llama) "
        rf"(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{2,15}}"
        rf"(?: [{CAPITALS}][^\W\d_{CAPITALS}]{{2,15}})?)"
        rf"(?: at| on| unter| au| al|,)? (?={_NUMBER})",
        lambda name: is_given(name.split()[0]) and not is_ordinary_word(name.split()[0]),
        clue=all_clues(
            least_digits(7), any_listed("call ring phone text contact whatsapp ruf appelle llama")
        ),
        reach=10,
    ),
    shape(  # Fatma (oppas) ...... 06 55 50 13 44
        "PERSON",
        rf"(?m:^)[ \t]{{0,4}}(?P<part>{WRITTEN_NAME})(?: \([^()\n]{{1,20}}\))? ?\.{{3,60}} ?"
        rf"(?={_NUMBER})",
        is_given_name,
        clue=all_clues(least_digits(7), any_string("...")),
        reach=230,
    ),
)
