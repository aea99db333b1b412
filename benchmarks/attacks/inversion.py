"""Embedding inversion: the K nearest words to each released word are the guesses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import held
from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found
from benchmarks.records import Case
from perturb import EmbeddingTable

__all__ = ["Inversion", "inverted"]

NEAREST = (1, 10)  # K (InferDPT, §6.3)


class Inversion(Experiment):
    """Success over all attacked words of a set; a guess in another case is right.

    Values: `top_1` and `top_10`, see `bounds.held`.
    """

    name = "inversion"
    about = "embedding inversion: the 1 and 10 nearest words to each released word"

    def cases(self, context: Context) -> Iterable[Case]:
        return context.suite.cases()

    def measure(self, case: Case, context: Context) -> Found:
        label, epsilon, dataset = case["mechanism"], case["epsilon"], case["dataset"]
        releases = context.releases(label, epsilon, dataset)
        raw = np.concatenate([release.raw for release in releases])
        released = np.concatenate([release.released for release in releases])
        group = context.forms.group
        guarantee = context.mechanism(label, epsilon).guarantee
        values: dict[str, Any] = {}
        breaches: tuple[str, ...] = ()
        for k in NEAREST:
            right = inverted(context.table, group, raw, released, k)
            found = held(f"top_{k}", right, group[raw], guarantee, answers=k)
            values, breaches = values | found.values, breaches + found.breaches
        return Found(values, breaches)


def inverted(
    table: EmbeddingTable,
    group: NDArray[np.integer],
    raw: NDArray[np.integer],
    released: NDArray[np.integer],
    k: int,
) -> NDArray[np.bool_]:
    """Whether a raw word is among the k nearest words to what was released for it, itself
    included, in any case: places in V, int (n,) both; `group` numbers the forms, int (m,)."""
    guesses = table.neighbours[released, :k]
    return np.asarray((group[guesses] == group[raw][:, None]).any(axis=1))
