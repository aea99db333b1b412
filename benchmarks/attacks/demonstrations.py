"""Synthetic demonstrations for prompts, and the likelihood of their releases.

Every template has the same number of words, so that its length reveals nothing and any two
demonstrations are neighbours at a known distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perturb import Mechanism, Vocabulary

__all__ = ["Channel", "Population", "build_population"]

Words = NDArray[np.integer]
CITIES = "Boston/London/Paris/Chicago/Houston/Washington/Florida/Texas"
DAYS = "Monday/Tuesday/Wednesday/Thursday/Friday/Saturday/Sunday"
MONTHS = "January/March/April/June/July/August/October/December"
NAMES = "James/Mary/Robert/David/Thomas/Peter/Daniel/Jack"
JOBS = "teacher/lawyer/driver/judge/doctor/student/officer/artist"
ILLS = "cancer/pain/injury/disease/stress/surgery/illness/blood"
GOODS = "phone/camera/book/chair/car/bike/guitar/computer"
MOODS = "happy/sad/proud/glad/sick/alone/afraid/sorry"
TEMPLATES = (
    f"{NAMES} from {CITIES} was treated for {ILLS} by a {JOBS} on {DAYS} again",
    f"the {JOBS} told {NAMES} in {MONTHS} that the {ILLS} had come back again",
    f"{NAMES} bought a {GOODS} in {CITIES} and felt {MOODS} about it until {DAYS}",
    f"please send the {GOODS} to {NAMES} in {CITIES} before the end of {MONTHS}",
    f"my {JOBS} friend {NAMES} is {MOODS} since the move to {CITIES} in {MONTHS}",
    f"on {DAYS} a {JOBS} lost his {GOODS} at the station in {CITIES} again",
    f"the review says the {GOODS} made {NAMES} very {MOODS} after {ILLS} and rest",
    f"{NAMES} will meet the {JOBS} in {CITIES} on {DAYS} to talk about {ILLS}",
)


@dataclass(frozen=True)
class Population:
    """Define the law of demonstrations: a template, uniformly, then a word for each of its places,
    uniformly and independently.

    Attributes:
        choices: int (templates, n, most), places in V; entries beyond `sizes` are unused.
        sizes: int (templates, n), the number of choices.
    """

    choices: Words
    sizes: Words

    @classmethod
    def from_choices(cls, templates: Sequence[Sequence[Sequence[int]]]) -> Population:
        """Build a population from the choices for each place of each template, as places in V. All
        templates have the same length."""
        sizes = np.array([[len(words) for words in template] for template in templates])
        choices = np.zeros((*sizes.shape, int(sizes.max())), dtype=np.int64)
        for t, template in enumerate(templates):
            for i, words in enumerate(template):
                choices[t, i, : len(words)] = words
        return cls(choices, sizes)

    @property
    def length(self) -> int:
        """Return the number of words in a demonstration."""
        return int(self.sizes.shape[1])

    def draw(self, count: int, rng: np.random.Generator) -> Words:
        """Draw demonstrations, int (count, length)."""
        template = rng.integers(len(self.sizes), size=(count, 1))
        place = np.arange(self.length)
        words: Words = self.choices[template, place, rng.integers(self.sizes[template[:, 0]])]
        return words

    def neighbours(self, count: int, rng: np.random.Generator) -> tuple[Words, Words]:
        """Draw pairs of words in which two neighbouring demonstrations differ, int (count,) both:
        a place with a choice, uniformly, then two of its words."""
        template, place = np.nonzero(self.sizes > 1)
        which = rng.integers(len(template), size=count)
        template, place = template[which], place[which]
        size = self.sizes[template, place]
        one = rng.integers(size)
        other = (one + rng.integers(1, size)) % size
        return self.choices[template, place, one], self.choices[template, place, other]


def build_population(vocabulary: Vocabulary) -> Population:
    """Return the demonstrations of TEMPLATES, whose words are all in V."""
    place = {word: i for i, word in enumerate(vocabulary.words)}
    return Population.from_choices(
        [
            [[place[word] for word in words.split("/")] for words in template.split()]
            for template in TEMPLATES
        ]
    )


class Channel:
    """Compute once what an attacker who knows mechanism and population needs: P(y | x) of the
    words that demonstrations are made of, and the law of a released demonstration."""

    def __init__(self, mechanism: Mechanism, source: Population) -> None:
        used = np.unique(source.choices)
        rows = mechanism.channel(used)[0].astype(np.float32)
        chosen = np.searchsorted(used, source.choices)
        beyond = np.arange(source.choices.shape[2]) >= source.sizes[..., None]
        with np.errstate(divide="ignore"):  # a word that is never released: log 0 is −∞
            self._log = np.log(rows)
            self._law = np.log(
                np.array(
                    [
                        [
                            rows[words[~out]].mean(axis=0)
                            for words, out in zip(template, outs, strict=True)
                        ]
                        for template, outs in zip(chosen, beyond, strict=True)
                    ]
                )
            )
        self._used = used

    def words(self, raw: Words, released: Words) -> NDArray[np.float64]:
        """Return log P(y | x) of each word; the shapes broadcast."""
        found: NDArray[np.float64] = self._log[np.searchsorted(self._used, raw), released]
        return found.astype(np.float64)

    def demonstrations(self, released: Words) -> NDArray[np.float64]:
        """Return log P(y) of released demonstrations over the population, int (..., n) → (...)."""
        place = np.arange(released.shape[-1])
        each = self._law[:, place, released].sum(axis=-1, dtype=np.float64)
        whole: NDArray[np.float64] = np.logaddexp.reduce(each, axis=0) - np.log(len(each))
        return whole
