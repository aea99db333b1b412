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

from perturb.errors import CodebookError, ParameterError, ReleaseError
from perturb.registry import register
from perturb.release import EMPTY, Guarantee, Known, Link, Perturbation, Receipt, Unit
from perturb.rng import secure_generator
from perturb.sanitizer import Parameters, Resources, Sanitizer
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.whole.choice import (
    MAX_EPSILON,
    ChoiceProof,
    PrivateChoice,
    choose_near_count,
    find_nearest,
)
from perturb.whole.codebook import Codebook, load_codebook
from perturb.whole.encoder import Encoder, load_encoder

__all__ = ["Surrogate", "SurrogateParameters"]

MOST_CHOICES = 64  # passages times sections


@dataclass(frozen=True, kw_only=True)
class SurrogateParameters(Parameters):
    """Hold and validate the parameters.

    Attributes:
        epsilon: ε of the whole text; 0 < ε ≤ 24 for each choice that is made.
        codebook: path of a codebook; None is the bundled one.
        passages: how many passages leave, one from each of as many fixed parts of the codebook.
        sections: into how many equal parts the text is cut; each gets its own passages. Neither
            number depends on the text.
    """

    epsilon: float = 12.0
    codebook: str | None = None
    passages: int = 1
    sections: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("passages", "sections"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ParameterError(f"{name} must be a whole number, got {type(value).__name__}")
            if value < 1:
                raise ParameterError(f"{name} must be >= 1, got {value}")
        if self.choices > MOST_CHOICES:
            raise ParameterError(
                f"passages times sections must be <= {MOST_CHOICES}, got {self.choices}"
            )
        if self.epsilon / self.choices > MAX_EPSILON:
            raise ParameterError(
                f"epsilon must be <= {MAX_EPSILON:g} for each of {self.choices} choices, "
                f"got {self.epsilon:g}"
            )
        if self.codebook is not None and not isinstance(self.codebook, str):
            raise ParameterError(
                f"codebook must be the path of a file, got {type(self.codebook).__name__}"
            )

    @property
    def choices(self) -> int:
        """Return how many choices are made for a text."""
        return self.passages * self.sections


@register
class Surrogate(Sanitizer):
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
        "other text. Pick it where a proof for whole documents is wanted, and where general "
        "material on the subject helps the local model."
    )
    parameter_type = SurrogateParameters
    certifiable = True
    shows = "passages"
    false_alarm = 0.0  # every honest release is passages of the codebook

    def __init__(
        self,
        codebook: Codebook,
        encoder: Encoder,
        parameters: SurrogateParameters,
        vocabulary: Vocabulary,
        *,
        max_tokens: int | None = None,
    ) -> None:
        if codebook.facts["encoder"] != encoder.identity:
            raise CodebookError(
                f"the codebook was made with the encoder {codebook.facts['encoder']}, "
                f"not {encoder.identity}: build it again"
            )
        if len(codebook) < 2 * parameters.passages:
            raise ParameterError(
                f"passages must be <= {len(codebook) // 2} for this codebook, "
                f"got {parameters.passages}"
            )
        self.codebook = codebook
        self.parameters = parameters
        self._encoder = encoder
        self._vocabulary = vocabulary
        self._max_tokens = max_tokens
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

    @classmethod
    def build(cls, parameters: SurrogateParameters, resources: Resources) -> Surrogate:
        codebook = load_codebook(parameters.codebook)
        return cls(
            codebook,
            load_encoder(str(codebook.facts["encoder"].get("encoder", ""))),
            parameters,
            resources.table.vocabulary,
            max_tokens=resources.max_tokens,
        )

    @property
    def guarantee(self) -> Guarantee:
        epsilon = self.parameters.epsilon
        return Guarantee(
            kind="ldp",
            nominal=epsilon,
            epsilon=epsilon,
            statement=(
                f"this text as a whole: ε = {epsilon:g}, whatever its length: the release is "
                f"{epsilon:g}-LDP with respect to replacing the whole document by any other, "
                "given the public codebook"
            ),
            unit="document",
        )

    def identity(self) -> dict[str, Any]:
        return {
            "mechanism": self.name,
            "epsilon": self.parameters.epsilon,
            "codebook": self.codebook.sha256,
            "encoder": self.codebook.facts["encoder"],
            "passages": self.parameters.passages,
            "sections": self.parameters.sections,
            "near": [law.near for law in self.laws],
        }

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        del link, known  # nothing is replaced part by part
        rng = rng or secure_generator()
        tokens = self._vocabulary.encode(text, at_most=self._max_tokens)
        vectors = self._encoder(_sections(text, self.parameters.sections))
        chosen = tuple(
            self.codebook.passage(part.start + part.step * self._choose(vector, part, law, rng))
            for vector in vectors
            for part, law in zip(self._parts, self.laws, strict=True)
        )
        return Perturbation("\n\n".join(chosen), chosen, self._receipt(tokens))

    def _choose(
        self,
        vector: NDArray[np.float32],
        part: slice,
        law: PrivateChoice,
        rng: np.random.Generator,
    ) -> int:
        return law.draw(find_nearest(self.codebook.similarities(vector, part), law.near), rng)

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        """Return the text as one unit, for it gets one choice, whatever `least` is."""
        self._vocabulary.encode(text, at_most=self._max_tokens)
        return super().units(text)

    def verify(self, raw: str, released: Perturbation) -> None:
        """Check that the release is passages of the codebook, byte for byte: one from each part
        for every section."""
        del raw  # any text may get any passage
        if released.text != "\n\n".join(released.words):
            raise ReleaseError("a released text holds more than passages of the codebook")
        if len(released.words) != self.parameters.choices:
            raise ReleaseError("a released text has another number of passages than choices")
        for place, passage in enumerate(released.words):
            found = self.codebook.find(passage)
            if found is None or found % self.parameters.passages != place % len(self._parts):
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
            "two_documents_told_apart": float(ratio / (ratio + 1)),
            "one_of_1000_documents_named": float(ratio / (ratio + 999)),
        }

    def _receipt(self, tokens: NDArray[np.uint32]) -> Receipt:
        classes = self._vocabulary.count_classes(tokens)
        guarantee, identity = self.guarantee, self.identity()
        return Receipt(
            mechanism=identity.pop("mechanism"),
            table="none",
            parameters=identity,
            tokens=classes,
            treatment=dict.fromkeys(classes, "not sent: a public passage leaves instead"),
            released=1,
            statistics={"near_mass": round(self.laws[0].near_mass, 6)},
            guarantee=guarantee.kind,
            statement=guarantee.statement,
            epsilon_nominal=guarantee.nominal,
            epsilon_per_token=guarantee.epsilon,
            epsilon_per_document=guarantee.epsilon,
            unbounded=0,
            reveals=(
                "that a text was sent, and when; how many passages are chosen for it is public",
            ),
            unit=guarantee.unit,
        )


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
