"""The forms in which a remote may write a replacement, and the raw value in each of them."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from html.entities import codepoint2name
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from proxy.restoring.dates import spell_dates
from proxy.restoring.numerals import spell_amounts, spell_endings

__all__ = ["FORMS", "PLAIN", "Form", "Spelling", "fold_case", "is_tag", "recase", "spell"]

LONGEST_FORM = 100  # characters of a replacement that has other forms than its own
MOST_WORDS = 6  # of a replacement that is looked for as one word
_ABBREVIATIONS = (
    "AC AD AI AM API AR AS AT BA BC BE BS CA CC CD CE CEO CFO CI CLI CM CO CPU CS CSS CSV "
    "CTO CV DB DC DE DI DJ DM DNA DNS DO DR EC EG EM EN EOF ER ES EU FAQ FR FTP FX GB GDP "
    "GO GP GPS GPU GUI HD HR HTTP ID IDE IE IF II III IN IO IP IS ISO IT IV JD JS JSON KB "
    "KM KPI LA LLM LP MA MB MBA MD ML MM MP MR MS MVP NA NASA NATO NB NDA NET NLP NO NY OK "
    "ON OR OS PA PC PDF PE PH PHP PI PM PO PR PS QA RAM RE REST RNA RO RSS SA SD SDK SE SEO "
    "SI SMS SO SQL SSD SSH SSL TB TLS TO TV UI UK UN UP URL US USA USB USD UTC UX VAT VI VM "
    "VP VPN VR WA WE WWW XML "
)
# Initials that are a word of their own.
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
_TAG = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){0,6}_[1-9][0-9]{0,3}")
_PLAIN_WORDS = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
_ALNUM = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
_MAIL = re.compile(r"([^\s@:/]+)@([^\s@:/]+\.[^\s@:/.]+)")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_ALPHA = re.compile(r"[A-Za-z]")

Spell = Callable[[str], str | None]


class Form(NamedTuple):
    """Hold one form.

    Attributes:
        name: of the form, for readers of the table.
        spell: returns a replacement in it, or None if the replacement has no such form.
        respell: the same for a raw value.
        exact: whether other capitals are something else.
        certain: whether it can be restored. Anything else is counted and left.
    """

    name: str
    spell: Spell
    respell: Spell
    exact: bool = False
    certain: bool = True


class Spelling(NamedTuple):
    """Hold a replacement in one form.

    Attributes:
        new, raw: the replacement and its value.
        shown: the replacement in the form.
        form: see `Form`.
        kept: how many characters at its beginning, such as `ending in `, stay as they are.
        year: whether it is a year that is no part of another date.
    """

    new: str
    raw: str
    shown: str
    form: Form
    kept: int = 0
    year: bool = False


def fold_case(text: str) -> str:
    """Return a text in small letters, character by character: the length stays, and a part of a
    text is folded as it is in the whole."""
    if "Σ" not in text and "İ" not in text:  # whose small letters depend on others, or are two
        return text.lower()
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def is_tag(new: str) -> bool:
    """Tell if a replacement is a type and a number, such as `PERSON_417`."""
    return _TAG.fullmatch(new) is not None


def spell(new: str, raw: str) -> Iterator[Spelling]:
    """Yield a replacement in each form that it has. Its own form is the first; of two forms that
    are written alike, the first counts."""
    yield Spelling(new, raw, new, PLAIN)
    if len(new) > LONGEST_FORM:
        return
    seen = {fold_case(new)}
    for found in _spell_all(new, raw):
        key = fold_case(found.shown)
        if key not in seen:
            seen.add(key)
            yield found


def _spell_all(new: str, raw: str) -> Iterator[Spelling]:
    is_tagged = is_tag(new)
    forms: tuple[Form, ...] = FORMS
    if is_tagged:
        forms = TAG_FORMS
    elif _PLAIN_WORDS.fullmatch(new):  # most names: there is nothing to escape
        forms = FORMS_OF_WORDS if " " in new else FORMS_OF_WORD
    for form in forms:
        shown = form.spell(new)
        if shown is not None and shown != new and form.respell(raw) is not None:
            yield Spelling(new, raw, shown, form)
    if is_tagged or not any(map(str.isdigit, new)):
        return
    for shown, value in (*spell_dates(new, raw), *spell_amounts(new, raw)):
        yield Spelling(new, value, shown, VALUE, year=shown.isdigit() and len(shown) == 4)
    for shown, value, kept in spell_endings(new, raw):
        yield Spelling(new, value, shown, VALUE if kept else UNCERTAIN, kept)


def recase(found: Spelling, written: str, *, joined: bool) -> str | None:
    """Return the raw value in the form and in the capitals of what is written; None if that is
    something else.

    Args:
        found: what is written, but for its capitals.
        joined: whether it is a part of a longer name, such as `PERSON_417_file`.
    """
    form, new, raw = found.form, found.new, found.raw
    if form.exact and written != found.shown:
        return None
    if is_tag(new):
        return _join_words(raw, written) if joined and written != new else form.respell(raw)
    if written != found.shown and _has_capitals(raw):
        cased = _recase_words(new, raw, fold_case(found.shown), written)
        raw = _recase_whole(form, new, raw, written) if cased is None else cased
    return form.respell(raw)


def _join_words(raw: str, written: str) -> str:
    """Return a value as a part of a longer name, if it is made of words."""
    if not all(map(str.isalpha, raw.split())):
        return raw
    between = "_" if "_" in written else "-" if "-" in written else ""
    cased = raw.lower() if written.islower() else raw
    return between.join(cased.split())


def _has_capitals(raw: str) -> bool:
    """Tell if other capitals leave a value what it is: a key of letters and digits has its own."""
    return "@" in raw or not any(map(str.isdigit, raw))


def _recase_words(new: str, raw: str, shown: str, written: str) -> str | None:
    """Return a raw value, each word in the capitals of its word; None if they do not pair up."""
    ours, theirs = _LETTERS.findall(new), _LETTERS.findall(raw)
    if len(ours) != len(theirs):
        return None
    place, cases = 0, []
    for word, value in zip(ours, theirs, strict=True):
        start = shown.find(fold_case(word), place)
        if start < 0:
            return None
        place = start + len(word)
        cases.append(_recase_word(word, written[start:place], value))
    words = iter(cases)
    return _LETTERS.sub(lambda _: next(words), raw)


def _recase_word(word: str, written: str, value: str) -> str:
    if written == word:
        return value
    if written.islower():
        return value.lower()
    if written.isupper() and len(written) > 1:
        return value.upper()
    if written[:1].isupper() and written[1:] == written[1:].lower():
        keeps = value[:1].isupper() and not value.isupper()
        return value if keeps else value[:1].upper() + value[1:].lower()
    return value


def _recase_whole(form: Form, new: str, raw: str, written: str) -> str:
    for case in (str.upper, str.lower):
        if form.spell(case(new)) == written:
            return case(raw)
    plain = _ESCAPES.sub("", written)
    return raw.upper() if plain.isupper() else raw.lower() if plain.islower() else raw


_ESCAPES = re.compile(r"%[0-9A-Fa-f]{2}|\\u[0-9a-fA-F]{4}|&#?\w{1,8};")


def _same(text: str) -> str | None:
    return text


def _symmetric(name: str, spell_: Spell, *, exact: bool = False, certain: bool = True) -> Form:
    return Form(name, spell_, spell_, exact, certain)


def _split(text: str) -> list[str]:
    """Return the words of a text that can become one word, or nothing."""
    if "@" in text or "//" in text or not _LETTERS.search(text):
        return []
    return _ALNUM.findall(_APOSTROPHE.sub("", text))


def _write_joined(name: str, between: str) -> Form:
    """Return the form in which words are joined: file names, names of variables, addresses."""

    def spell_joined(text: str) -> str | None:
        words = _split(text)
        return between.join(words) if 1 < len(words) <= MOST_WORDS else None

    def respell_joined(text: str) -> str | None:
        return between.join(_split(text)) or None

    return Form(name, spell_joined, respell_joined)


def _space_out(name: str, between: str) -> Form:
    """Return the form in which white space is written as something else."""

    def spell_spaced(text: str) -> str | None:
        words = text.split()
        return between.join(words) if len(words) <= MOST_WORDS else None

    return _symmetric(name, spell_spaced)


def _write_name(
    name: str,
    write: Callable[[list[str]], str],
    *,
    exact: bool = False,
    besides: frozenset[str] = frozenset(),
) -> Form:
    """Return a form of a person's name, but for some that are something else. Only a name of
    several words has one."""

    def spell_name(text: str) -> str | None:
        words = text.split()
        if not 1 < len(words) <= 4 or not all(map(_NAME_WORD.fullmatch, words)):
            return None
        return write(words)

    def spell_replacement(text: str) -> str | None:
        shown = spell_name(text)
        return None if shown in besides else shown

    return Form(name, spell_replacement, spell_name, exact)


def _possess(text: str) -> str | None:
    """Return a name with the `s` of a genitive or a plural: `Webers`."""
    if not text or not text[-1].isalpha() or len(text) < 3:
        return None
    return text + "s"


def _possess_raw(text: str) -> str | None:
    if not text or not text[-1].isalpha():
        return None
    return text + ("'" if text[-1] in "sxzßSXZ" else "S" if text.isupper() else "s")


def _put_backslashes(*signs: str) -> Spell:
    """Return a function that writes a backslash before each of some characters."""
    wanted = re.compile(f"[{re.escape(''.join(signs))}]")
    return lambda text: wanted.sub(lambda found: f"\\{found[0]}", text)


def _spell_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _name_entities(text: str) -> str:
    """Write a text with the named entities of HTML."""
    return "".join(
        f"&{codepoint2name[ord(c)]};" if ord(c) in codepoint2name else c
        for c in text.replace("'", "&#39;").replace("&#39;", "\0")
    ).replace("\0", "&#39;")


def _number_entities(text: str) -> str:
    return "".join(f"&#{ord(c)};" if not c.isascii() or c in "&<>\"'" else c for c in text)


def _strip_accents(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.translate(_LIGATURES))
    return "".join(c for c in plain if not unicodedata.combining(c))


_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "œ": "oe"})
_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
)


def _spell_domain(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[2] if found else None


def _spell_local(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[1] if found and len(found[1]) > 3 else None


def _respell_local(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[1] if found else None


def _spell_out(name: str, at: str) -> Form:
    """Return the form in which an address of e-mail is written for people."""

    def spell_at(text: str) -> str | None:
        return text.replace("@", at) if _MAIL.fullmatch(text) else None

    return _symmetric(name, spell_at)


def _group(name: str, between: str) -> Form:
    """Return a form of an IBAN, in groups of four."""

    def spell_groups(text: str) -> str | None:
        plain = re.sub(r"[\s-]", "", text).upper()
        if not _IBAN.fullmatch(plain):
            return None
        return between.join(plain[i : i + 4] for i in range(0, len(plain), 4))

    return _symmetric(name, spell_groups)


def _tag(
    name: str, between: str, last: str, respell: Spell = _same, *, certain: bool = True
) -> Form:
    """Return a form of a tag: with something else between its words, and before its number."""

    def spell_tag(text: str) -> str | None:
        *words, number = text.split("_")
        # `Person 7` may be the remote's own.
        sure = len(words) > 1 or len(number) > 2 or last not in ("", " ")
        return between.join(words) + last + number if sure == certain else None

    return Form(name, spell_tag, respell, certain=certain)


_markdown = _put_backslashes("\\", "`", "*", "_", "[", "]", "<", ">", "#", "|", "~")
_regex = _put_backslashes(*".*+?^$(){}|[]\\")

# As it is written, and values that change with the form.
PLAIN = _symmetric("as written", _same)
VALUE = _symmetric("another way to write a value", _same)
UNCERTAIN = _symmetric("what may be something else", _same, certain=False)
FORMS = (
    _symmetric("URL", lambda text: quote(text, safe="")),
    _symmetric("query of a URL", quote_plus),
    _symmetric("path of a URL", lambda text: quote(text, safe="@:+,;=&")),
    _symmetric("JSON", _spell_json),
    _symmetric("JSON inside a string", lambda text: _spell_json(_spell_json(text))),
    _symmetric("JSON with slashes", lambda text: _spell_json(text).replace("/", "\\/")),
    _symmetric("HTML", html.escape),
    _symmetric("HTML, apostrophes", lambda t: html.escape(t).replace("&#x27;", "&#39;")),
    _symmetric("HTML, apostrophes by name", lambda t: html.escape(t).replace("&#x27;", "&apos;")),
    _symmetric("HTML, text alone", lambda text: html.escape(text, quote=False)),
    _symmetric("HTML, by name", _name_entities),
    _symmetric("HTML, by number", _number_entities),
    _symmetric("regular expression", _regex),
    _symmetric("regular expression, escaped twice", lambda t: _spell_json(_regex(t) or "")),
    _symmetric("regular expression of Python", re.escape),
    _symmetric("regular expression, a class", lambda text: text.replace(".", "[.]")),
    _symmetric("Markdown", _markdown),
    _symmetric("Markdown, all signs", _put_backslashes(*"\\`*_{}[]<>()#+-.!|~@")),
    _symmetric("LaTeX", _put_backslashes(*"&%$#_{}")),
    _symmetric("shell", lambda text: re.sub(r"([^\w@%+=:,./-])", r"\\\1", text)),
    _symmetric("shell, in quotes", lambda text: text.replace("'", "'\\''")),
    _symmetric("SQL, in quotes", lambda text: text.replace("'", "''")),
    _symmetric("a backslash before quotes", _put_backslashes("'", '"', "\\")),
    _space_out("HTML blanks", "&nbsp;"),
    _space_out("LaTeX blanks", "~"),
    _space_out("blanks of a regular expression", r"\s+"),
    _space_out("blanks of a regular expression, any", r"\s*"),
    _space_out("one blank of a regular expression", r"\s"),
    _write_joined("snake_case", "_"),
    _write_joined("snake_case in Markdown", r"\_"),
    _write_joined("kebab-case", "-"),
    _write_joined("with dots", "."),
    _write_joined("camelCase", ""),
    _write_joined("with blanks", " "),
    _symmetric("no accents", _strip_accents),
    _symmetric("no umlauts", lambda text: text.translate(_UMLAUTS)),
    Form("genitive", _possess, _possess_raw),
    _write_name("an initial", lambda w: " ".join([*(f"{x[0]}." for x in w[:-1]), w[-1]])),
    _write_name("an initial without a dot", lambda w: " ".join([*(x[0] for x in w[:-1]), w[-1]])),
    _write_name("an initial, no blank", lambda w: "".join([*(f"{x[0]}." for x in w[:-1]), w[-1]])),
    _write_name("an initial, in one word", lambda w: "".join([*(x[0] for x in w[:-1]), w[-1]])),
    _write_name("an initial, snake_case", lambda w: "_".join([*(x[0] for x in w[:-1]), w[-1]])),
    _write_name("the surname's initial", lambda w: f"{' '.join(w[:-1])} {w[-1][0]}."),
    _write_name("initials", lambda w: " ".join(f"{x[0]}." for x in w), exact=True),
    _write_name("initials, no blank", lambda w: "".join(f"{x[0]}." for x in w), exact=True),
    _write_name(
        "initials, letters alone",
        lambda w: "".join(x[0] for x in w),
        exact=True,
        besides=ABBREVIATIONS,
    ),
    _group("IBAN", " "),
    _group("IBAN, no blanks", ""),
    _group("IBAN, hyphens", "-"),
    _symmetric("domain", _spell_domain),
    Form("local part", _spell_local, _respell_local),
    _spell_out("at in brackets", " [at] "),
    _spell_out("at in parentheses", " (at) "),
    _spell_out("at in brackets, no blanks", "[at]"),
    _spell_out("at in parentheses, no blanks", "(at)"),
    _spell_out("at as a word", " at "),
)
FORMS_OF_WORDS, FORMS_OF_WORD = (
    tuple(form for form in FORMS if form.spell(sample) not in (None, sample))
    for sample in ("Abcd Efgh", "Abcd")
)
_BETWEEN = (("_", _same), (r"\_", _markdown), (r"\\_", _same), (" ", _same), ("-", _same))
TAG_FORMS = (
    *(
        _tag(f"tag: {a!r} and {b!r}", a, b, respell)
        for a, respell in _BETWEEN
        for b, _ in _BETWEEN
        if a == b or "\\" not in a + b
    ),
    _tag("tag in one word", "", ""),
    _tag("tag in one word, then a sign", "", "_"),
    _tag("tag that may be something else", " ", " ", certain=False),
    _tag("tag in one word that may be something else", "", "", certain=False),
    _tag("tag in a URL", "%5F", "%5F", lambda text: quote(text, safe="")),
    _tag("tag in HTML", "&#95;", "&#95;", html.escape),
    _tag("tag with dots", ".", "."),
    Form("genitive of a tag", lambda text: f"{text}s", _possess_raw),
)
