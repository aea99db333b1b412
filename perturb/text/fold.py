"""Text as it is read and compared: look-alikes become plain characters, and places are kept.

Words are compared without regard to capitals and accents, and written in the capitals of another.
And the halves of surrogate pairs, which JSON can spell and UTF-8 cannot encode.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

__all__ = [
    "STROKES",
    "Reading",
    "decode_entities",
    "display",
    "display_small",
    "drop_accents",
    "find_word_ends",
    "find_words",
    "fold",
    "fold_name",
    "match_case",
    "read",
    "replace_halves",
    "spell_entities",
    "spell_plain",
]


_BLANKS = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_HYPHENS = "\u2010-\u2015\u2212"
_WIDE = "\uff01-\uff5e"  # ASCII in full width
# Characters of no width (soft hyphen, zero-width blanks and joiners, direction marks, fillers) and
# lone surrogates.
_HIDDEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
_LOOK_ALIKE = re.compile(rf"([{_BLANKS}])|([{_HYPHENS}])|[{_WIDE}]|[^\D0-9]")
_INSIDE = re.compile(rf"(?<=[\w@])[{_HIDDEN}]+(?=[\w@])")
_HIDDEN_RUN = re.compile(rf"[{_HIDDEN}]+")
# Commands of LaTeX that begin as an escape of JSON does, such as `\thanks`: no line ends there.
_TEX = (
    r"n(?:ewline|ewpage|ewcommand|ewtheorem|oindent|ocite|onumber|ormalsize|ormalfont|abla|eq"
    r"|ot|otin)|r(?:aggedright|angle|ef|enewcommand|equire|ho|ight|ightarrow|m)"
    r"|t(?:ableofcontents|anh|extbf|extit|extsc|exttt|extrm|extsf|ext|extwidth|hanks|heta"
    r"|hispagestyle|ikz|ilde|imes|iny|itle|oday|riangle)"
)
_ESCAPE = re.compile(
    rf"(?<!\\)\\++(?!(?:{_TEX})(?:[{{\[\s\\$^_()]|\Z))(?:[nrt]|u([0-9a-fA-F]{{4}}))"
)
# An HTML entity; its ampersand may be encoded again. Numbers may end without a semicolon.
_ENTITY = re.compile(
    r"&(?:amp;){0,3}(#[0-9]{1,7}+;?|#[xX][0-9a-fA-F]{1,6}+;?|[A-Za-z][A-Za-z0-9]{1,31}+;)"
)
# The colours of a terminal, also as JSON writes them.
_COLOUR = r"(?:\x1b|(?<!\\)\\++u001[bB])\[[0-9;:]{0,32}+[A-Za-z]"
# Characters of a word in an address of the web, as UTF-8: `?q=J%C3%B8rgen%20Holt`.
_QUOTED = re.compile(r"(?<=[\w=&?/.+@,(-])(?P<quoted>(?:%[0-9A-Fa-f]{2}){1,96})")
_WRITTEN = re.compile(
    rf"[{_HIDDEN}]+|{_COLOUR}|{_ENTITY.pattern}|(?<!\\)\\++u(?P<code>[0-9a-fA-F]{{4}})"
    rf"|{_QUOTED.pattern}"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is displayed, and the place of each of its characters in the written
    text."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of a part of the displayed text in the written text.

        >>> read("J&oslash;rgen").span(1, 2)
        (1, 9)
        """
        return self.starts[start], self.ends[end - 1]


def read(text: str) -> Reading:
    r"""Read a text as it is displayed: folded, with HTML entities and JSON escapes decoded, and
    without characters of no width and the colours of a terminal.

    >>> read("AT&amp;T\u200b \\u0041").text
    'AT&T A'
    """
    if _is_plain(text):
        return _read_plain(text)
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    end = 0
    for found in _WRITTEN.finditer(text):
        shown = _show(found)
        if shown == found[0]:  # not an entity after all
            continue
        parts += text[end : found.start()], shown
        starts += range(end, found.start())
        ends += range(end + 1, found.start() + 1)
        end = found.end()
        starts += [found.start()] * len(shown)
        ends += [end] * len(shown)
    if not end:
        return _read_plain(text)
    parts.append(text[end:])
    starts += range(end, len(text))
    ends += range(end + 1, len(text) + 1)
    return Reading(fold("".join(parts)), starts, ends)


def display(text: str) -> str:
    r"""Return a text as it is displayed, see `read`.

    >>> display("AT&amp;T\u200b")
    'AT&T'
    """
    return fold(text if _is_plain(text) else _WRITTEN.sub(_show, text))


def display_small(text: str) -> str:
    """Return a text as it is displayed, in small letters."""
    return display(text).casefold()


def _is_plain(text: str) -> bool:
    """Tell if a text is displayed as it is written, apart from look-alikes: most texts are."""
    written = "&" in text or "\\" in text or "\x1b" in text
    if not written and "%" in text:
        written = _QUOTED.search(text) is not None
    return not written and (text.isascii() or not _HIDDEN_RUN.search(text))


def _show(found: re.Match[str]) -> str:
    if found["code"]:
        return chr(int(found["code"], 16))
    if found["quoted"]:
        return _unquote(found)
    return _decode(found) if found[1] else ""


