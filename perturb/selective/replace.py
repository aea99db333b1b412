"""Replace the sensitive parts of a text in place.

The replacement of a part has the same pieces as the part, and so its shape. The rest of the text
is untouched. A part is split into pieces, each of which is replaced in its own way: a run of
letters is one word of the inner mechanism, digits and mixed runs are redrawn character by
character, layout stays, and anything else is dropped.

A tag, a type and a number such as `PERSON_417`, is one word of capitals, so that it stands in
code, JSON, CSV, HTML, addresses and prose without breaking them, and no text holds it by chance.
It carries no ε: it shows the type of its part, and which parts are equal.
"""

from __future__ import annotations

import hmac
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from html import escape
from types import MappingProxyType
from typing import Literal

import numpy as np

from perturb.errors import RefusedPart, ReleaseError
from perturb.release import (
    EMPTY,
    Known,
    Link,
    Perturbation,
    Receipt,
    Replacement,
    RequestLink,
    Span,
    Taken,
)
from perturb.rng import draw_below, keyed_generator
from perturb.sanitizer import DocumentOptions
from perturb.selective.marked import MarkingMechanism
from perturb.selective.surrogates.addresses import recase_address
from perturb.selective.surrogates.kinds import ADDRESSES, HANDLES
from perturb.selective.surrogates.writer import PERSONS, SurrogateWriter
from perturb.selective.values import draw_value, find_day_first, read_value
from perturb.text.fold import decode_entities, match_case, read
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import CLASS_NAMES, LAYOUT, TokenClass, Vocabulary

__all__ = [
    "Kind",
    "PartRun",
    "TagCheck",
    "cut_name",
    "find_word",
    "is_tag",
    "link_request",
    "make_text_link",
    "refuse_parts",
    "replace_parts",
    "split_name",
    "split_pieces",
    "write_tag",
]


_LAYOUT = re.escape("".join(sorted(LAYOUT)))
_RUN = re.compile(rf"([{_LAYOUT}]+)|(\s+)|[^{_LAYOUT}\s]+")


# A word of the inner mechanism for letters; as many digits, the first of several not 0; each
# letter or digit of a mixed run redrawn as one of its kind; layout, which is kept.
Kind = Literal["word", "digits", "mixed", "layout"]


@dataclass(frozen=True)
class PartRun:
    """A run of a sensitive part, without the characters that are dropped.

    `place` is the index of the word of V that stands for a WORD in the mechanism; `known` says
    that the run is that word. `written` is what stands for layout that is written with escapes.
    """

    kind: Kind
    text: str
    place: int = -1
    known: bool = False
    written: str = ""

    @property
    def shown(self) -> str:
        """Return the layout as it is written."""
        return self.written or self.text


def split_pieces(text: str, table: EmbeddingTable, options: DocumentOptions) -> list[PartRun]:
    """Split a sensitive part into pieces: a fixed public function of its text.

    HTML entities are decoded first, and the layout of such a part is escaped again. A blank that
    stands at its edge since what was there is dropped (`5 €`) is dropped, too: a replacement with
    blanks around it could not be told from them on its way back.
    """
    out: list[PartRun] = []
    plain = decode_entities(text)
    for run in _RUN.finditer(plain):
        if run[1] or run[2]:
            kept = run[1] if run[1] and options.layout == "keep" else " "
            kept = kept if out else kept.lstrip()
            if kept:
                out.append(PartRun("layout", kept if plain == text else escape(kept)))
            continue
        drawn = run[0]
        if not drawn.isalnum():
            drawn = "".join(c for c in drawn if c.isalpha() or c.isnumeric())
        if drawn.isalpha():
            place, known = find_word(drawn, table)
            if known or options.oov == "map":
                out.append(PartRun("word", drawn, place, known))
        elif drawn and options.number == "random":
            out.append(PartRun("mixed" if any(map(str.isalpha, drawn)) else "digits", drawn))
    while out and out[-1].kind == "layout" and out[-1].text[-1:].isspace():
        last = out.pop()
        if rest := last.text.rstrip():
            out.append(changed(last, text=rest))
    return out


def cut_name(text: str, table: EmbeddingTable, options: DocumentOptions) -> list[PartRun] | None:
    """Cut a name into words and layout; None if there is anything else in it. The layout of a name
    that is written with escapes, as in an address of the web, stays as it is written."""
    kept = changed(options, oov="map", number="random")
    pieces = _cut_escaped(text, table)
    if pieces is None:
        pieces = split_pieces(text, table, kept)
    kinds = {piece.kind for piece in pieces}
    return pieces if "word" in kinds and kinds <= {"word", "layout"} else None


