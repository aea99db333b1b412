"""Name the content words of a document as a set, from one release of it.

The attacker names as many words as the document has, so that sanitizers of single words and of
whole texts can be compared. A blind attacker names the most frequent words of public text: of the
bundled codebook or of general English, whichever is better on the set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.likelihood import likelihood, load_channel
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean
from benchmarks.harness.markdown import format_figure, format_point, format_table
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.whole.linkage import has_linkage
from benchmarks.whole.public_words import (
    PublicWords,
    find_thresholds,
    is_content,
    list_content_words,
)
from benchmarks.whole.sanitizers import build_sanitizer, draws_words, list_points
from perturb import Mechanism
from perturb.vocabulary.frequencies import unigram_prior
from perturb.whole.codebook import Codebook, load_codebook
from perturb.whole.surrogate import Surrogate

__all__ = ["WordSets", "find_precision", "name_from_words"]

Attack = Callable[[str, int], list[str]]  # the names of so many words of a text


class WordSets(Experiment):
    """Measure the precision of each attacker.

    Values:
        precision: of the strongest attacker, the mean over texts.
        attacker: its name. `bayes` has the exact posterior of every word; `passage` names the
            words of the released passage, `nearest` those of the passages near to it, `prior`
            corrects the frequencies of general English by them, and `posterior` has the
            posterior of a text drawn from the codebook.
        attackers: the precision of each.
        blind: precision of the blind attacker.
        gain: the difference, text by text.
    """

    name = "word_sets"
    about = "the content words of a document, named as a set; against a blind attacker"

    def cases(self, context: Context) -> Iterable[Case]:
        for label, epsilon in list_points(context):
            if has_linkage(context, label):
                for dataset in context.suite.datasets:
                    yield {"mechanism": label, "epsilon": epsilon, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Outcome:
        label, epsilon = case["mechanism"], case["epsilon"]
        rng = context.rng(self.name, case)
        samples = context.samples(case["dataset"])[: context.suite.whole.texts]
        public = _read_public(context, load_codebook())
        documents = [set(list_content_words(s.prefix)) for s in samples]
        texts = [s.prefix for s, words in zip(samples, documents, strict=True) if words]
        documents = [words for words in documents if words]

        def measure(attack: Attack) -> NDArray[np.float64]:
            named = [attack(text, len(w)) for text, w in zip(texts, documents, strict=True)]
            return np.array(
                [find_precision(names, w) for names, w in zip(named, documents, strict=True)]
            )

        if draws_words(context, label):
            mechanism = context.mechanism(label, epsilon)
            found = {"bayes": measure(_attack_words(context, mechanism, rng))}
        else:
            sanitizer = build_sanitizer(context, label, epsilon)
            assert isinstance(sanitizer, Surrogate), "`has_linkage` is asked first"
            found = _attack_choices(context, sanitizer, texts, measure, rng)
        lists = (public.words, public.rank(public.general, len(public.words)))
        blinds = [measure(partial(_name_first, names)) for names in lists]
        blind = max(blinds, key=lambda values: float(values.mean()))
        strongest = max(found, key=lambda name: float(found[name].mean()))
        return Outcome(
            {
                "precision": mean(found[strongest], rng),
                "attacker": strongest,
                "attackers": {name: float(values.mean()) for name, values in found.items()},
                "blind": mean(blind, rng),
                "gain": mean(found[strongest] - blind, rng),
            }
        )

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                r.case["dataset"],
                r.values["attacker"],
                *(format_figure(r.values[name], 3) for name in ("precision", "blind")),
                format_figure(r.values["gain"], 3, sign=True),
            ]
            for r in records
        ]
        if rows:
            head = ["mechanism", "ε", "set", "attacker", "precision", "blind", "gain"]
            yield (
                "### Words of the document, as a set\n\n"
                "The attacker names as many content words as the document has. *Precision*: the "
                "share of them that are right. *Blind*: the most frequent content words of the "
                "bundled codebook or of general English, whichever are better.\n\n"
                + format_table(head, rows)
            )

    @classmethod
    def read_gain(cls, record: Record) -> Estimate:
        """Return the precision minus that of the blind attacker."""
        found: Estimate = record.values["gain"]
        return found


def _name_first(names: list[str], text: str, count: int) -> list[str]:
    """Return the first of a list, whatever the text is."""
    del text
    return names[:count]


def find_precision(names: Sequence[str], words: set[str]) -> float:
    """Return the share of a document's words that are named; as many names as words are given."""
    return len(words.intersection(names)) / len(words)


@lru_cache(maxsize=2)
def _read_public(context: Context, book: Codebook) -> PublicWords:
    vocabulary = context.table.vocabulary
    prior: dict[str, float] = {}
    for word, share in zip(vocabulary.words, unigram_prior(vocabulary), strict=True):
        prior[word.casefold()] = prior.get(word.casefold(), 0.0) + float(share)
    return PublicWords(book, prior)


def _attack_words(context: Context, mechanism: Mechanism, rng: np.random.Generator) -> Attack:
    """Return the attack on releases of single words."""
    forms = [word.casefold() for word in context.table.vocabulary.words]
    first = np.unique(context.forms.group, return_index=True)[1]
    content = np.array([is_content(forms[i]) for i in first])
    prior = load_channel(mechanism).prior

    def attack(text: str, count: int) -> list[str]:
        released = mechanism.draw(context.words(text), rng).words
        joint = likelihood(mechanism, released) * prior
        scores = name_from_words(np.asarray(joint, dtype=np.float64), context.forms.group)
        best = np.argsort(-np.where(content, scores, -np.inf), kind="stable")[:count]
        return [forms[first[i]] for i in best]

    return attack


def name_from_words(
    joint: NDArray[np.float64], group: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """Return −Σ_i ln(1 − P(form | y_i)) for each form, float64 (forms,): it grows with the chance
    that the form occurs in the text.

    Args:
        joint: P(x, y_i) up to a constant of each row, (n, m).
        group: the form of each word, int (m,).
    """
    scores = np.zeros(int(group.max()) + 1)
    for row in joint:
        chances = np.bincount(group, row, minlength=len(scores)) / max(row.sum(), 1e-300)
        scores -= np.log1p(-np.minimum(chances, 1 - 1e-12))
    return scores


def _attack_choices(
    context: Context,
    sanitizer: Surrogate,
    texts: Sequence[str],
    measure: Callable[[Attack], NDArray[np.float64]],
    rng: np.random.Generator,
) -> dict[str, NDArray[np.float64]]:
    """Return the precisions of the four attacks on one release of each text."""
    book, law = sanitizer.codebook, sanitizer.laws[0]
    public = _read_public(context, book)
    thresholds = find_thresholds(book, law.near, len(public.places))
    sent = {text: sanitizer.perturb(text, rng).text for text in texts}

    @lru_cache(maxsize=len(texts))
    def find_cosines(text: str) -> NDArray[np.float32]:
        place = book.find(sent[text])
        row = book.vectors[place].astype(np.float32) * book.scales[place]
        return np.asarray(book.similarities(row)[public.places])

    return {
        "passage": measure(lambda t, n: public.rank(public.score_passage(sent[t]), n)),
        "nearest": measure(lambda t, n: public.rank(public.score_nearest(find_cosines(t)), n)),
        "prior": measure(lambda t, n: public.rank(public.score_prior(find_cosines(t)), n)),
        "posterior": measure(
            lambda t, n: public.rank(public.score_posterior(law, find_cosines(t), thresholds), n)
        ),
    }
