"""Classify the values of a request by where they stand.

A table of rules has an entry for every position of a request. A rule reads the value there and
returns an outline: the same value with a `Field` in place of every string that must be sanitized.
A value without a rule is refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from extraction.codec import is_written_whole, load_finite
from perturb import Perturbation
from perturb.selective.patterns.everyday import is_everyday
from perturb.selective.patterns.given import is_ordinary_word
from perturb.selective.patterns.settings import PROGRAMS
from proxy.errors import bad_request, too_large, unsupported
from proxy.requests.protocol import read_mark
from proxy.requests.validation import clean_name

__all__ = [
    "DROPPED",
    "BodyReading",
    "Drop",
    "Each",
    "Field",
    "Fields",
    "Flag",
    "Free",
    "Identifier",
    "Joined",
    "JsonInString",
    "JsonText",
    "Keyed",
    "Label",
    "Mark",
    "Name",
    "NumberRule",
    "OneOf",
    "Outline",
    "ProtocolNumber",
    "ProtocolWord",
    "Public",
    "Refuse",
    "Rule",
    "Schema",
    "Tagged",
    "TextRule",
    "fill",
]


@dataclass(frozen=True)
class Field:
    """Hold a raw string that its sanitized form replaces.

    Attributes:
        at: its place, for errors.
        named: whether it is a name of letters, digits, `_` and `-`, and must stay one.
    """

    raw: str
    at: str
    named: bool = False


@dataclass(frozen=True)
class NumberRule:
    """Hold a number that is sanitized by its digits."""

    digits: Field | str
    value: float


@dataclass(frozen=True)
class JsonInString:
    """Hold JSON that stands in a string, and the string."""

    content: Outline
    raw: str


@dataclass(frozen=True)
class Joined:
    """Hold a string whose parts, joined by slashes, are strings of their own."""

    parts: tuple[Outline, ...]


@dataclass(frozen=True)
class Keyed:
    """Hold an object whose keys are sanitized, too."""

    items: tuple[tuple[Field | str, Outline], ...]


class _Dropped:
    """Mark a value that is left out."""


Outline = Any  # JSON, or one of the classes above, at any depth
DROPPED = _Dropped()
_NAMED = re.compile(r"[A-Za-z0-9_.-]{1,64}")
# A name, a string or a number of JSON.
_LEAF = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?')


def fill(outline: Outline, sanitized: Mapping[str, str]) -> Any:
    """Return the JSON that is sent.

    Args:
        sanitized: the sanitized form of each raw string.

    Raises:
        ApiError: 400, a sanitized string cannot stand where it has to.
    """
    match outline:
        case Field(raw=raw, at=at, named=named):
            found = sanitized[raw]
            if named and found != raw and not _NAMED.fullmatch(found):
                raise _refuse_number(at, "holds a sensitive part that no name can replace")
            return found
        case NumberRule(digits=Field(raw=raw, at=at), value=value):
            return value if sanitized[raw] == raw else _parse(sanitized[raw], at)
        case NumberRule(value=value):
            return value
        case JsonInString(content=content, raw=raw):
            return _respell(raw, content, fill(content, sanitized))
        case Joined(parts=parts):
            return "/".join(fill(part, sanitized) for part in parts)
        case Keyed(items=items):
            pairs = [(fill(key, sanitized), fill(item, sanitized)) for key, item in items]
            out = dict(pairs)
            if len(out) < len(pairs):
                at = next(key.at for key, _ in items if isinstance(key, Field))
                raise _refuse_number(at, "has two names that are alike once they are sanitized")
            return out
        case dict():
            return {key: fill(item, sanitized) for key, item in outline.items()}
        case list():
            return [fill(item, sanitized) for item in outline]
    return outline


def _respell(raw: str, content: Outline, filled: Any) -> str:
    """Return JSON with what was replaced in it, spelled as it was written but for that."""
    leaves, out, place = list(_list_leaves(content, filled)), [], 0
    tokens = list(_LEAF.finditer(raw))
    if len(tokens) != len(leaves):  # a name that stands twice in an object was read once
        return json.dumps(filled, ensure_ascii=False)
    for token, (before, after) in zip(tokens, leaves, strict=True):
        if load_finite(token[0]) != before:
            return json.dumps(filled, ensure_ascii=False)
        hidden = token[0][0] != '"' and not is_written_whole(token[0], after)
        if after != before or hidden:
            out += [raw[place : token.start()], json.dumps(after, ensure_ascii=False)]
            place = token.end()
    return "".join([*out, raw[place:]])


def _list_leaves(content: Outline, filled: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the names, the strings and the numbers of JSON in their order, before and after."""
    match content:
        case Field(raw=raw):
            yield raw, filled
        case NumberRule(value=value):
            yield value, filled
        case Keyed(items=items):
            for (key, item), (name, value) in zip(items, filled.items(), strict=True):
                yield from _list_leaves(key, name)
                yield from _list_leaves(item, value)
        case list():
            for item, value in zip(content, filled, strict=True):
                yield from _list_leaves(item, value)
        case str():
            yield content, filled