_ESCAPES = re.compile(r"%[0-9A-Fa-f]{2}|\\|=[0-9A-F\r\n]|\+")
_NAME_WORD = re.compile(r"[^\W\d_]+")


def _cut_escaped(text: str, table: EmbeddingTable) -> list[PartRun] | None:
    """Cut a name that is written with escapes; return None for another one, and nothing if there
    is more in it than words and signs, or an escape that is none without the text around it."""
    if not _ESCAPES.search(text):
        return None
    reading = read(text)
    if "\\" in reading.text or "=" in text:
        return []
    out: list[PartRun] = []
    end, before = 0, 0
    for found in _NAME_WORD.finditer(reading.text):
        start, after = reading.span(*found.span())
        if start > end:
            gap = reading.text[before : found.start()]
            out.append(PartRun("layout", gap, written=text[end:start]))
        out.append(PartRun("word", found[0], *find_word(found[0], table)))
        end, before = after, found.end()
    if end < len(text) or any(
        map(str.isalnum, "".join(p.text for p in out if p.kind == "layout"))
    ):
        return []
    return out


def split_name(pieces: Sequence[PartRun]) -> tuple[list[str], list[str]]:
    """Return the words of a name, and the layout after each of them but the last."""
    words: list[str] = []
    gaps: list[str] = []
    for piece in pieces:
        if piece.kind == "word":
            words.append(piece.text)
            gaps.append("")
        elif words:
            gaps[-1] += piece.text
    return words, gaps[:-1]


def find_word(run: str, table: EmbeddingTable) -> tuple[int, bool]:
    """Return the index of the word of V that stands for a run of letters, and whether it is the
    run itself.

    A run outside V is mapped to the nearest word (by the fixed public table of the embedding file)
    of the string that stands for it, see `Vocabulary.find`; a run without one, to the first word
    of V.
    """
    token, known = table.vocabulary.find(run)
    if token < 0:
        return 0, False
    return table.find_place(token), known


VALUE = (
    "drawn near it on a public grid; its sign, its unit, the number of its decimals and the form "
    "of a date are kept"
)
TRIES = 10_000  # draws of digits that are free in the request
_LAYOUT_CLASS = TokenClass.LAYOUT.value
SURROGATE = "drawn under the tenant's key, without an ε"
TAG = "a type and a number drawn under the tenant's key, without an ε"


def refuse_parts(mechanism: MarkingMechanism, text: str, spans: Sequence[Span]) -> None:
    """Refuse a text with parts of a type whose action is `refuse`.

    Raises:
        RefusedPart: it has some. The message names their types.
    """
    starts: dict[str, int] = {}
    for span in spans:
        if mechanism.action(span.type) == "refuse":
            starts[span.type] = min(span.start, starts.get(span.type, span.start))
    if starts:
        lines = {type_: text.count("\n", 0, starts[type_]) + 1 for type_ in sorted(starts)}
        raise RefusedPart(
            f"a text holds parts of a type that is refused: {', '.join(lines)}",
            text=text,
            lines=lines,
        )


def replace_parts(
    text: str,
    spans: Sequence[Span],
    mechanism: MarkingMechanism,
    options: DocumentOptions,
    rng: np.random.Generator,
    link: Link | None,
    known: Known = EMPTY,
) -> Perturbation:
    """Replace the spans (in order, disjoint) and keep everything else.

    Args:
        rng: the noise where `link` is None.
        link: the noise of a word, or of a part's digits, by its raw text. With a link, equal
            words and equal parts have one replacement everywhere. Fresh draws at every mention
            of a word would let an observer average. With a `RequestLink`, different parts of
            all its texts have different surrogates and digits while there are free ones.
        known: the parts of other texts that are sensitive here: their names tell what a single
            word is in a name.
    """
    if link is not None and not isinstance(link, RequestLink):
        link = link_request(link, [text])
    day_first = link.day_first if link else find_day_first([text])
    writer = _Writer(mechanism, options, link, rng, day_first)
    parts = [(span.type, text[span.start : span.end]) for span in spans]
    chosen = [
        part
        for part in parts
        if mechanism.action(part[0]) == "surrogate" or mechanism.redraws(*part)
    ]
    if chosen and link is not None:
        writer.surrogates = SurrogateWriter(link, chosen, known, link.taken)
    out: list[str] = []
    replaced: list[Replacement] = []
    end = 0
    for span in spans:
        new = writer.write(span.type, text[span.start : span.end])
        replaced.append(Replacement(span.start, span.end, span.type, new))
        out += [text[end : span.start], new]
        end = span.end
    out.append(text[end:])
    kept = _count_tokens(out[::2], mechanism.table.vocabulary)
    return Perturbation(
        text="".join(out),
        words=tuple(writer.words),
        receipt=_receipt(
            mechanism, options, writer, spans, kept, mechanism.count_kept(text, spans), not text
        ),
        replaced=tuple(replaced),
    )


