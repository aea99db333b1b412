"""Find the speakers of exported chats by the times beside them: `[12/03/2025, 18:44] Zsófi: ok`.

A line alone is no evidence: another one of the same form stands near it. No log has the forms
with a date. Those with a time alone may be of one: two speakers, or a given name, are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from perturb.selective.patterns.accounts import is_personal_account
from perturb.selective.patterns.given import is_given, is_ordinary_word, stands_alone
from perturb.selective.patterns.labels import ROLES, is_label_alone, spell
from perturb.selective.patterns.settings import PROGRAMS
from perturb.selective.patterns.shape import (
    all_clues,
    any_figure,
    any_match,
    any_string,
    least_digits,
    shape,
    words_of,
)
from perturb.text.marks import MARKS

__all__ = ["CHATS"]

_NEAR = 1500  # characters before and after a line that another one of its form is in
_DAY = r"\d{1,4}(?:[./-]\d{1,2}[./-]\d{2,4}|年\d{1,2}月\d{1,2}日|\. \d{1,2}\. \d{1,2}\.)"
_HALF = r"(?:[ \u202f]?[AaPp]\.? ?[Mm]\.?|[ \u202f]?[صم])"
_TIME = rf"(?:(?:上午|下午|午前|午後|오전|오후) ?)?\d{{1,2}}[:.]\d\d(?:[:.]\d\d)?{_HALF}?"
_LETTERS = rf"(?:[^\W\d_]|[{MARKS}\u200c\u200d])"
# Up to four words, and the pictures behind them.
_SPEAKER = (
    rf"~?[ \u202f]?(?P<part>{_LETTERS}{{1,24}}(?:[.'’-]{{1,2}}{_LETTERS}{{1,24}}){{0,3}}\.?"
    rf"(?: {_LETTERS}{{1,24}}(?:[.'’-]{{1,2}}{_LETTERS}{{1,24}}){{0,3}}\.?){{0,3}})"
    r"(?: ?[\u2600-\u27bf\ufe0f\u200d\U0001f1e6-\U0001faff]){0,6}"
)
_BEGIN = r"(?m:^)[\u200e\u200f\u202a-\u202e>*` \t]{0,4}"
_DATED = (
    rf"{_BEGIN}\[{_DAY}[,،]? {_TIME}\] {_SPEAKER} ?:(?=\s)",  # WhatsApp on iOS
    rf"{_BEGIN}{_DAY}[,،]? {_TIME} ?[-–] {_SPEAKER} ?:(?=\s)",  # WhatsApp on Android
    rf"{_BEGIN}{_SPEAKER},? \[{_DAY},? {_TIME}\](?=:?[ \t]*\r?\n)",  # Telegram
    rf"{_BEGIN}{_DAY},? {_TIME}, {_SPEAKER} ?:(?=\s)",  # KakaoTalk
    rf"{_BEGIN}\[{_SPEAKER}\] \[{_TIME}\](?=\s)",
    # Zoom
    rf"{_BEGIN}{_TIME}[ \t]{{1,4}}From {{1,2}}{_SPEAKER} {{1,2}}[Tt]o [^\n:]{{1,40}}:(?=\s)",
)
_MINUTES = (
    rf"{_BEGIN}\[\d{{1,2}}:\d\d\] {_SPEAKER} ?:(?=\s)",
    rf"{_BEGIN}[\[(]?{_TIME}[\])]? <[@+%~ ]?(?P<part>[^\W\d]\w{{1,20}})>(?=\s)",  # IRC
)
_TIMED = (
    rf"{_BEGIN}[\[(]{_TIME}[\])] {_SPEAKER} ?:(?=\s)",
    rf"{_BEGIN}{_TIME} (?:[-–] )?{_SPEAKER} ?:(?=\s)",
    rf"{_BEGIN}{_SPEAKER} {{0,4}}[\[(]{_TIME}[\])](?=:?[ \t]*(?:\r?\n|\S))",
    rf"{_BEGIN}{_SPEAKER} {{1,4}}(?:[—-] )?(?:Today at |Yesterday at )?{_TIME}(?=[ \t]*\r?\n)",
)
# What logs and minutes have where chats have a speaker.
_NO_SPEAKERS = words_of(
    """
    info warn warning error err debug trace fatal critical notice verbose log system server client
    bot admin agent user assistant caller operator support host moderator interviewer unknown me
    you mama papa mom mum dad oma opa todo note update edit re start stop end begin status step
    berater beraterin kunde kundin anrufer anruferin moderatorin conseiller conseillère cliente
    agente operador operadora teleoperadora klient konsultant chef boss ich yo moi io eu eg jag
    """
)


def _is_person(name: str) -> bool:
    words = [word.lower() for word in re.findall(rf"{_LETTERS}+", name)]
    if not words or any(word in _NO_SPEAKERS or is_label_alone(word) for word in words):
        return False
    return not all(
        (is_ordinary_word(word) and not is_given(word)) or spell(word) in ROLES for word in words
    )


def _is_known(name: str) -> bool:
    return any(map(is_given, re.findall(rf"{_LETTERS}+", name)))


def _is_sure(name: str) -> bool:
    words = re.findall(rf"{_LETTERS}+", name)
    return any(map(stands_alone, words)) or (len(words) > 1 and is_given(words[0]))


_FORMS = tuple(map(re.compile, (*_DATED, *_MINUTES, *_TIMED)))


def _locate_speaker(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a speaker where another line of the same form stands near: of a line
    with a time alone, another speaker's, or one with a given name."""
    number = next(n for n in range(len(_FORMS)) if match[f"part{n}"])
    place, text = match.span(f"part{number}"), match.string
    if not _is_person(match[f"part{number}"]):
        return place if _is_called_by_word(match, number) else None
    lines: list[str] = []
    for line in _FORMS[number].finditer(text, max(0, match.start() - _NEAR), match.end() + _NEAR):
        lines.append(line["part"])
        if len(lines) > 1 and _is_chat(number, lines):  # most are known by two lines
            return place
    return None


