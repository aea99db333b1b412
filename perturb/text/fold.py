"""Text as it is read and compared: look-alikes become plain characters, and places are kept.

Words are compared without regard to capitals and accents, and written in the capitals of another.
And the halves of surrogate pairs, which JSON can spell and UTF-8 cannot encode.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter

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
# Characters in an address of the web, as UTF-8: `?q=J%C3%B8rgen%20Holt`. Where one begins, they
# could be a format of `printf`: then they are letters, or a quote before a name.
_PERCENT = re.compile(
    r"(?P<quoted>(?:(?<=[\w=&?/.+@,(-])|(?<![^\s\"'(])(?=%(?:[C-F][0-9A-F]%[89AB]|2[27](?:[A-Z]|%[C-F]))))"
    r"(?:%[0-9A-Fa-f]{2}\+?){1,96})"
    r"|(?P<plus>(?<=\w)\+(?=%[C-F][0-9A-F]%))"
)
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})|\+|(?P<soft>(?!))")
_SHOWN_SIGNS = frozenset(" !\"#$&'()*+,-.:;=?@[]^_`{|}~\n\r\t")
# Letters in strings of code, and what a shell or SQL write before a blank or an apostrophe.
_IN_CODE = (
    r"(?<!\\)\\++(?:x(?P<byte>[c-fC-F][0-9a-fA-F])|u\{(?P<point>[0-9a-fA-F]{2,5})\})"
    r"|(?P<shell>(?<=[\w.,'])\\(?=[ ]\w|'(?![0-9A-F]{2})[A-Z]))"
)
_WRITTEN = re.compile(
    rf"[{_HIDDEN}]+|{_COLOUR}|{_ENTITY.pattern}|(?<!\\)\\++u(?P<code>[0-9a-fA-F]{{4}})"
    rf"|{_PERCENT.pattern}|{_IN_CODE}"
)
# Letters of RTF: a byte of Windows-1252, or a number with what older programs show for it.
_RTF = "{\\rtf"
_IN_RTF = re.compile(
    r"\\'(?P<byte>[0-9a-fA-F]{2})|\\u(?P<number>-?\d{2,5}) ?(?:\?|\\'[0-9a-fA-F]{2})?"
)
# Letters of LaTeX: an accent before its letter, or a letter that is a command.
_TEX_TEXT = re.compile(
    r"\\(?:documentclass|usepackage|begin\{|author|title|section|opening|emph\{|text(?:bf|it)\{)"
    r"|@[a-zA-Z]{3,16}\{[^\s,{}]{1,80},"
)
_ACCENTS = dict(
    zip(
        "`'^\"~=.cvuHkr",
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a",
        strict=True,
    )
)
_TEX_LETTERS = dict(
    zip(
        (
            "o",
            "O",
            "l",
            "L",
            "ss",
            "ae",
            "AE",
            "oe",
            "OE",
            "aa",
            "AA",
            "dj",
            "DJ",
            "i",
            "th",
            "TH",
        ),
        "øØłŁßæÆœŒåÅđĐıþÞ",
        strict=True,
    )
)
_COMMANDS = "|".join(sorted(_TEX_LETTERS, key=len, reverse=True))
_IN_TEX = re.compile(
    r"\{\\(?P<a>[`'^\"~=.])(?P<x>[A-Za-z])\}|\\(?P<b>[`'^\"~=.])(?:\{\\?(?P<y>[A-Za-z])\}|(?P<z>[A-Za-z]))"
    r"|\\(?P<c>[cvuHkr])(?:\{(?P<w>[A-Za-z])\}|[ ](?P<v>[A-Za-z])(?=\w))"
    rf"|\{{\\(?P<k>{_COMMANDS})\}}|\\(?P<l>{_COMMANDS})(?:\{{\}}|\\?[ ](?=[a-z]))"
)
# Letters and breaks of lines in a mail.
_MAIL_TEXT = re.compile(r"quoted-printable|=\?[\w-]{3,20}\?[qQ]\?|=[C-F][0-9A-F]=[89AB][0-9A-F]")
_IN_MAIL = re.compile(
    r"(?P<bytes>(?:=[0-9A-F]{2}(?:=\r?\n)?){1,96})|(?P<soft>=\r?\n)"
    r"|=\?[\w-]{3,20}\?[qQ]\?(?P<word>[^?\s]{1,90})\?="
)
_MAIL_BYTE = re.compile(r"=([0-9A-F]{2})|(?P<soft>=\r?\n)|[^=]")


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
    for start, after, shown in _find_written(text):
        parts += text[end:start], shown
        starts += range(end, start)
        ends += range(end + 1, start + 1)
        end = after
        starts += [start] * len(shown)
        ends += [end] * len(shown)
    if not end:
        return _read_plain(text)
    parts.append(text[end:])
    starts += range(end, len(text))
    ends += range(end + 1, len(text) + 1)
    return Reading(fold("".join(parts)), starts, ends)


def _find_written(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the places of what is displayed in another way than it is written, in order, and how.
    What a format of the text's own writes so comes first."""
    found = _WRITTEN.finditer(text)
    shown = (each for match in found for each in _show(match))
    own: Iterable[tuple[int, int, str]] = ()
    if _RTF in text:
        own = (each for match in _IN_RTF.finditer(text) for each in _show_rtf(match))
    elif "\\" in text and _TEX_TEXT.search(text):
        own = (each for match in _IN_TEX.finditer(text) for each in _show_tex(match))
    elif "=" in text and _MAIL_TEXT.search(text):
        own = (each for match in _IN_MAIL.finditer(text) for each in _show_mail(match))
    else:
        yield from shown
        return
    end = 0
    both = sorted(chain(own, shown), key=itemgetter(0))  # stable: the format's own come first
    for start, after, letters in both:
        if start >= end:
            yield start, after, letters
            end = after