def _count_tokens(texts: Sequence[str], vocabulary: Vocabulary) -> int:
    """Count the tokens of texts that are not layout."""
    tokens = np.concatenate([vocabulary.encode(text) for text in texts])
    return int(np.count_nonzero(vocabulary.classes[tokens] != _LAYOUT_CLASS))


def link_request(
    noise: Link,
    texts: Iterable[str],
    pairs: Iterable[tuple[str, str]] = (),
    tagged: frozenset[str] = frozenset(),
    earlier: Mapping[tuple[str, str], str] = MappingProxyType({}),
    respelled: frozenset[str] = frozenset(),
) -> RequestLink:
    """Make the link of the texts of one request.

    Args:
        noise: of an entity by its raw text.
        texts: all of the request, raw.
        pairs: the replacements in it that were released earlier, each with its raw value.
        tagged: the raw values that get a tag in any case.
        earlier: those replacements by the type and the raw value of their parts.
        respelled: words of names that get surrogates of their own, see `RequestLink`.
    """
    texts = tuple(texts)
    taken = Taken(pairs, texts)
    return RequestLink(noise, taken, find_day_first(texts), tagged, respelled, earlier)


def make_text_link(rng: np.random.Generator) -> Link:
    """Make a link for one text alone: a keyed function under a key drawn from `rng`."""
    secret = rng.bytes(32)

    def generator(entity: str) -> np.random.Generator:
        data = entity.encode("utf-8", "surrogatepass")
        return keyed_generator(hmac.digest(secret, data, "sha256"))

    return generator


