"""Embedding inversion, which guesses the K words nearest to each released word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import measure_bounded
from benchmarks.attacks.word_attack import CLAIM, WordAttack, list_by_set
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Outcome
from benchmarks.harness.markdown import format_percent
from benchmarks.harness.records import Case, Record
from perturb import EmbeddingTable

__all__ = ["Inversion", "find_inverted"]

NEAREST = (1, 10)  # K (InferDPT, §6.3)


class Inversion(WordAttack):
    """Measure success over all attacked words of a set; a guess in another case counts as right.

    Values: `top_1` and `top_10`, see `bounds.measure_bounded`.
    """

    name = "inversion"
    about = "embedding inversion: the 1 and 10 nearest words to each released word"
    columns = ("nearest word", "10 nearest words")
    legend = "*Nearest word* and *10 nearest words* invert the embedding;"
    strongest_value = "top_1"

    def cases(self, context: Context) -> Iterable[Case]:
        return context.suite.cases()

    def measure(self, case: Case, context: Context) -> Outcome:
        label, epsilon, dataset = case["mechanism"], case["epsilon"], case["dataset"]
        releases = context.releases(label, epsilon, dataset)
        raw = np.concatenate([release.raw for release in releases])
        released = np.concatenate([release.released for release in releases])
        group = context.forms.group
        guarantee = context.mechanism(label, epsilon).guarantee
        values: dict[str, Any] = {}
        breaches: tuple[str, ...] = ()
        for k in NEAREST:
            right = find_inverted(context.table, group, raw, released, k)
            found = measure_bounded(f"top_{k}", right, group[raw], guarantee, answers=k)
            values, breaches = values | found.values, breaches + found.breaches
        return Outcome(values, breaches)

    def render_cells(self, record: Record) -> list[str]:
        return [format_percent(record.values[f"top_{k}"]) for k in NEAREST]

    def render_remark(self, records: Sequence[Record]) -> str:
        found = self.select(records, **CLAIM)
        if not found:
            return ""
        holds = all(r.values["top_10"].high < 0.1 for r in found)
        return (
            "InferDPT reports that the ten nearest words hold less than 10 % of the words for "
            f"`rantext` at ε = 6. Here: {list_by_set(found, 'top_10')}. The claim "
            + ("holds on all sets." if holds else "does not hold on all sets.")
        )


def find_inverted(
    table: EmbeddingTable,
    group: NDArray[np.integer],
    raw: NDArray[np.integer],
    released: NDArray[np.integer],
    k: int,
) -> NDArray[np.bool_]:
    """Return whether each raw word is among the k nearest words to its release, itself included,
    in any case. Words are places in V, int (n,); `group` numbers the forms, int (m,)."""
    guesses = table.neighbours[released, :k]
    return np.asarray((group[guesses] == group[raw][:, None]).any(axis=1))