def display(text: str) -> str:
    r"""Return a text as it is displayed, see `read`.

    >>> display("AT&amp;T\u200b")
    'AT&T'
    """
    return fold(text) if _is_plain(text) else read(text).text


def display_small(text: str) -> str:
    """Return a text as it is displayed, in small letters."""
    return display(text).casefold()


def _is_plain(text: str) -> bool:
    """Tell if a text is displayed as it is written, apart from look-alikes: most texts are."""
    written = "&" in text or "\\" in text or "\x1b" in text
    if not written and "%" in text:
        written = _PERCENT.search(text) is not None
    if not written and "=" in text:
        written = _MAIL_TEXT.search(text) is not None
    return not written and (text.isascii() or not _HIDDEN_RUN.search(text))


def _show(found: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the places of what is written in another way than it is displayed, and how it is."""
    start, end = found.span()
    if found["quoted"]:
        yield from _unquote(found)
        return
    if found["code"]:
        shown = chr(int(found["code"], 16))
    elif found["byte"] or found["point"]:
        shown = chr(int(found["byte"] or found["point"], 16))
        text = found.string
        joined = text[end : end + 1].isalpha() or text[max(0, start - 1) : start].isalpha()
        if not shown.isalpha() or not joined:
            return
    elif found["plus"]:
        shown = " "
    else:
        shown = _decode(found) if found[1] else ""
    if shown != found[0]:  # else it is no entity after all
        yield start, end, shown


def _unquote(found: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the letters of a word, and the signs between two; others stay as they are written."""
    start, end = found.span()
    following = found.string[end : end + 1]
    for place, after, shown in _decode_bytes(_ENCODED, found[0]):
        if after - place == 1:  # `+` itself
            yield start + place, start + after, " "
        elif shown.isascii():
            last = start + after == end and not following.isalnum()
            if shown in ("\"',)" if last else _SHOWN_SIGNS):
                yield start + place, start + after, shown
        elif shown.isalpha() or shown.isspace():
            yield start + place, start + after, shown


def _decode_bytes(one: re.Pattern[str], text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the characters that bytes in hexadecimal digits stand for, as UTF-8, with their
    places; other text as it is. Bytes that are none are left out."""
    waiting: list[int] = []
    begin = 0
    for found in one.finditer(text):
        if found["soft"] is not None:  # may stand between the bytes of one character
            if not waiting:
                yield found.start(), found.end(), ""
            continue
        if not found[1]:
            waiting.clear()
            yield found.start(), found.end(), found[0]
            continue
        if not waiting:
            begin = found.start()
        waiting.append(int(found[1], 16))
        size = (
            1 if waiting[0] < 0x80 else 2 if waiting[0] < 0xE0 else 3 if waiting[0] < 0xF0 else 4
        )
        if len(waiting) == size or waiting[-1] < 0x80:
            with suppress(UnicodeDecodeError):
                yield begin, found.end(), bytes(waiting).decode()
            waiting.clear()


def _show_rtf(found: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    if found["byte"]:
        shown = bytes.fromhex(found["byte"]).decode("cp1252", "replace")
    else:
        shown = chr(int(found["number"]) % 0x10000)
    if shown.isalpha():
        yield found.start(), found.end(), shown


def _show_tex(found: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    command = found["k"] or found["l"]
    if command:
        yield found.start(), found.end(), _TEX_LETTERS[command]
        return
    letter = found["x"] or found["y"] or found["z"] or found["w"] or found["v"]
    accent = _ACCENTS[found["a"] or found["b"] or found["c"]]
    shown = unicodedata.normalize("NFC", letter + accent)
    if len(shown) == 1:
        yield found.start(), found.end(), shown


def _show_mail(found: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    start, end = found.span()
    if found["soft"]:
        yield start, end, ""
        return
    word = found["word"]
    begin = found.start("word") if word else start
    if word:
        yield start, begin, ""
    for place, after, shown in _decode_bytes(_MAIL_BYTE, word or found[0]):
        shown = " " if shown == "_" and word else shown
        if shown.isalpha() or shown in " =" or word:
            yield begin + place, begin + after, shown
    if word:
        yield found.end("word"), end, ""


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
