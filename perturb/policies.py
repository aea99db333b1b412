"""Policies: which parts of a text are sensitive, and the rules every finding goes through.

A finding is widened to whole words, overlapping ones become one, and a text found once is
sensitive wherever else it stands as a whole, in any capitals, and so is every telling word of a
name. All of it reads the folded text (perturb.fold).
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from perturb.errors import MissingPackage, ParameterError
from perturb.fold import fold
from perturb.mechanism import Span
from perturb.patterns import NAME, RULES, SHIPPED, Shape, names, shape_types, telling_words

__all__ = [
    "PatternPolicy",
    "Policy",
    "PresidioPolicy",
    "own_shapes",
    "settle",
    "standing_in",
    "telling",
]

NAME_TYPES = frozenset((NAME, "PERSON"))  # ours and Presidio's
LONGEST_REPEAT = 64  # of a longer finding its beginning is looked for: bounds the work
# Scripts that do not part words by blanks: Thai, Lao, Khmer, kana, Han, Hangul. Every character
# counts as a word. Accents that stand apart from their letter belong to its word.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"(?:[^\W_{_UNSPACED}]|[\u0300-\u036f])+|.", re.DOTALL)
_TYPE = re.compile(r"[A-Z][A-Z0-9_]*")
_END = ""  # the key of a finding's type in the trie: no token is empty


class Policy(Protocol):
    """Marks what is sensitive; safe to share by threads. Equal texts get equal marks."""

    def find(self, text: str) -> Iterable[Span]:
        """The sensitive parts of a text, in any order; they may overlap."""


class PatternPolicy:
    """Finds what is sensitive by its form.

    Args:
        shapes: the expressions.
        proper: words that are names wherever they have a capital, see
            `perturb.patterns.names`; None: no names are looked for.

    Attributes:
        version: equal where equal texts get equal marks, also by a later release of this code.
    """

    def __init__(self, shapes: Sequence[Shape], *, proper: Collection[str] | None = None) -> None:
        self._shapes = tuple(shapes)
        self._proper = proper
        marks = [(shape.type, shape.pattern.pattern, shape.pattern.flags) for shape in shapes]
        self.version = sha256(repr((RULES, proper is not None, marks)).encode()).hexdigest()

    def find(self, text: str) -> Iterable[Span]:
        # As it is, too: an expression may ask for what folding writes otherwise.
        for reading in dict.fromkeys((fold(text), text)):
            for shape in self._shapes:
                for match in shape.pattern.finditer(reading):
                    if match[0] and shape.passes(match[0]):
                        yield Span(match.start(), match.end(), shape.type)
            if self._proper is not None:
                for start, end in names(reading, self._proper):
                    yield Span(start, end, NAME)

    @classmethod
    def shipped(cls, entities: Sequence[str] = (), proper: Collection[str] = ()) -> PatternPolicy:
        """The shipped set, or these types of it.

        Raises:
            ParameterError: it does not find one of the types.
        """
        wanted = _types(entities, shape_types())
        shapes = [shape for shape in SHIPPED if shape.type in wanted]
        return cls(shapes, proper=proper if NAME in wanted else None)

    @classmethod
    def digits(cls, entities: Sequence[str] = ()) -> PatternPolicy:
        """Every run of digits, of the type NUMBER (the thesis' policy). Raises as `shipped`."""
        shapes = [Shape("NUMBER", re.compile(r"\d+"))]
        _types(entities, [shape.type for shape in shapes])
        return cls(shapes)


def own_shapes(patterns: Mapping[str, str]) -> tuple[Shape, ...]:
    """An operator's own expressions by type. They are not bounded in time: a slow one is slow.

    Raises:
        ParameterError: a type is no name, or an expression does not compile or may be empty.
    """
    shapes = []
    for type_, pattern in patterns.items():
        if not isinstance(type_, str) or not _TYPE.fullmatch(type_):
            raise ParameterError("patterns must be named in capitals, digits and underscores")
        if not isinstance(pattern, str):
            raise ParameterError(f"patterns.{type_} must be a regular expression as a string")
        try:
            compiled = re.compile(pattern)
        except re.error as exc:
            raise ParameterError(f"patterns.{type_} is no regular expression: {exc}") from None
        if compiled.match(""):
            raise ParameterError(f"patterns.{type_} must not match the empty text")
        shapes.append(Shape(type_, compiled))
    return tuple(shapes)


class PresidioPolicy:
    """Microsoft Presidio's recognizers (extra `pii`): the pattern recognizers, and named
    entities where a spaCy model is given.

    Nothing is downloaded and nothing is logged: Presidio's log lines quote the text.

    Args:
        model: an installed spaCy model's name, or a folder; without one, people and places are
            not found.
        entities: the types to look for; none named, all of them.

    Attributes:
        version: of Presidio and of the model.
    """

    def __init__(self, model: str = "", entities: Sequence[str] = ()) -> None:
        try:
            import presidio_analyzer as presidio
            import tldextract.tldextract as domains
            from spacy.util import is_package
        except ImportError as exc:
            raise MissingPackage(
                "the policy 'presidio' needs `pip install 'inferdpt[pii]'`"
            ) from exc
        for name in ("presidio-analyzer", "decision_process", "tldextract"):
            logger = logging.getLogger(name)
            logger.propagate = False
            logger.setLevel(logging.CRITICAL + 1)
        # The list of top-level domains it carries, not the one it would fetch and keep.
        # A pattern that took too long would be skipped, and what it marks would leave.
        presidio.pattern_recognizer.REGEX_TIMEOUT_SECONDS = None
        domains.TLD_EXTRACTOR = domains.TLDExtract(cache_dir=None, suffix_list_urls=())
        if not model:
            spec = [{"lang_code": "en", "model_name": ""}]
            engine: Any = presidio.nlp_engine.NoOpNlpEngine(models=spec)
        elif is_package(model) or Path(model).is_dir():
            spec = [{"lang_code": "en", "model_name": model}]
            engine = presidio.nlp_engine.SpacyNlpEngine(models=spec)
        else:
            raise ParameterError("model must be an installed spaCy model, or the folder of one")
        engine.load()
        registry = presidio.RecognizerRegistry(supported_languages=["en"])
        registry.load_predefined_recognizers(languages=["en"], nlp_engine=engine)
        self._analyzer = presidio.AnalyzerEngine(
            registry=registry, nlp_engine=engine, supported_languages=["en"]
        )
        found = engine.nlp["en"].meta if model else {}
        self.version = " ".join(
            (version("presidio-analyzer"), found.get("name", ""), found.get("version", ""))
        )
        known = self._analyzer.get_supported_entities("en")
        self._entities = list(_types(entities, known)) if entities else None

    def find(self, text: str) -> Iterable[Span]:
        for found in self._analyzer.analyze(fold(text), language="en", entities=self._entities):
            yield Span(found.start, found.end, found.entity_type)


def _types(entities: Sequence[str], known: Iterable[str]) -> frozenset[str]:
    """The types asked for, or all there are."""
    asked, there = frozenset(entities or known), frozenset(known)
    if asked - there:
        raise ParameterError(f"entities must be among {', '.join(sorted(there))}")
    return asked


def settle(
    text: str,
    found: Iterable[Span],
    known: Mapping[str, str] = MappingProxyType({}),
    common: Collection[str] = (),
) -> tuple[Span, ...]:
    """The parts of a text that count, in order and disjoint: see the module's rules.

    Args:
        known: parts that are sensitive wherever they stand, found elsewhere, with their types.
        common: words that are not taken for a single word found in other capitals.

    Raises:
        ParameterError: a finding lies outside the text.
    """
    tokens = list(_TOKEN.finditer(fold(text)))
    starts = [token.start() for token in tokens]
    widened = dict.fromkeys(_widen(s, text, tokens, starts) for s in found if s.start != s.end)
    merged = _merge(widened)
    own = dict.fromkeys(chain(widened, merged, _name_words(text, widened)))
    if not own and not known:
        return ()
    parts = _Parts(common)
    for span in own:
        first, last = bisect_left(starts, span.start), bisect_left(starts, span.end)
        parts.add([token[0] for token in tokens[first:last]], span.type)
    for part, type_ in known.items():
        parts.add(_TOKEN.findall(fold(part)), type_)
    return _merge([*merged, *parts.spans(tokens)])


def telling(text: str, spans: Iterable[Span]) -> dict[str, str]:
    """The marked parts of a text and the words of its names, each with its type."""
    spans = tuple(spans)
    return {text[s.start : s.end]: s.type for s in (*_name_words(text, spans), *spans)}


def standing_in(
    text: str, known: Mapping[str, str], common: Collection[str] = ()
) -> dict[str, str]:
    """Those of the known parts that `settle` finds in a text, or that such a part begins with."""
    parts = _Parts(common)
    folded = {part: tuple(_TOKEN.findall(fold(part))) for part in known}
    for part, type_ in known.items():
        parts.add(folded[part], type_)
    tokens = list(_TOKEN.finditer(fold(text)))
    there = {fold(text[s.start : s.end]).casefold() for s in parts.spans(tokens)}
    return {part: known[part] for part in known if "".join(folded[part]).casefold() in there}


def _name_words(text: str, found: Iterable[Span]) -> Iterable[Span]:
    """The words of every name: who was named in full is often named by one of them later."""
    for span in found:
        if span.type in NAME_TYPES:
            for start, end in telling_words(text[span.start : span.end]):
                yield Span(span.start + start, span.start + end, span.type)


def _widen(span: Span, text: str, tokens: Sequence[re.Match[str]], starts: Sequence[int]) -> Span:
    if not 0 <= span.start < span.end <= len(text):
        raise ParameterError("a policy must mark parts of the text")
    first = bisect_right(starts, span.start) - 1
    last = bisect_right(starts, span.end - 1) - 1
    return Span(tokens[first].start(), tokens[last].end(), span.type)


def _merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Overlapping spans as one of the longest one's type."""
    merged: list[Span] = []
    longest = 0
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if merged and span.start < merged[-1].end:
            before, length = merged[-1], span.end - span.start
            type_ = span.type if length > longest else before.type
            longest = max(longest, length)
            merged[-1] = Span(before.start, max(before.end, span.end), type_)
        else:
            merged.append(span)
            longest = span.end - span.start
    return tuple(merged)


class _Parts:
    """Parts to look for as whole words, whatever their capitals, in a tree of words.

    A single word in other capitals than it was found in is not taken if it is a common one:
    `like` after Mr. Like, `will` after Will.
    """

    def __init__(self, common: Collection[str]) -> None:
        self._common = common
        self._tree: dict[str, Any] = {}
        self._written: set[str] = set()  # the single words as they were found

    def add(self, words: Sequence[str], type_: str) -> None:
        if not words:
            return
        node = self._tree
        for word in words[:LONGEST_REPEAT]:
            node = node.setdefault(word.casefold(), {})
        node.setdefault(_END, type_)
        if len(words) == 1:
            self._written.add(words[0])

    def spans(self, tokens: Sequence[re.Match[str]]) -> Iterable[Span]:
        """The longest part that begins at each word; they may overlap."""
        words = [token[0].casefold() for token in tokens]
        for first, token in enumerate(tokens):
            node, last, type_ = self._tree, first, ""
            for i in range(first, len(tokens)):
                if (following := node.get(words[i])) is None:
                    break
                node = following
                if _END in node and (i > first or self._taken(token[0])):
                    last, type_ = i + 1, node[_END]
            if last > first:
                yield Span(token.start(), tokens[last - 1].end(), type_)

    def _taken(self, word: str) -> bool:
        return word in self._written or word.lower() not in self._common
