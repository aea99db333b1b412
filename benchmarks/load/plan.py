"""The cases that are measured on each target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from benchmarks.load.targets import Bare, Direct, LiteLLM, Proxy, Target, VllmRouter
from benchmarks.load.wrk import Case

__all__ = ["CONNECTIONS", "LONG", "SHORT", "Plan", "full_plan", "quick_plan"]

CONNECTIONS = (1, 16, 64, 256)
SHORT, LONG = 61, 2000


@dataclass(frozen=True)
class Plan:
    """Order the cases of each target, and set the seconds of one case."""

    cases: tuple[tuple[Target, tuple[Case, ...]], ...]
    seconds: float

    def only(self, words: Sequence[str]) -> Plan:
        """Keep the targets whose names contain one of the words."""
        kept = tuple(
            (target, cases)
            for target, cases in self.cases
            if any(word.casefold() in target.name.casefold() for word in words)
        )
        return replace(self, cases=kept)


def quick_plan() -> Plan:
    """Return a comparison of about a minute: short chats, new each time."""
    cases = tuple(Case(connections=connections) for connections in (1, 16, 64))
    ours = (Bare(), Proxy("rantext_ldp"), Proxy("rantext"))
    targets = (Direct(), VllmRouter(), LiteLLM(), *ours)
    return Plan(tuple((target, cases) for target in targets), 3.0)


def full_plan(workers: int = 1) -> Plan:
    """Return the whole comparison; with more `workers`, also our proxy in so many processes."""
    short = tuple(Case(connections=connections) for connections in CONNECTIONS)
    other = tuple(
        Case(connections, stream, words)
        for words, stream, connections in product((SHORT, LONG), (False, True), CONNECTIONS)
    )
    again = tuple(replace(case, repeat=True) for case in other)
    cases: list[tuple[Target, tuple[Case, ...]]] = [
        (Direct(), other),
        (VllmRouter(), other),
        (LiteLLM(), other),
        (Bare(), short),
        (Proxy("rantext_ldp"), other + again),
        (Proxy("rantext"), other),
        (Proxy("selective"), other[: 2 * len(CONNECTIONS)]),
        (Proxy("selective", gateway=True), other[: 2 * len(CONNECTIONS)]),
        (Proxy("surrogate"), short),
        (Proxy("rantext_ldp", "postgresql"), short + again[: len(CONNECTIONS)]),
    ]
    if workers > 1:
        cases.append((Proxy("rantext_ldp", workers=workers), short))
    return Plan(tuple(cases), 5.0)