class _Writer:
    """Write the replacements of one text and remember them."""

    def __init__(
        self,
        mechanism: MarkingMechanism,
        options: DocumentOptions,
        link: RequestLink | None,
        rng: np.random.Generator,
        day_first: bool | None,
    ) -> None:
        self._mechanism, self._options, self._link, self._rng = mechanism, options, link, rng
        self._day_first = day_first
        self._drawn: dict[str, int] = {}
        self._redrawn: dict[str, list[str]] = {}
        self.linked = link is not None
        self.words: list[str] = []
        self.classes: Counter[str] = Counter()  # of tokens, by name
        self.surrogates: SurrogateWriter | None = None
        self._addresses: dict[tuple[str, str], str] | None = None
        self.unbounded = 0
        self.actions: dict[str, Counter[str]] = {}

    def write(self, type_: str, entity: str) -> str:
        """Write the replacement of a part."""
        action, new = self._mechanism.action(type_), None
        if self._link is not None and entity in self._link.tagged:
            action = "tag"
        elif action == "surrogate" and self._link is not None:
            new = self._link.earlier.get((type_, entity)) or self._recall_address(type_, entity)
            action = "tag" if new and is_tag(new, type_) else action
        if action == "value":
            new = self._write_value(type_, entity)
        elif action == "surrogate" and self.surrogates and new is None:
            new = self._write_surrogate(self.surrogates, type_, entity)
        if new is None and (action == "replace" or self._link is None):
            return self._write_words(entity)
        if new is None and self.surrogates and self._redraws(type_, entity):
            action, new = "surrogate", self.surrogates.write_form("NUMBER", entity)
        if new is None:
            assert self._link is not None
            action, new = "tag", write_tag(type_, entity, self._link)
        self.actions.setdefault(action, Counter())[type_] += 1
        self.unbounded += _count_tokens([new], self._mechanism.table.vocabulary)
        return new

    def _recall_address(self, type_: str, entity: str) -> str | None:
        """Return the replacement of an address, or of the name of a user, that an earlier text has
        in other capitals."""
        if self._link is None or type_ not in ADDRESSES | HANDLES:
            return None
        if self._addresses is None:
            self._addresses = {
                (kind, raw.lower()): new
                for (kind, raw), new in self._link.earlier.items()
                if kind in ADDRESSES | HANDLES and not is_tag(new, kind)
            }
        new = self._addresses.get((type_, entity.lower()))
        return new and recase_address(new, entity)

    def _redraws(self, type_: str, entity: str) -> bool:
        tagged = self._link is not None and entity in self._link.tagged
        return not tagged and self._mechanism.redraws(type_, entity)

    def _write_value(self, type_: str, entity: str) -> str | None:
        value = read_value(type_, entity, self._day_first)
        if value is None:
            return None
        noise = self._link(f"value {type_} {value.key}") if self._link else self._rng
        new = value.write(*draw_value(value, self._mechanism.value_epsilon, noise))
        if self._link:  # two values may have one release: the law says so
            self._link.taken.take(new, entity)
        return new

    def _write_surrogate(self, writer: SurrogateWriter, type_: str, entity: str) -> str | None:
        if type_ not in PERSONS:
            return writer.write(type_, entity)
        pieces = cut_name(entity, self._mechanism.table, self._options)
        words = iter(writer.write_person(*split_name(pieces)) or () if pieces else ())
        made = [next(words, "") if p.kind == "word" else p.shown for p in pieces or ()]
        new = "".join(made)
        escaped = any(piece.written for piece in pieces or ()) or "\\" in entity or "%" in entity
        if escaped and not new.isascii():  # no address of the web, and no ASCII
            return None
        return new if all(made) and made else None

    def _write_words(self, entity: str) -> str:
        parts = split_pieces(entity, self._mechanism.table, self._options)
        out = []
        for part in parts:
            out.append(part.text)
            if part.kind == "word":
                word = self._mechanism.table.vocabulary.words[self._word(part)]
                self.words.append(word)
                out[-1] = match_case(word, part.text)
                self.classes["word" if part.known else "oov"] += 1
            elif part.kind == "layout":
                self.classes["layout"] += 1
            else:
                self.classes["other" if part.kind == "mixed" else "number"] += 1
        return self._write_characters(entity, parts, out)

    def _word(self, part: PartRun) -> int:
        if self._link is None:
            return self._draw(part.place, self._rng)
        if part.text not in self._drawn:
            self._drawn[part.text] = self._draw(part.place, self._link(part.text))
        return self._drawn[part.text]

    def _draw(self, place: int, rng: np.random.Generator) -> int:
        return int(self._mechanism.draw(np.array([place]), rng).words[0])

    def _write_characters(self, entity: str, parts: Sequence[PartRun], out: list[str]) -> str:
        """Write a part whose words are drawn, with fresh characters for every run of digits and
        every mixed run."""
        runs = [i for i, part in enumerate(parts) if part.kind in ("digits", "mixed")]
        rng = self._link(entity) if self._link and runs else self._rng
        drawn = self._redrawn.get(entity)
        for _ in range(TRIES if self._link and runs and drawn is None else 1):
            fresh = drawn or [_redraw(parts[i], rng) for i in runs]
            for i, new in zip(runs, fresh, strict=True):
                out[i] = new
            if self._link is None or self._link.taken.take("".join(out), entity):
                break
        if self._link:
            self._redrawn[entity] = fresh
        return "".join(out)


def _redraw(part: PartRun, rng: np.random.Generator) -> str:
    sizes = np.array([26 if c.isalpha() else 10 for c in part.text])
    drawn = rng.integers(0, sizes)
    if part.kind == "digits" and len(sizes) > 1:
        drawn[0] = rng.integers(1, 10)
    return "".join(map(_character, part.text, drawn.tolist()))


def _character(old: str, drawn: int) -> str:
    if not old.isalpha():
        return str(drawn)
    return chr(ord("A" if old.isupper() else "a") + drawn)


def _say_revealed(writer: _Writer, left: Mapping[str, int]) -> list[str]:
    """Return what a release shows of its text, in words."""
    reveals = [
        "everything the policy did not mark, verbatim",
        "where the replaced parts stand, their punctuation and capitals, how many words they have "
        "and how many digits",
    ]
    if left:
        reveals.append(f"parts that are kept by their type, verbatim: {', '.join(left)}")
    if "surrogate" in writer.actions:
        reveals.append(
            "the form of parts with a surrogate, zeros at the beginning of their numbers, the "
            "issuer's digits of cards, generic words of places and firms, which names and "
            "addresses share a name, and how many days lie between dates"
        )
    if "tag" in writer.actions:
        reveals.append("the type of parts with a tag")
    if "value" in writer.actions:
        reveals.append(
            "about how large the values are, with their signs and units, the number of their "
            "decimals, the form of dates, and the order of day and month"
        )
    if writer.linked:
        reveals.append(
            "which replaced words and parts are equal, here and in the client's other texts"
        )
    return reveals