def _parse(digits: str, at: str) -> Any:
    try:
        value = json.loads(digits)
    except ValueError:
        value = None
    if type(value) not in (int, float):
        raise _refuse_number(at, "holds a sensitive number that no number can replace")
    return value


def _refuse_number(at: str, why: str) -> Exception:
    return bad_request(
        f"'{at}' {why}; nothing was sent.", param=at, code="unsupported_sensitive_part"
    )


_INDEX = re.compile(r"\[\d+\]")


class BodyReading:
    """Collect the contents of one outgoing body.

    Args:
        most: the most texts of a request.
        alias: replaces the name of a client's own user; None leaves such names out.
        marks: whether the remote knows marks of Anthropic's prompt cache; else they are left out.

    Attributes:
        turns: the raw texts of each turn, each text where it occurs first. The first turn holds
            what stands outside of the conversation.
        wholes: raw strings that come back as they were where the answer repeats them.
        names: those of them that are names of functions.
        public: the place and the text of each text that the operator made public.
        words: the protocol's words in the body, and the labels.
    """

    def __init__(
        self, *, most: int, alias: Callable[[str], str] | None = None, marks: bool = False
    ) -> None:
        self.turns: list[list[str]] = [[]]
        self.wholes: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.public: list[tuple[str, str]] = []
        self.words: set[str] = set()
        self.alias = alias
        self.marks = marks
        self._most = most
        self._places: dict[str, Counter[str]] = {}
        self._firsts: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def find(self, raw: str) -> str | None:
        """Return the first place of a string; None if it has none."""
        return self._firsts.get(raw)

    def open_turn(self) -> None:
        """Open the next turn of the conversation."""
        self.turns.append([])

    def add(self, raw: str, at: str, *, whole: bool = False, named: bool = False) -> Field | str:
        """Add a string to sanitize; white space alone is passed. Raises `ApiError` for too many
        strings."""
        if not raw.strip():
            return raw
        if raw not in self._places:
            if len(self._places) >= self._most:
                raise too_large(f"A request may hold at most {self._most} texts.", param=at)
            self._places[raw] = Counter()
            self._firsts[raw] = at
            self.turns[-1].append(raw)
        self._places[raw][_INDEX.sub("[]", at)] += 1
        if whole:
            self.wholes[raw] = None
        if named:
            self.names[raw] = None
        return Field(raw, at, named)

    def add_keyed(self, value: Any, at: str) -> None:
        """Add an object once more as a text, with the short values that stand below its keys: what
        a key says of a value (`"password"`, `"last_name"`) is no part of the value. Nothing of
        this text is sent; what is found in it is sensitive in the texts that are. Raises
        `ApiError` for too many strings."""
        keyed = _shorten(value)
        raw = json.dumps(keyed, ensure_ascii=False) if keyed else ""
        if not raw or raw in self._places:
            return
        if len(self._places) >= self._most:
            raise too_large(f"A request may hold at most {self._most} texts.", param=at)
        self._places[raw] = Counter()
        self._firsts[raw] = at
        self.turns[-1].append(raw)

    def speak(self, word: str) -> str:
        """Add a word that the protocol defines, and return it."""
        self.words.add(word)
        return word

    def label(self, raw: str) -> str:
        """Return the number that stands for a name inside the conversation."""
        if raw not in self._labels:
            self._labels[raw] = self.speak(f"call_{len(self._labels)}")
        return self._labels[raw]

    def count(self, made: Mapping[str, Perturbation]) -> dict[str, dict[str, int]]:
        """Count the replaced parts by position and type.

        Args:
            made: the release of each raw text.
        """
        counts: dict[str, Counter[str]] = {}
        for raw, places in self._places.items():
            for place, times in places.items():
                for kind, number in made[raw].receipt.entities.items():
                    counts.setdefault(place, Counter())[kind] += number * times
        return {place: dict(sorted(counts[place].items())) for place in sorted(counts)}