def _unquote(found: re.Match[str]) -> str:
    """Return the characters of a word, or between two; anything else stays as it is written."""
    quoted, following = found["quoted"], found.string[found.end() : found.end() + 1]
    try:
        shown = bytes.fromhex(quoted.replace("%", "")).decode()
    except UnicodeDecodeError:
        return quoted
    if shown.isascii() and not following.isalnum():
        return quoted
    return (
        shown if all(c in " +@'" or (not c.isascii() and c.isalpha()) for c in shown) else quoted
    )


def _read_plain(text: str) -> Reading:
    return Reading(fold(text), range(len(text)), range(1, len(text) + 1))


def decode_entities(text: str) -> str:
    """Decode HTML entities.

    >>> decode_entities("J&oslash;rgen &amp; Co")
    'Jørgen & Co'
    """
    return _ENTITY.sub(_decode, text) if "&" in text else text


def spell_entities(text: str) -> str:
    """Decode HTML entities without changing the length: an entity becomes its letter, repeated, or
    blanks.

    >>> spell_entities("J&oslash;rgen &amp; Co")
    'Jøøøøøøøørgen       Co'
    """

    def spell(found: re.Match[str]) -> str:
        shown = _decode(found)
        if shown == found[0]:
            return shown
        return (shown[0] if shown.isalpha() else " ") * len(found[0])

    return _ENTITY.sub(spell, text) if "&" in text else text


def _decode(found: re.Match[str]) -> str:
    """Return the character of an entity; an unknown entity stays as it is written."""
    shown = html.unescape(f"&{found[1]}")
    return found[0] if shown.startswith("&") and len(shown) > 1 else shown


def fold(text: str) -> str:
    r"""Replace look-alikes by plain characters without changing the length.

    Unusual blanks become blanks, and hyphens and dashes become `-`. Digits of any script and
    full-width forms become ASCII. Characters of no width become a letter inside a word and a blank
    elsewhere. JSON escapes become their characters; line breaks become blanks, so that the text
    after `\n` starts a word. Commands of LaTeX such as `\title` are none.

    >>> fold("\uff11\uff12 – \u0663")
    '12 - 3'
    """
    if "\\" in text:
        text = _ESCAPE.sub(_escape, text)
    if text.isascii():
        return text
    text = _LOOK_ALIKE.sub(_plain, text)
    text = _INSIDE.sub(lambda found: "x" * len(found[0]), text)
    return _HIDDEN_RUN.sub(lambda found: " " * len(found[0]), text)


def _escape(found: re.Match[str]) -> str:
    return (chr(int(found[1], 16)) if found[1] else " ") * len(found[0])


def _plain(found: re.Match[str]) -> str:
    if found[1]:
        return " "
    if found[2]:
        return "-"
    return str(int(found[0])) if found[0].isdecimal() else chr(ord(found[0]) - 0xFEE0)


def replace_halves(text: str) -> str:
    """Return a text with U+FFFD in place of each half of a surrogate pair that has no other half.

    >>> replace_halves("a\\ud83d\\ude00 \\ud800") == "a\\U0001f600 \\ufffd"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_EXPANDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def match_case(word: str, run: str) -> str:
    """Return a released word in the capitals of the run it stands for.

    >>> match_case("table", "MONDAY"), match_case("Table", "monday"), match_case("table", "Monday")
    ('TABLE', 'table', 'Table')
    """
    if run.isupper() and len(run) > 1:
        return word.upper()
    if run[0].isupper():
        return word[0].upper() + word[1:].lower()
    return word.lower() if run.islower() else word


# Latin letters that Unicode does not take apart into a plain one and an accent. Without `þ`: Þór
# and Aþena would be gods.
STROKES = str.maketrans(
    {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ħ": "h", "ŧ": "t", "ı": "i"} | {"æ": "ae", "œ": "oe"}
)


def fold_name(word: str) -> str:
    """Return the form of a word that all its spellings share, in small letters without accents.

    >>> fold_name("MÜLLER"), fold_name("Yıldırım")
    ('muller', 'yildirim')
    """
    return word.lower() if word.isascii() else drop_accents(word.casefold().translate(STROKES))


def drop_accents(word: str) -> str:
    """Return a word in small letters without accents; `ø` and its like stay.

    >>> drop_accents("Guðrún")
    'guðrun'
    """
    if word.isascii():  # most are
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


def spell_plain(word: str) -> set[str]:
    """Return the ways to write a name in an address: without its accents, or with its umlauts as
    two letters.

    >>> sorted(spell_plain("Müller"))
    ['mueller', 'muller']
    """
    return {fold_name(word), fold_name(word.casefold().translate(_EXPANDED))}


# Scripts that do not separate words by spaces count by the character: Thai, Lao, Khmer, kana, Han,
# Hangul.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_ANY_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


def find_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _ANY_WORD.findall(text.casefold())


def find_word_ends(text: str, most: int | None = None) -> list[int]:
    """Return where the words of a text end, in characters; `most` is how many to look for."""
    found = _ANY_WORD.finditer(text)
    return [word.end() for word in (found if most is None else islice(found, most))]
