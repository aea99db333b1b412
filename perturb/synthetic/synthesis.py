"""Make synthetic examples of private texts, after Zhao et al.

Candidates are public, or written by a model. In each round every private text votes for the
nearest one, LimitedDomain picks parents, and candidates like them take part in the next round.
The last picks are the examples. Private texts decide by their votes alone, so all picks together
are (ε, δ)-DP for adding or removing one text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.audit.accounting import Bound, best
from perturb.errors import MissingPackage, ParameterError
from perturb.install import install_command
from perturb.synthetic.limited_domain import LimitedDomain
from perturb.synthetic.writers import Writer
from perturb.whole.encoder import Encoder

__all__ = [
    "Example",
    "Shares",
    "SynthesisPlan",
    "compose_picks",
    "count_votes",
    "divide_budget",
    "encode_texts",
    "synthesize",
]


def encode_texts(
    texts: Sequence[str], encoder: Encoder, advance: Callable[[], None] = lambda: None
) -> list[NDArray[np.float32]]:
    """Return the vector of each text, float32 (d,), encoded by itself.

    Args:
        advance: is called after each text.
    """
    vectors = []
    for text in texts:
        vectors.append(encoder([text])[0])
        advance()
    return vectors


def count_votes(
    texts: Sequence[NDArray[np.float32]], candidates: NDArray[np.float32]
) -> NDArray[np.int64]:
    """Return how many texts are nearest to each candidate, int64 (N,).

    The proof counts one vote for each text, so a vote must depend on its text and the candidates
    alone. Every text is encoded and compared by itself: in a batch, padding or rounding could make
    it depend on the others.

    Args:
        texts: vectors of length 1, float32 (d,) each. Of equally near candidates the first gets
            the vote; a vector that is not finite votes for the first candidate.
        candidates: vectors of length 1, float32 (N, d).
    """
    counts = np.zeros(len(candidates), dtype=np.int64)
    for vector in texts:
        counts[int(np.argmax(np.nan_to_num(candidates @ vector)))] += 1
    return counts


STEPS = 10_000  # ε of a pick is a multiple of 1/STEPS, rounded down


@dataclass(frozen=True)
class Shares:
    """The privacy budget of each part of a synthesis.

    Attributes:
        pick: ε of one pick.
        round_delta: δ of one round's list; 0 where every candidate can be picked.
        total: the bound for all picks together, and its name.
    """

    pick: Fraction
    round_delta: float
    total: Bound


def compose_picks(pick: Fraction, picks: int, delta: float) -> list[Bound]:
    """Return every known bound for `picks` adaptive picks together, the basic one first.

    - `basic`: Σ ε₀, with δ = 0.
    - `zCDP`: the Rényi divergences of Σ ε₀²/8, converted by Google's dp-accounting.

    Args:
        pick: ε₀ of one pick.
        delta: of the second bound; 0 leaves it out.

    Raises:
        MissingPackage: dp-accounting is not installed.
    """
    bounds = [Bound("basic", float(pick * picks), 0.0)]
    if delta > 0 and picks:
        bounds.append(Bound("zCDP", _convert(picks * float(pick) ** 2 / 8, delta), delta))
    return bounds


def divide_budget(
    epsilon: float, delta: float, *, rounds: int, picks: int, limited: bool
) -> Shares:
    """Return the largest ε of a pick with which all rounds together keep (ε, δ).

    Each pick is ε₀-bounded-range given all earlier ones (perturb.synthetic.limited_domain), and so
    ε₀²/8-zCDP (Cesar and Rogers 2021, "Bounding, Concentrating, and Truncating"). A round's list
    may show a candidate that could not be picked without one text, with probability at most δ₀;
    these add up. A text votes within its own label, so only the picks of one label count.

    Args:
        epsilon: ε of all rounds together, for adding or removing one text.
        delta: δ of all rounds together; 0 is allowed where the domain is not limited.
        rounds: how often the texts vote.
        picks: the most that are picked in a round.
        limited: whether some candidates cannot be picked. Then half of δ is theirs.

    Raises:
        ParameterError: ε or δ breaks its rule, or ε is too small for so many picks.
        MissingPackage: dp-accounting is not installed.
    """
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise ParameterError(f"epsilon must be > 0 and finite, got {epsilon:g}")
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be >= 0 and < 1, got {delta:g}")
    if limited and delta == 0:
        raise ParameterError("delta must be > 0 where domain is smaller than population, got 0")
    composed = delta / 2 if limited else delta
    count = rounds * picks

    def total(steps: int) -> Bound:
        return best(compose_picks(Fraction(steps, STEPS), count, composed))

    low, high = 0, math.ceil(epsilon * STEPS) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if total(middle).epsilon <= epsilon:
            low = middle
        else:
            high = middle
    if low == 0:
        raise ParameterError(
            f"epsilon must be larger for {rounds} rounds of {picks} picks, got {epsilon:g}"
        )
    chosen = total(low)
    round_delta = delta / 2 / rounds if limited else 0.0
    spent = chosen.delta + rounds * round_delta
    return Shares(Fraction(low, STEPS), round_delta, Bound(chosen.name, chosen.epsilon, spent))


def _convert(rho: float, delta: float) -> float:
    """Return the ε at δ of ρ-zCDP."""
    try:
        from dp_accounting.dp_event import ZCDpEvent
        from dp_accounting.rdp import RdpAccountant
    except ImportError:
        raise MissingPackage(
            f"composition over rounds needs dp-accounting: {install_command('audit')}"
        ) from None
    accountant = RdpAccountant()
    accountant.compose(ZCDpEvent(rho))
    return float(accountant.get_epsilon(delta))


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