_KEYED = 120  # characters of a value that a key may be evidence for
_NUMBERED = 10**6  # a smaller number is a count, a code or a year


_SHOWN = re.compile(r"i18n|labels?|translations?|strings|selectors?|locators?|icons?")
_NO_NUMBER = re.compile(r"pass|pin|otp|cvv|cvc|secret|birth|dob", re.IGNORECASE)


def _shorten(value: Any, depth: int = 0) -> Any:
    """Return JSON with the short values of its objects and lists, and the names of those; None
    where nothing is left.

    Left out are words that name nobody, which would be hidden wherever they stand (`"secret":
    "main"`), what a program shows beside its fields, and numbers that no number can replace.
    """
    if depth > DEPTH:
        return None
    if isinstance(value, dict):
        inner = {
            key: _shorten(item, depth + 1)
            for key, item in value.items()
            if not _SHOWN.fullmatch(key.lower())
            and not (type(item) is int and _NO_NUMBER.search(key))
        }
        return {key: item for key, item in inner.items() if item is not None} or None
    if isinstance(value, list):
        items = [_shorten(item, depth + 1) for item in value]
        return [item for item in items if item is not None] or None
    if isinstance(value, str):
        short = 0 < len(value) <= _KEYED and "\n" not in value
        return value if short and not _is_plain(value) else None
    return value if type(value) is int and abs(value) >= _NUMBERED else None


def _is_plain(value: str) -> bool:
    """Tell if a value is one ordinary word, or the name of a program."""
    return is_ordinary_word(value) or is_everyday(value.lower()) or value.lower() in PROGRAMS


DEPTH = 64  # levels of JSON inside a string
LARGEST = 2**31


class Rule(Protocol):
    """Read a value.

    Args:
        value: of parsed JSON.
        at: its place, as clients spell it: `messages[0].content`.
        reading: collects what has to be sanitized.

    Raises:
        ApiError: 400, the value does not belong there or cannot be read.
    """

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline: ...


def _refuse(at: str, rule: str) -> Exception:
    return bad_request(f"'{at}' must be {rule}.", param=at, code="invalid_value")


@dataclass(frozen=True)
class TextRule:
    """Sanitize a text. A `whole` one comes back as it was wherever the answer repeats it."""

    whole: bool = False

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a text")
        return reading.add(value, at, whole=self.whole)


@dataclass(frozen=True)
class Name:
    """Sanitize a name, such as a function's, which stays one."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a name")
        return reading.add(value, at, whole=True, named=True)


@dataclass(frozen=True)
class Public:
    """Pass a text that the operator made public."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a text")
        reading.public.append((at, value))
        return value


@dataclass(frozen=True)
class ProtocolWord:
    """Pass one of the protocol's words."""

    words: frozenset[str]

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, str) or value not in self.words:
            raise _refuse(at, f"one of {', '.join(sorted(self.words))}")
        return reading.speak(value)


@dataclass(frozen=True)
class Flag:
    """Pass true or false."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, bool):
            raise _refuse(at, "true or false")
        return value


@dataclass(frozen=True)
class ProtocolNumber:
    """Pass a number that the protocol defines, of 31 bits and with two decimals: seventeen digits
    of a temperature could carry a message."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if type(value) not in (int, float) or not abs(value) < LARGEST:
            raise _refuse(at, f"a number below {LARGEST}")
        return round(value, 2) if isinstance(value, float) else value


