"""Make synthetic examples of private texts, after Zhao et al.

Candidates are public, or written by a model. In each round every private text votes for the
nearest one, LimitedDomain picks parents, and candidates like them take part in the next round.
The last picks are the examples. Private texts decide by their votes alone, so all picks together
are (ε, δ)-DP for adding or removing one text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.synthetic.accounting import Shares, divide_budget
from perturb.synthetic.limited_domain import LimitedDomain
from perturb.synthetic.votes import count_votes, encode_texts
from perturb.synthetic.writers import Writer
from perturb.whole.encoder import Encoder

__all__ = ["Example", "SynthesisPlan", "synthesize"]


@dataclass(frozen=True)
class Example:
    """A synthetic example; its label is None where texts have none."""

    text: str
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class SynthesisPlan:
    """The parameters of a synthesis; all of them are public.

    Attributes:
        epsilon, delta: for adding or removing one text, all rounds and labels together.
        rounds: how often the texts vote.
        picks: parents of each round, and examples of each label at the end.
        population: candidates of each round and label.
        domain: how many candidates with the most votes can be picked; None is all of them.

    >>> plan = SynthesisPlan(epsilon=4, delta=1e-6, rounds=3, picks=8)
    >>> round(float(plan.law.epsilon), 2)
    0.32

    Raises:
        ParameterError: a value breaks its rule.
        MissingPackage: dp-accounting is not installed.
    """

    epsilon: float = 4.0
    delta: float = 1e-6
    rounds: int = 3
    picks: int = 6
    population: int = 64
    domain: int | None = None

    def __post_init__(self) -> None:
        for name in ("rounds", "picks"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} must be >= 1, got {getattr(self, name)}")
        if self.population <= self.picks:
            raise ParameterError(
                f"population must be > picks ({self.picks}), got {self.population}"
            )
        if self.domain is not None and not self.picks <= self.domain <= self.population:
            raise ParameterError(
                f"domain must be from {self.picks}, the picks, to {self.population}, the "
                f"population, got {self.domain}"
            )
        _ = self.shares  # raises

    @property
    def limited(self) -> bool:
        """Tell if some candidates cannot be picked."""
        return self.domain is not None and self.domain < self.population

    @cached_property
    def shares(self) -> Shares:
        """Return what each pick may cost."""
        return divide_budget(
            self.epsilon, self.delta, rounds=self.rounds, picks=self.picks, limited=self.limited
        )

    @property
    def law(self) -> LimitedDomain:
        """Return the law of one round's picks."""
        shares = self.shares
        if not self.limited:
            return LimitedDomain(shares.pick, self.picks)
        return LimitedDomain(shares.pick, self.picks, self.domain, shares.round_delta)

    def describe(self) -> dict[str, Any]:
        """Return the guarantee and the figures that it follows from, JSON-ready."""
        shares = self.shares
        # what was set, which is never below what is kept: a rounded figure could be
        epsilon, delta = f"{self.epsilon:.10g}", f"{self.delta:.10g}"
        kept = f"({epsilon}, {delta})" if shares.total.delta else epsilon
        return {
            "statement": (
                f"all examples together are {kept}-DP with respect to adding or removing one "
                "private text"
            ),
            "unit": "text",
            "epsilon": shares.total.epsilon,
            "delta": shares.total.delta,
            "bound": shares.total.name,
            "epsilon_of_a_pick": float(shares.pick),
            "delta_of_a_round": shares.round_delta,
            "rounds": self.rounds,
            "picks": self.picks,
            "population": self.population,
            "domain": self.domain if self.limited else self.population,
        }


def synthesize(
    private: Mapping[str | None, Sequence[str]],
    plan: SynthesisPlan,
    encoder: Encoder,
    choose_writer: Callable[[str | None], Writer],
    rng: np.random.Generator,
    advance: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> list[Example]:
    """Return examples of each label, in the order in which they were picked.

    Args:
        private: the texts of each label. The labels are public, and a text has one label: then
            one text changes the votes of one label, and the labels' costs do not add up.
        plan: the parameters.
        encoder: gives the vectors; it must give a text the same vector in any company.
        choose_writer: returns the writer of a label's candidates.
        rng: the noise of the picks.
        advance: is called with the stage, how much of it is done, and of how much.
    """
    total = sum(map(len, private.values()))
    done = 0

    def count_text() -> None:
        nonlocal done
        done += 1
        advance("texts", done, total)

    made: list[Example] = []
    for turn, (label, texts) in enumerate(private.items()):
        vectors = encode_texts(texts, encoder, count_text)

        def count_round(number: int, turn: int = turn) -> None:
            advance("rounds", turn * plan.rounds + number, len(private) * plan.rounds)

        picked = _evolve(vectors, plan, encoder, choose_writer(label), rng, count_round)
        made.extend(Example(text, label) for text in picked)
    return made


def _evolve(
    vectors: Sequence[NDArray[np.float32]],
    plan: SynthesisPlan,
    encoder: Encoder,
    writer: Writer,
    rng: np.random.Generator,
    count_round: Callable[[int], None],
) -> list[str]:
    """Return what is picked in the last round of one label."""
    law = plan.law
    population = writer.begin(plan.population)
    for number in range(1, plan.rounds + 1):
        # one by one, so that a candidate has the same vector in every round
        candidates = np.array(encode_texts(population, encoder))
        picked = [population[i] for i in law.draw(count_votes(vectors, candidates), rng)]
        count_round(number)
        if number == plan.rounds:
            break
        if picked:
            made = writer.vary(picked, plan.population - len(picked))
            population = list(dict.fromkeys([*picked, *made]))
    return picked
