"""deep_candidate: a public passage that is deep among the text's own sentences leaves instead.

After Meehan, Mrini and Chaudhuri (ACL 2022, "Sentence-level Privacy for Document Embeddings").
The unit is one sentence: two texts are neighbours if one comes from the other by replacing, adding
or removing a sentence, as `perturb.text.sentences` cuts them. The proof (perturb.whole.depth)
needs that a sentence's projections depend on that sentence alone. So each sentence is encoded by
itself: in a batch, padding or rounding could make its vector depend on the others. A server may
compute requests together, so its embeddings are no encoder here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import CodebookError, ParameterError
from perturb.registry import register
from perturb.release import format_upper
from perturb.rng import seeded_generator
from perturb.text.sentences import split_sentences
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.whole.codebook import ROWS, Codebook
from perturb.whole.depth import DepthLaw, DepthProof, measure_depths
from perturb.whole.encoder import AsyncEncoder, Encoder
from perturb.whole.passage_sanitizer import SENT, CodebookParameters, PassageSanitizer
from perturb.whole.recoder import fit_recoder

__all__ = ["DeepCandidate", "DeepCandidateParameters"]

LARGEST_EPSILON = 200.0
MOST = 1024  # lines
LINES_SEED = 2022  # the lines are public
# Of 0 to 32 dimensions and 4 to 32 lines, eight of each gave the nearest passages for 60 public
# texts of 6 to 20 sentences at ε = 8, 12 and 16.
DIMENSIONS = LINES = 8


@dataclass(frozen=True, kw_only=True)
class DeepCandidateParameters(CodebookParameters):
    """The parameters, validated.

    Attributes:
        epsilon: ε of one sentence, 0 < ε ≤ 200; a text of k sentences has kε.
        codebook: path of a codebook; None is the bundled one.
        projections: on how many random public lines depth is measured. More lines are nearer to
            Tukey's depth, and fewer passages are deep.
        dimensions: of the recoder that vectors go through first; 0 is no recoder.
    """

    projections: int = LINES
    dimensions: int = DIMENSIONS

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_count("projections", most=MOST)
        self.check_count("dimensions", least=0)
        if self.epsilon > LARGEST_EPSILON:
            raise ParameterError(
                f"epsilon must be <= {LARGEST_EPSILON:g} for deep_candidate, got {self.epsilon:g}"
            )


@register
class DeepCandidate(PassageSanitizer):
    """Release a passage that is deep among a text's sentences.

    Args:
        codebook, encoder, vocabulary, max_tokens: see `PassageSanitizer`.
        parameters: ε, lines and dimensions.

    Raises:
        CodebookError: the codebook was made with another encoder, or with a server's.
        ParameterError: the encoder has fewer dimensions.
    """

    name = "deep_candidate"
    summary = "a public passage deep among the text's sentences; ε for one sentence, proved"
    about = (
        "Candidates are the passages of a codebook. A candidate's score is its approximate Tukey "
        "depth among the text's own sentences, on a few public random lines and after a linear "
        "recoder fitted to the codebook; the exponential mechanism picks one, in integer weights "
        "(Meehan, Mrini and Chaudhuri, ACL 2022). ε is for replacing, adding or removing one "
        "sentence: a document of k sentences has kε. Certifiable. A text of two or three "
        "sentences gets an almost random passage. For comparison with `surrogate`, whose passages "
        "are nearer and whose ε is of the whole text."
    )
    parameter_type = DeepCandidateParameters
    certifiable = True
    bounded_range = True  # r^depth is an exponential mechanism: depths differ by -1 to 1
    grouped = True
    unit = "sentence"
    parameters: DeepCandidateParameters

    def __init__(
        self,
        codebook: Codebook,
        encoder: Encoder | AsyncEncoder,
        parameters: DeepCandidateParameters,
        vocabulary: Vocabulary,
        *,
        max_tokens: int | None = None,
    ) -> None:
        super().__init__(codebook, encoder, parameters, vocabulary, max_tokens=max_tokens)
        if not callable(encoder):
            raise CodebookError(
                "deep_candidate needs a codebook whose encoder runs in this process: a server may "
                "compute the vectors of several sentences together"
            )
        if parameters.dimensions > codebook.vectors.shape[1]:
            raise ParameterError(
                f"dimensions must be <= {codebook.vectors.shape[1]} for this codebook, "
                f"got {parameters.dimensions}"
            )
        self.law = DepthLaw(Fraction(parameters.epsilon))
        self._lines, self._candidates = _project_codebook(
            codebook, parameters.dimensions, parameters.projections
        )

    def state(self) -> str:
        epsilon = format_upper(self.parameters.epsilon)
        return (
            f"each sentence: ε = {epsilon}: the release is {epsilon}-DP with respect to "
            "replacing, adding or removing one sentence of the document, given the public "
            f"codebook; changing k sentences costs k times {epsilon}"
        )

    def own_identity(self) -> dict[str, Any]:
        return {
            "projections": self.parameters.projections,
            "dimensions": self.parameters.dimensions,
        }

    def depths(self, text: str) -> NDArray[np.int64]:
        """Return the depth of each candidate among a text's sentences, int64 (N,); 0 for all where
        there is no sentence."""
        return self._measure(self.encode(self.parts(text)))

    def parts(self, text: str) -> list[str]:
        """Return the text's sentences."""
        return split_sentences(text)

    def choose(self, vectors: NDArray[np.float32], rng: np.random.Generator) -> tuple[int, ...]:
        return (self.law.draw(self._measure(vectors), rng),)

    def _measure(self, vectors: NDArray[np.float32]) -> NDArray[np.int64]:
        if not len(vectors):
            return np.zeros(len(self.codebook), dtype=np.int64)
        # a product of matrices may round a row otherwise beside others; a value that is no
        # number would have no place in an order
        places = np.array([vector @ self._lines for vector in vectors])
        return measure_depths(self._candidates, np.nan_to_num(places.T))

    def count_units(self, text: str) -> int:
        """Return the number of sentences, and 1 where there is none: adding one costs ε."""
        return max(1, len(split_sentences(text)))

    def proof(self) -> DepthProof:
        return DepthProof(self.law, len(self.codebook))

    def figures(self) -> dict[str, Any]:
        ratio = self.proof().ratio_of({})
        return {
            "passages": len(self.codebook),
            "projections": self.parameters.projections,
            "dimensions": self.parameters.dimensions,
            "epsilon_proved": math.log(ratio),
            "weight_of_one_more_step": float(self.law.ratio),
            **self.bound_attacks(float(ratio)),
        }

    def reveals(self) -> tuple[str, ...]:
        return (
            SENT,
            "what the sentences have in common, and how many there are: ε hides one sentence "
            "among the others, and the text as a whole only ε times its sentences",
        )


@lru_cache(maxsize=4)
def _project_codebook(
    codebook: Codebook, dimensions: int, projections: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the map from vectors to places on the lines, float32 (d, p), and the candidates'
    places, float32 (p, N)."""
    d = codebook.vectors.shape[1]
    normal = seeded_generator(LINES_SEED).standard_normal((dimensions or d, projections))
    lines: NDArray[np.float32] = normal.astype(np.float32)
    if dimensions:
        lines = fit_recoder(codebook, dimensions) @ lines
    places = np.empty((projections, len(codebook)), dtype=np.float32)
    for start in range(0, len(codebook), ROWS):
        part = slice(start, start + ROWS)
        rows = codebook.vectors[part].astype(np.float32) * codebook.scales[part, None]
        places[:, part] = (rows @ lines).T
    return lines, places