@dataclass(frozen=True)
class Drop:
    """Leave a value out."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        return DROPPED


@dataclass(frozen=True)
class Refuse:
    """Refuse a value that cannot be read."""

    why: str

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        raise unsupported(at, self.why)


@dataclass(frozen=True)
class Label:
    """Replace the name under which a conversation refers to one of its own parts by a number."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a text")
        return reading.label(value)


@dataclass(frozen=True)
class Identifier:
    """Replace a name of the client's own user, or leave it out, as the operator configures."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, str) or reading.alias is None:
            return DROPPED
        return reading.speak(reading.alias(value))


@dataclass(frozen=True)
class Mark:
    """Pass a mark of the prompt cache to a remote that knows them, or leave it out."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        mark = read_mark(value) if reading.marks else None
        if mark is None:
            return DROPPED
        return {reading.speak(key): reading.speak(word) for key, word in mark.items()}


@dataclass(frozen=True)
class Fields:
    """Read an object with declared fields; others are refused."""

    rules: Mapping[str, Rule]

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, dict):
            raise _refuse(at, "an object")
        out = {}
        for key, item in value.items():
            rule = self.rules.get(key)
            if rule is None:
                name = clean_name(key)
                raise bad_request(
                    f"Unknown field '{name}' in {at or 'the body'}; unknown fields are refused.",
                    param=f"{at}.{name}" if at else name,
                    code="unknown_parameter",
                )
            if item is None:  # SDKs spell "not set" so
                continue
            found = rule.read(item, f"{at}.{key}" if at else key, reading)
            if found is not DROPPED:
                out[reading.speak(key)] = found
        return out


@dataclass(frozen=True)
class Each:
    """Read a list. A `turns` list is a conversation: each item is a turn of its own."""

    rule: Rule
    turns: bool = False

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, list):
            raise _refuse(at, "a list")
        out = []
        for i, item in enumerate(value):
            if self.turns:
                reading.open_turn()
            out.append(self.rule.read(item, f"{at}[{i}]", reading))
        return [item for item in out if item is not DROPPED]


@dataclass(frozen=True)
class Tagged:
    """Read an object by the rule that one of its fields names."""

    tag: str
    rules: Mapping[str, Rule]

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        kind = value.get(self.tag) if isinstance(value, dict) else None
        rule = self.rules.get(kind) if isinstance(kind, str) else None
        if rule is None:
            raise _refuse(f"{at}.{self.tag}", f"one of {', '.join(sorted(self.rules))}")
        return rule.read(value, at, reading)


@dataclass(frozen=True)
class OneOf:
    """Read a string by one rule, a list by another and an object by a third."""

    text: Rule | None = None
    list: Rule | None = None
    object: Rule | None = None

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        rule: Rule | None = None
        for kind, own in ((str, self.text), (list, self.list), (dict, self.object)):
            rule = own if isinstance(value, kind) else rule
        if rule is None:
            raise _refuse(at, "of another kind")
        return rule.read(value, at, reading)


@dataclass(frozen=True)
class Free:
    """Read any JSON: every string, every key and every number of it is sanitized."""

    def read(self, value: Any, at: str, reading: BodyReading, depth: int = 0) -> Outline:
        if depth > DEPTH:
            raise _refuse(at, f"nested at most {DEPTH} levels deep")
        if not depth and isinstance(value, dict | list):
            reading.add_keyed(value, at)
        if isinstance(value, str):
            return reading.add(value, at, whole=True)
        if type(value) in (int, float):
            return NumberRule(reading.add(json.dumps(value), at), value)
        if isinstance(value, list):
            return [self.read(item, at, reading, depth + 1) for item in value]
        if isinstance(value, dict):
            return Keyed(
                tuple(
                    (reading.add(key, at, whole=True), self.read(item, at, reading, depth + 1))
                    for key, item in value.items()
                )
            )
        return value