def _receipt(
    mechanism: MarkingMechanism,
    options: DocumentOptions,
    writer: _Writer,
    spans: Sequence[Span],
    kept: int,
    left: Mapping[str, int],
    empty: bool,
) -> Receipt:
    guarantee, identity = mechanism.guarantee, mechanism.identity()
    if "patterns" in identity:  # the expressions are private to the operator
        identity["patterns"] = [type_ for type_, _ in identity["patterns"]]
    for name in ("allow", "deny"):
        identity.pop(name, None)
    released = len(writer.words)
    return Receipt(
        mechanism=identity.pop("mechanism"),
        table=identity.pop("table"),
        parameters=identity,
        tokens={name: writer.classes[name] for name in CLASS_NAMES},
        treatment={
            **({"surrogate": SURROGATE} if "surrogate" in writer.actions else {}),
            **({"tag": TAG} if "tag" in writer.actions else {}),
            **({"value": VALUE} if "value" in writer.actions else {}),
            "unmarked": "left as it is and not counted",
            "word": "perturbed",
            "oov": "mapped to V and perturbed" if options.oov == "map" else "dropped",
            "number": "redrawn" if options.number == "random" else "dropped",
            "layout": "kept" if options.layout == "keep" else "dropped",
            "other": "redrawn" if options.number == "random" else "dropped",
        },
        released=released,
        statistics={},
        guarantee=guarantee.kind,
        statement=guarantee.statement,
        epsilon_nominal=guarantee.nominal,
        epsilon_per_token=guarantee.epsilon,
        epsilon_per_document=0.0 if empty else math.inf,
        unbounded=kept
        + writer.unbounded
        + (0 if math.isfinite(mechanism.part_guarantee.epsilon) else released),
        reveals=tuple(_say_revealed(writer, left)),
        entities=dict(sorted(Counter(span.type for span in spans).items())),
        actions={
            action: dict(sorted(types.items()))
            for action, types in sorted({"keep": left, **writer.actions}.items())
            if types
        },
        vocabulary=mechanism.table.vocabulary.description,
        unit=guarantee.unit,
    )


LEAST_NUMBER, NUMBERS = 100, 9900  # of a tag: a smaller one could be a place in a list
NUMBERS_TRIED = 200  # draws of a number that is free in the request
_TAG = re.compile(r"([A-Z][A-Z0-9_]*)_([1-9][0-9]{2,3})")


def write_tag(type_: str, raw: str, link: Link) -> str:
    """Return the tag of a part: equal for equal parts under one link.

    With a `RequestLink`, different parts of its request have different tags, and none that one of
    its texts holds already.

    >>> from perturb.rng import seeded_generator
    >>> write_tag("PERSON", "Anna", lambda entity: seeded_generator(1))
    'PERSON_4644'
    """
    noise = link(f"tag {type_} {raw}")
    for _ in range(NUMBERS_TRIED):
        tag = f"{type_}_{LEAST_NUMBER + draw_below(NUMBERS, noise)}"
        if not isinstance(link, RequestLink) or link.taken.take_whole(tag, raw):
            break
    return tag


def is_tag(text: str, type_: str) -> bool:
    """Tell if a text is a tag of a type.

    >>> is_tag("PERSON_417", "PERSON"), is_tag("PERSON_417", "NAME")
    (True, False)
    """
    found = _TAG.fullmatch(text)
    return found is not None and found[1] == type_


class TagCheck:
    """Check the tags of one text: equal parts have equal tags, and different parts different
    ones."""

    def __init__(self) -> None:
        self._tags: dict[tuple[str, str], str] = {}
        self._raws: dict[str, str] = {}

    def check(self, type_: str, raw: str, tag: str) -> None:
        """Check one tag, which is of the type.

        Raises:
            ReleaseError: it does not fit the others.
        """
        if self._tags.setdefault((type_, raw), tag) != tag:
            raise ReleaseError("equal marked parts have different replacements")
        if self._raws.setdefault(tag, raw) != raw:
            raise ReleaseError("two marked parts have one tag")
