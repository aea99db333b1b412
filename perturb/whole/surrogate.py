"""surrogate: a public passage on a related subject leaves in place of the private text.

A private choice (perturb.whole.choice) picks the passage from a codebook by the whole text's
vector, so one ε holds for the text as a whole, whatever its length.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError, ReleaseError
from perturb.registry import register
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.whole.choice import (
    MAX_EPSILON,
    ChoiceProof,
    PrivateChoice,
    choose_near_count,
    find_nearest,
)
from perturb.whole.codebook import Codebook
from perturb.whole.encoder import AsyncEncoder, Encoder
from perturb.whole.passage_sanitizer import SENT, CodebookParameters, PassageSanitizer

__all__ = ["Surrogate", "SurrogateParameters"]

MOST_CHOICES = 64  # passages times sections


@dataclass(frozen=True, kw_only=True)
class SurrogateParameters(CodebookParameters):
    """The parameters, validated.

    Attributes:
        epsilon: ε of the whole text; 0 ≤ ε ≤ 24 for each choice that is made. At 0 the choices
            do not depend on the text.
        codebook: path of a codebook; None is the bundled one.
        passages: how many passages leave, one from each of as many fixed parts of the codebook.
        sections: into how many equal parts the text is cut; each gets its own passages. Neither
            number depends on the text.
    """

    may_be_zero = True
    passages: int = 1
    sections: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_count("passages")
        self.check_count("sections")
        if self.choices > MOST_CHOICES:
            raise ParameterError(
                f"passages times sections must be <= {MOST_CHOICES}, got {self.choices}"
            )
        if self.epsilon / self.choices > MAX_EPSILON:
            raise ParameterError(
                f"epsilon must be <= {MAX_EPSILON:g} for each of {self.choices} choices, "
                f"got {self.epsilon:g}"
            )

    @property
    def choices(self) -> int:
        """Return how many choices are made for a text."""
        return self.passages * self.sections


@register
class Surrogate(PassageSanitizer):
    """Release public passages in place of a text.

    Args:
        codebook: the passages.
        encoder: gives the text's vector; the codebook was made with it.
        parameters: ε, and how many choices share it.
        vocabulary: for counting the text's tokens by class.
        max_tokens: longer texts, in cl100k tokens, are refused.

    Raises:
        CodebookError: the codebook was made with another encoder.
        ParameterError: the codebook has too few passages.
    """

    name = "surrogate"
    summary = "a public passage on a related subject leaves instead; one ε for the whole text"
    about = (
        "A private choice picks a public passage from a codebook by the whole text's vector, and "
        "the passage leaves in the text's place: no word, number or layout of the text does. ε "
        "is of the text as a whole, whatever its length, with respect to replacing it by any "
        "other text; at ε = 0 any passage leaves, and nothing of the text does. Pick it where a "
        "proof for whole documents is wanted, and where general material on the subject, or an "
        "example of the task, helps the local model."
    )
    parameter_type = SurrogateParameters
    certifiable = True
    parameters: SurrogateParameters

    def __init__(
        self,
        codebook: Codebook,
        encoder: Encoder | AsyncEncoder,
        parameters: SurrogateParameters,
        vocabulary: Vocabulary,
        *,
        max_tokens: int | None = None,
    ) -> None:
        super().__init__(codebook, encoder, parameters, vocabulary, max_tokens=max_tokens)
        if len(codebook) < 2 * parameters.passages:
            raise ParameterError(
                f"passages must be <= {len(codebook) // 2} for this codebook, "
                f"got {parameters.passages}"
            )
        each = Fraction(parameters.epsilon) / parameters.choices  # exactly
        self._parts = [
            slice(first, None, parameters.passages) for first in range(parameters.passages)
        ]
        sizes = [len(range(*part.indices(len(codebook)))) for part in self._parts]
        self.laws = tuple(
            PrivateChoice(
                candidates=size,
                near=choose_near_count(_thin(codebook.profile, parameters.passages), size, each),
                epsilon=each,
            )
            for size in sizes
        )

    def state(self) -> str:
        if self.parameters.epsilon == 0:
            return (
                "this text as a whole: ε = 0: public passages leave that were drawn uniformly, "
                "whatever the text is; nothing of the document left, only that there is one"
            )
        return self.state_of_document()

    def own_identity(self) -> dict[str, Any]:
        return {
            "passages": self.parameters.passages,
            "sections": self.parameters.sections,
            "near": [law.near for law in self.laws],
        }

    def parts(self, text: str) -> list[str]:
        """Return the text's sections, equal in words."""
        return _sections(text, self.parameters.sections)

    def choose(self, vectors: NDArray[np.float32], rng: np.random.Generator) -> tuple[int, ...]:
        return tuple(
            part.start + part.step * self._choose(vector, part, law, rng)
            for vector in vectors
            for part, law in zip(self._parts, self.laws, strict=True)
        )

    def _choose(
        self,
        vector: NDArray[np.float32],
        part: slice,
        law: PrivateChoice,
        rng: np.random.Generator,
    ) -> int:
        return law.draw(find_nearest(self.codebook.similarities(vector, part), law.near), rng)

    def check_places(self, places: tuple[int, ...]) -> None:
        """Check that there is one passage from each part of the codebook for every section."""
        if len(places) != self.parameters.choices:
            raise ReleaseError("a released text has another number of passages than choices")
        for turn, place in enumerate(places):
            if place % self.parameters.passages != turn % len(self._parts):
                raise ReleaseError("a released text is not a passage of its part of the codebook")

    def dominating_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the pair of one choice; None where several choices share ε."""
        return self.laws[0].dominating_pair() if self.parameters.choices == 1 else None

    def proof(self) -> ChoiceProof:
        laws = self.laws * self.parameters.sections
        return ChoiceProof(laws, f"{len(self.codebook):,} public passages of a codebook")

    def figures(self) -> dict[str, Any]:
        law, ratio = self.laws[0], self.proof().ratio_of({})
        return {
            "passages": len(self.codebook),
            "choices": self.parameters.choices,
            "epsilon_of_a_choice": float(law.epsilon),
            "epsilon_proved": math.log(ratio),
            "nearest_favoured": law.near,
            "nearest_mass": law.near_mass,
            "expected_rank": law.expected_rank,
            "bits_of_a_choice": law.capacity,
            **self.bound_attacks(float(ratio)),
        }

    def statistics(self) -> dict[str, float]:
        return {"near_mass": round(self.laws[0].near_mass, 6)}

    def reveals(self) -> tuple[str, ...]:
        return (f"{SENT}; how many passages are chosen for it is public",)


def _thin(profile: NDArray[np.float64], every: int) -> NDArray[np.float64]:
    """Return the profile of one of `every` equal random parts of a codebook."""
    return np.append(profile[:-1][::every], profile[-1])


def _sections(text: str, count: int) -> list[str]:
    """Cut a text into `count` equal parts, at words; some may be empty."""
    if count == 1:
        return [text]
    words = text.split()
    ends = [len(words) * i // count for i in range(count + 1)]
    return [" ".join(words[a:b]) for a, b in itertools.pairwise(ends)]