@dataclass(frozen=True)
class JsonText:
    """Read JSON inside a string; a string that is not JSON is a text."""

    def read(self, value: Any, at: str, reading: BodyReading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a text")
        try:
            parsed = load_finite(value)
        except RecursionError:
            raise _refuse(at, f"nested at most {DEPTH} levels deep") from None
        except ValueError:
            return reading.add(value, at)
        if not isinstance(parsed, dict | list):
            return reading.add(value, at)
        return JsonInString(Free().read(parsed, at, reading), value)


TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
FORMATS = frozenset(
    (
        *("date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname"),
        *("int32", "int64", "float", "double", "ipv4", "ipv6", "iri", "iri-reference"),
        *("json-pointer", "regex", "relative-json-pointer", "time", "uri", "uri-reference"),
        *("uri-template", "uuid"),
    )
)
DIALECTS = frozenset(
    (
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    )
)
_TEXTS = ("$anchor", "$comment", "$id", "description", "pattern", "title")
_VALUES = ("const", "default", "dependentRequired", "enum", "example", "examples", "required")
_BY_NAME = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_INNER = (
    *("additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "contentSchema"),
    *("else", "if", "items", "not", "oneOf", "prefixItems", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_FLAGS = ("deprecated", "nullable", "readOnly", "strict", "uniqueItems", "writeOnly")
_BOUNDS = (
    *("exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems", "maxLength"),
    *("maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties"),
    *("minimum", "multipleOf"),
)
_KEYWORDS = frozenset((*_BY_NAME, *_INNER))
LARGEST_BOUND = 10**6


@dataclass(frozen=True)
class Schema:
    """Read a schema. Names of properties are sanitized as texts; a keyword that is unknown here is
    sanitized with all that it holds."""

    def read(self, value: Any, at: str, reading: BodyReading, depth: int = 0) -> Outline:
        if depth > DEPTH:
            raise bad_request(f"'{at}' is nested too deeply.", param=at, code="invalid_value")
        if isinstance(value, list):
            return [self.read(item, at, reading, depth + 1) for item in value]
        if not isinstance(value, dict):
            return Flag().read(value, at, reading)
        items = []
        for key, item in value.items():
            known = self._read_keyword(key, item, at, reading, depth)
            if known is DROPPED:
                own = reading.add(key, at, whole=True)
                items.append((own, Free().read(item, at, reading, depth)))
            else:
                items.append((reading.speak(key), known))
        return Keyed(tuple(items))

    def _read_keyword(
        self, key: str, item: Any, at: str, reading: BodyReading, depth: int
    ) -> Outline:
        """Return the outline of a keyword's value; `DROPPED` if it is unknown or malformed."""
        place = f"{at}.{key}"
        if key in _TEXTS and isinstance(item, str):
            return TextRule().read(item, place, reading)
        if key in _VALUES:
            return Free().read(item, place, reading, depth)
        if key in _BY_NAME and isinstance(item, dict):
            return Keyed(
                tuple(
                    (
                        reading.add(name, place, whole=True),
                        self.read(inner, at, reading, depth + 1),
                    )
                    for name, inner in item.items()
                )
            )
        if key in _INNER and isinstance(item, dict | list | bool):
            return self.read(item, at, reading, depth + 1)
        if key in _FLAGS and isinstance(item, bool):
            return item
        if key in _BOUNDS and _is_bound(item):
            return item
        if key == "type" and all(kind in TYPES for kind in _list(item)):
            return item
        if not isinstance(item, str):
            return DROPPED
        if (key == "format" and item in FORMATS) or (key == "$schema" and item in DIALECTS):
            return reading.speak(item)
        if key == "$ref" and item.startswith("#"):
            return _read_pointer(item, place, reading)
        return DROPPED


def _is_bound(value: Any) -> bool:
    """Tell if a number is too short to be a number of somebody's."""
    return type(value) in (int, float) and abs(value) <= LARGEST_BOUND and round(value, 2) == value


def _list(value: Any) -> list[Any]:
    """Return the items of a list, or a value as the only one; only strings can be compared."""
    items = value if isinstance(value, list) else [value]
    return [item if isinstance(item, str) else None for item in items]


def _read_pointer(pointer: str, at: str, reading: BodyReading) -> Outline:
    """Read a pointer into the schema: the names on its way are names of properties."""
    if pointer == "#":
        return reading.speak(pointer)
    parts: list[Outline] = []
    for part in pointer.split("/"):
        if part == "#" or part in _KEYWORDS:
            parts.append(reading.speak(part))
        else:
            parts.append(reading.add(part, at, whole=True))
    return Joined(tuple(parts))
