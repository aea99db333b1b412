r"""Compare releases of whole words with releases of tokens at equal success of the attacks.

    python -m benchmarks run --suite benchmarks/utility/vocabularies.yaml \
        --data ../shared/data --out runs/vocabularies

Both vocabularies are measured alike. A word of a document is read if the attacker names it, up to
case: every release that stands for a part of it is guessed right, and the guesses spell the word,
up to its first apostrophe. The attackers are the Bayes-optimal one without context and the one
with bigrams; similarity is MiniLM's cosine of document and release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.in_context.corpus import read_corpus_words
from benchmarks.attacks.in_context.forward_backward import Chain, sum_by_form
from benchmarks.attacks.likelihood import load_channel
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean, success
from benchmarks.harness.markdown import format_table
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.metrics.ngram import Ngram
from benchmarks.metrics.utility import cosines
from perturb import EmbeddingTable, Perturber, load_table
from perturb.vocabulary.vocabulary import Variant, Vocabulary
from perturb.vocabulary.words import WORD, read_form

__all__ = ["Part", "Vocabularies", "find_parts", "interpolate"]

VARIANTS: tuple[Variant, ...] = ("clean", "words")
NAMES = {"clean": "tokens", "words": "whole words"}
MECHANISM = "rantext_ldp"
LEVELS = (0.10, 0.15, 0.20)  # of words read, at which similarities are compared


class _Context(Context):
    """Provide a context over the bundled table of one vocabulary. The words of a text are
    everything that goes through the mechanism, mapped words included."""

    variant: Variant = "clean"

    @cached_property
    def table(self) -> EmbeddingTable:
        return load_table(vocabulary=self.variant)

    def words(self, text: str) -> NDArray[np.int32]:
        return self.table.places(self.table.vocabulary.encode(text))[1]


@dataclass(frozen=True)
class Part:
    """Name a word of a document, without what follows an apostrophe in it, and the numbers of the
    releases that stand for it."""

    word: str
    releases: range


def find_parts(vocabulary: Vocabulary, is_word: NDArray[np.bool_], text: str) -> list[Part]:
    """Return the words of a text, each with the releases that stand for parts of it.

    Args:
        vocabulary: its units are released.
        is_word: which units of the text go through the mechanism.
        text: the document.
    """
    pieces = vocabulary.split(text)
    ends = np.cumsum([len(piece) for piece in pieces])[is_word]
    starts = ends - [
        len(p.removeprefix(b" ")) for p, kept in zip(pieces, is_word, strict=True) if kept
    ]
    parts = []
    for found in WORD.finditer(text):
        first = len(text[: found.start()].encode())
        last = first + len(found[0].encode())
        own = range(int(np.searchsorted(starts, first)), int(np.searchsorted(ends, last, "right")))
        parts.append(Part(read_form(found[0]).split("'")[0], own))
    return parts


class Vocabularies(Experiment):
    """Measure similarity and words read of one mechanism over both vocabularies, in a suite that
    names this experiment.

    Values:
        free, context: words read by each attacker.
        cosine: similarity of document and release.
        releases: the number of releases for each word of the documents.
    """

    name = "vocabularies"
    about = "whole words against tokens: similarity at equal shares of words read"

    def __init__(self) -> None:
        self._context = lru_cache(maxsize=None)(_make_context)
        self._chain = lru_cache(maxsize=1)(_fit_chain)

    def cases(self, context: Context) -> Iterable[Case]:
        if self.name not in context.suite.experiments or context.corpus is None:
            return
        for variant in VARIANTS:
            for epsilon in context.suite.epsilons:
                for dataset in context.suite.datasets:
                    yield {"vocabulary": variant, "epsilon": epsilon, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Outcome:
        own = self._context(context, case["vocabulary"])
        mechanism = own.mechanism(MECHANISM, case["epsilon"])
        perturber = Perturber(mechanism)
        vocabulary, forms = own.table.vocabulary, own.forms
        place = {word: i for i, word in enumerate(vocabulary.words)}
        channel = load_channel(mechanism)
        names = [vocabulary.words[i].casefold() for i in forms.order[forms.starts]]
        rng = context.rng(self.name, case)
        texts = [s.prefix for s in own.samples(case["dataset"])[: context.suite.answers]]
        made = [perturber.perturb(text, rng) for text in texts]
        released = [np.array([place[w] for w in done.words], dtype=np.int64) for done in made]
        free = [channel.sums.joint_forms_at[words] for words in released]
        attacked = context.suite.texts
        informed = self._guess(own, channel.likelihoods, released[:attacked])
        read: dict[str, list[bool]] = {"free": [], "context": []}
        counted = 0
        for i, text in enumerate(texts):
            is_word, _ = perturber.places(vocabulary.encode(text))
            parts = find_parts(vocabulary, is_word, text)
            counted += len(parts)
            for kind, guesses in (("free", free), ("context", informed)):
                if i < len(guesses):
                    read[kind] += [
                        "".join(names[guesses[i][j]] for j in part.releases) == part.word != ""
                        for part in parts
                    ]
        cosine = cosines(context.encode(texts), context.encode([done.text for done in made]))
        values: dict[str, Any] = {
            **{kind: success(sum(hits), len(hits)) for kind, hits in read.items()},
            "cosine": mean(cosine, rng),
            "releases": sum(map(len, released)) / counted,
        }
        return Outcome(values)

    def _guess(
        self,
        context: Context,
        likelihoods: NDArray[np.float32],
        released: Sequence[NDArray[np.int64]],
    ) -> list[NDArray[np.int64]]:
        """Return the forms that the attacker with bigrams names, for each text (n,)."""
        texts = [words for words in released if len(words)]
        seen = np.unique(np.concatenate(texts))
        rows = likelihoods[seen]
        places = [np.searchsorted(seen, words) for words in texts]
        beliefs = self._chain(context).infer_from_others(rows, places)
        guesses = iter(
            sum_by_form(others * rows[own], context.forms).argmax(axis=1)
            for others, own in zip(beliefs, places, strict=True)
        )
        return [next(guesses) if len(words) else words for words in released]

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if not records:
            return
        curves = {variant: _pool(self.select(records, vocabulary=variant)) for variant in VARIANTS}
        rows = [
            [NAMES[variant], f"{p[0]:g}", f"{p[1]:.1%}", f"{p[2]:.1%}", f"{p[3]:.3f}"]
            for variant, points in curves.items()
            for p in points
        ]
        head = ["units", "ε", "read without context", "read with bigrams", "similarity"]
        yield f"### Whole words and tokens\n\n{format_table(head, rows)}"
        lines = []
        for level in LEVELS:
            found = [_at(points, level) for points in curves.values()]
            lines.append([f"{level:.0%}", *("" if f is None else f"{f:.3f}" for f in found)])
        head = ["read by the stronger attacker", *(f"similarity, {n}" for n in NAMES.values())]
        yield format_table(head, lines)


def interpolate(x: Sequence[float], y: Sequence[float], level: float) -> float | None:
    """Return y where x has a value, on the line between its points; None outside them.

    >>> interpolate([0.1, 0.3], [0.2, 0.4], 0.2)
    0.30000000000000004
    """
    order = np.argsort(x)
    if not min(x) <= level <= max(x):
        return None
    return float(np.interp(level, np.array(x)[order], np.array(y)[order]))


Point = tuple[float, float, float, float]


def _pool(records: Sequence[Record]) -> list[Point]:
    """Return ε, the shares of words that each attacker reads, and the similarity, means over the
    sets."""
    levels = sorted({record.case["epsilon"] for record in records})
    out = []
    for level in levels:
        at: list[dict[str, Estimate]] = [r.values for r in records if r.case["epsilon"] == level]
        free, informed, cosine = (
            float(np.mean([values[name].value for values in at]))
            for name in ("free", "context", "cosine")
        )
        out.append((level, free, informed, cosine))
    return out


def _at(points: Sequence[Point], level: float) -> float | None:
    return interpolate([max(p[1:3]) for p in points], [p[3] for p in points], level)


def _make_context(context: Context, variant: Variant) -> _Context:
    folder = context.folder / variant
    own = _Context(context.suite, context.data, context.corpus, folder)
    own.variant = variant
    return own


def _fit_chain(context: Context) -> Chain:
    words = read_corpus_words(context)
    return Chain(Ngram.fit(words, order=2, vocabulary=len(context.table) + 1))