def _is_called_by_word(match: re.Match[str], number: int) -> bool:
    """Tell if an ordinary word with a capital is the speaker of a dated line: it speaks twice, and
    somebody with a given name answers in the same form: Dev, Jess."""
    name, text = match[f"part{number}"], match.string
    if number >= len(_DATED) or not (name.isalpha() and name.istitle()):
        return False
    if name.lower() in _NO_SPEAKERS or is_label_alone(name) or spell(name) in ROLES:
        return False
    near = _FORMS[number].finditer(text, max(0, match.start() - _NEAR), match.end() + _NEAR)
    lines = [line["part"] for line in near]
    others = {line for line in lines if line != name}
    return lines.count(name) > 1 and any(map(_is_known, others))


def _is_chat(number: int, lines: Sequence[str]) -> bool:
    """Tell if lines of a form, by their speakers, are of a chat."""
    if number < len(_DATED):
        return True
    speakers = set(filter(_is_person, lines))
    if number < len(_DATED) + len(_MINUTES):
        return len(speakers) > 1
    again = len(lines) > len(set(lines))  # somebody speaks twice; a bus departs once
    return any(map(_is_sure, speakers)) or (again and any(map(_is_known, speakers)))


# A chat that was copied without its times: mira: @jonas can you look?
_SPOKEN = rf"{_BEGIN}(?P<part>[^\W\d_A-Z]{{3,15}}): (?=[^\s\"'\[{{|>&*][^\n]{{3}})"
_SPEAKING = re.compile(_SPOKEN)
_CLOSE = 500  # characters before and after such a line


def _locate_spoken(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a speaker where others answer, somebody speaks twice, and two of them
    have given names, or one is called upon. No speaker is a program or an ordinary word, as the
    keys of settings are."""
    text, name = match.string, match["part"]
    if not _may_speak(name) or not _is_person(name):
        return None
    low, high = max(0, match.start() - _CLOSE), match.end() + _CLOSE
    lines: list[str] = []
    for line in _SPEAKING.finditer(text, low, high):
        if not _may_speak(line["part"]):
            return None
        lines.append(line["part"])
    speakers = set(lines)
    if len(speakers) < 2 or len(lines) == len(speakers):
        return None
    called = any(f"@{speaker}" in text[low:high] for speaker in speakers)
    return match.span("part") if called or sum(map(is_given, speakers)) > 1 else None


def _may_speak(name: str) -> bool:
    return not is_ordinary_word(name) and name not in PROGRAMS


_ACCOUNT = r"(?P<part>(?!v?\d)(?=[\w.]{0,31}[\d_])[\w.]{2,32})"
# Nothing else has such a line: mira_h — Today at 6:42 PM
_ON_DISCORD = (
    r"(?: (?:APP|BOT))? — "
    rf"(?=(?:(?:Today|Yesterday) at |{_DAY},? ){_TIME}[ \t]*(?:\r?\n|\Z))"
)


# Beside what the writer calls themselves, or a given name: `Ralle_77: ok`, `Ich: Ja`.
_NICKED = rf"{_BEGIN}(?P<part>[A-Za-z][\w.]{{1,24}}): (?=\S)"
_LINES = re.compile(rf"{_BEGIN}(?P<part>[^\W\d_][\w.]{{0,24}}): (?=\S)")
_SELVES = words_of("ich me i moi je yo io ik eu ja du you")


def _locate_nicked(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of an account that speaks twice, where the writer, or somebody with a given
    name, answers."""
    name = match["part"]
    words = re.findall("[A-Za-z]{3,}", name)
    if not re.search(r"[\d_]", name) or not words or all(map(is_ordinary_word, words)):
        return None
    low, high = max(0, match.start() - _NEAR), match.end() + _NEAR
    lines = [line["part"] for line in _LINES.finditer(match.string, low, high)]
    others = {line for line in lines if line != name}
    answers = any(
        line.lower() in _SELVES or (line.istitle() and is_given(line)) for line in others
    )
    return match.span("part") if lines.count(name) > 1 and answers else None


CHATS = (
    shape(
        "USERNAME",
        _NICKED,
        is_personal_account,
        clue=any_match(r"[\d_][\w.]{0,24}: "),
        locate=_locate_nicked,
        reach=30,
    ),
    shape("PERSON", _SPOKEN, clue=any_string(": "), locate=_locate_spoken, reach=24),
    *(
        shape(type_, rf"{_BEGIN}{speaker}{_ON_DISCORD}", check, clue=any_string(" — "), reach=450)
        for type_, speaker, check in (
            ("USERNAME", _ACCOUNT, is_personal_account),
            ("PERSON", _SPEAKER, _is_person),
        )
    ),
    shape(
        "PERSON",
        "|".join(
            pattern.replace("(?P<part>", f"(?P<part{number}>")
            for number, pattern in enumerate((*_DATED, *_MINUTES, *_TIMED))
        ),
        clue=all_clues(least_digits(6), any_figure(r"\d[:.]\d\d(?!\d)")),
        locate=_locate_speaker,
        reach=120,
    ),
)
