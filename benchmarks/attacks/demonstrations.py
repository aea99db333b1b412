"""Made-up demonstrations for prompts, and how likely they give what was released.

Every template has the same number of words, so that its length tells nothing and any two
demonstrations are neighbours at a known distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perturb import Mechanism, Vocabulary

__all__ = ["Channel", "Population", "population"]

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
    """What demonstrations are drawn from: a template, uniformly, then a word for each of its
    places, uniformly and independently.

    Attributes:
        choices: int (templates, n, most), places in V; what lies beyond `sizes` means nothing.
        sizes: int (templates, n), how many choices there are.
    """

    choices: Words
    sizes: Words

    @classmethod
    def of(cls, templates: Sequence[Sequence[Sequence[int]]]) -> Population:
        """From the choices for each place of each template, as places in V; all templates have
        one length."""
        sizes = np.array([[len(words) for words in template] for template in templates])
        choices = np.zeros((*sizes.shape, int(sizes.max())), dtype=np.int64)
        for t, template in enumerate(templates):
            for i, words in enumerate(template):
                choices[t, i, : len(words)] = words
        return cls(choices, sizes)

    @property
    def length(self) -> int:
        """Words of a demonstration."""
        return int(self.sizes.shape[1])

    def draw(self, count: int, rng: np.random.Generator) -> Words:
        """Demonstrations, int (count, length)."""
        template = rng.integers(len(self.sizes), size=(count, 1))
        place = np.arange(self.length)
        words: Words = self.choices[template, place, rng.integers(self.sizes[template[:, 0]])]
        return words

    def neighbours(self, count: int, rng: np.random.Generator) -> tuple[Words, Words]:
        """The one word in which two demonstrations differ, for the one and for the other, int
        (count,) both: a place with a choice, uniformly, then two of its words."""
        template, place = np.nonzero(self.sizes > 1)
        which = rng.integers(len(template), size=count)
        template, place = template[which], place[which]
        size = self.sizes[template, place]
        one = rng.integers(size)
        other = (one + rng.integers(1, size)) % size
        return self.choices[template, place, one], self.choices[template, place, other]


def population(vocabulary: Vocabulary) -> Population:
    """The demonstrations of TEMPLATES, whose words are all in V."""
    place = {word: i for i, word in enumerate(vocabulary.words)}
    return Population.of(
        [
            [[place[word] for word in words.split("/")] for words in template.split()]
            for template in TEMPLATES
        ]
    )


class Channel:
    """What an attacker who knows mechanism and population computes once: P(y | x) of the words
    that demonstrations are made of, and the law of a released demonstration."""

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
        """log P(y | x) of each word, the shapes broadcast."""
        found: NDArray[np.float64] = self._log[np.searchsorted(self._used, raw), released]
        return found.astype(np.float64)

    def demonstrations(self, released: Words) -> NDArray[np.float64]:
        """log P(y) of released demonstrations, int (..., n) → (...), over what the population
        draws."""
        place = np.arange(released.shape[-1])
        each = self._law[:, place, released].sum(axis=-1, dtype=np.float64)
        whole: NDArray[np.float64] = np.logaddexp.reduce(each, axis=0) - np.log(len(each))
        return whole
