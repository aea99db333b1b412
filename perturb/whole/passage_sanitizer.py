"""The common part of sanitizers that release passages of a public codebook in a text's place."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from perturb.errors import CodebookError, ParameterError, ReleaseError
from perturb.release import (
    EMPTY,
    Guarantee,
    Known,
    Link,
    Perturbation,
    Protected,
    Receipt,
    Unit,
    format_upper,
)
from perturb.rng import secure_generator
from perturb.sanitizer import Parameters, Resources, Sanitizer
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.whole.codebook import Codebook, load_codebook
from perturb.whole.encoder import SERVER, AsyncEncoder, Encoder, StaticEncoder, load_encoder
from perturb.work import offload

__all__ = ["SENT", "CodebookParameters", "PassageSanitizer"]

SMALL = 30_000  # passages that are compared with a text in less than a millisecond
SENT = "that a text was sent, and when"


@dataclass(frozen=True, kw_only=True)
class CodebookParameters(Parameters):
    """The parameters of every sanitizer that has a codebook. Subclasses add their own.

    Attributes:
        epsilon: of one protected unit, see the sanitizer's guarantee.
        codebook: path of a codebook; None is the bundled one.
    """

    epsilon: float = 12.0
    codebook: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.codebook is not None and not isinstance(self.codebook, str):
            raise ParameterError(
                f"codebook must be the path of a file, got {type(self.codebook).__name__}"
            )

    def check_count(self, name: str, least: int = 1, most: int | None = None) -> None:
        """Check that a parameter is a whole number in its range.

        Raises:
            ParameterError: it is not.
        """
        value = getattr(self, name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ParameterError(f"{name} must be a whole number, got {type(value).__name__}")
        if value < least:
            raise ParameterError(f"{name} must be >= {least}, got {value}")
        if most is not None and value > most:
            raise ParameterError(f"{name} must be <= {most}, got {value}")


class PassageSanitizer(Sanitizer):
    """Release passages of a codebook in place of a text. Subclasses choose them.

    Args:
        codebook: the passages.
        encoder: gives a text's vector; the codebook was made with it. With one that asks a
            server, texts are released by `release` only.
        parameters: of `parameter_type`.
        vocabulary: for counting the text's tokens by class.
        max_tokens: longer texts, in cl100k tokens, are refused.

    Raises:
        CodebookError: the codebook was made with another encoder.
    """

    shows = "passages"
    unit: ClassVar[Protected] = "document"
    false_alarm: ClassVar[float] = 0.0  # every honest release is passages of the codebook

    def __init__(
        self,
        codebook: Codebook,
        encoder: Encoder | AsyncEncoder,
        parameters: Any,
        vocabulary: Vocabulary,
        *,
        max_tokens: int | None = None,
    ) -> None:
        if codebook.facts["encoder"] != encoder.identity:
            raise CodebookError(
                f"the codebook was made with the encoder {codebook.facts['encoder']}, "
                f"not {encoder.identity}: build it again"
            )
        self.codebook = codebook
        self.parameters = parameters
        self._encoder = encoder
        self._vocabulary = vocabulary
        self._max_tokens = max_tokens
        self.brief = isinstance(encoder, StaticEncoder) and len(codebook) <= SMALL

    @classmethod
    def build(cls, parameters: Any, resources: Resources) -> Self:
        codebook = load_codebook(parameters.codebook)
        return cls(
            codebook,
            _find_encoder(codebook, resources.encoder),
            parameters,
            resources.table.vocabulary,
            max_tokens=resources.max_tokens,
        )

    def identity(self) -> dict[str, Any]:
        return {
            "mechanism": self.name,
            "epsilon": self.parameters.epsilon,
            "codebook": self.codebook.sha256,
            "encoder": self.codebook.facts["encoder"],
            **self.own_identity(),
        }

    @property
    def guarantee(self) -> Guarantee:
        epsilon = self.parameters.epsilon
        return Guarantee("ldp", epsilon, epsilon, self.state(), self.unit)

    @abstractmethod
    def state(self) -> str:
        """Return the guarantee in one sentence."""

    def state_of_document(self, subject: str = "the release is") -> str:
        """Return the sentence for one ε of the whole text; `subject` names what is ε-LDP."""
        epsilon = format_upper(self.parameters.epsilon)
        return (
            f"this text as a whole: ε = {epsilon}, whatever its length: {subject} "
            f"{epsilon}-LDP with respect to replacing the whole document by any other that is "
            "not empty, given the public codebook; k texts cost k times as much"
        )

    def bound_attacks(self, odds: float) -> dict[str, float]:
        """Return the best chance to tell two units apart, and to name one of 1,000, where no
        probability ratio is above `odds`."""
        return {
            f"two_{self.unit}s_told_apart": odds / (odds + 1),
            f"one_of_1000_{self.unit}s_named": odds / (odds + 999),
        }

    @abstractmethod
    def own_identity(self) -> dict[str, Any]:
        """Return what a release depends on beside ε, the codebook and the encoder."""

    def parts(self, text: str) -> list[str]:
        """Return the texts whose vectors the choice reads: the text as a whole."""
        return [text]

    @abstractmethod
    def choose(self, vectors: NDArray[np.float32], rng: np.random.Generator) -> tuple[int, ...]:
        """Return the passages that are released for a text, by their indices in the codebook.

        Args:
            vectors: of the text's parts, float32 (n, d).
            rng: the noise.
        """

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        del link, known  # nothing is replaced part by part
        tokens = self._vocabulary.encode(text, at_most=self._max_tokens)
        return self._choose_release(text, tokens, self.encode(self.parts(text)), rng)

    async def release(
        self, text: str, link: Link | None = None, known: Known = EMPTY
    ) -> Perturbation:
        encoder = self._encoder
        if callable(encoder):
            return await super().release(text, link, known)
        tokens, parts = await offload(False, self._read, text)
        vectors = await encoder.encode(parts, self.codebook.vectors.shape[1])
        return await offload(False, self._choose_release, text, tokens, vectors)

    def encode(self, parts: list[str]) -> NDArray[np.float32]:
        """Return the vector of each part, float32 (n, d), encoded by itself, so that no part's
        vector depends on the others.

        Raises:
            ParameterError: the encoder asks a server, which `release` alone does.
        """
        if not callable(self._encoder):
            raise ParameterError(
                "this codebook's encoder asks a server: release texts through the proxy"
            )
        empty = np.empty((0, self.codebook.vectors.shape[1]), dtype=np.float32)
        return np.concatenate([empty, *(self._encoder([part]) for part in parts)])

    def _read(self, text: str) -> tuple[NDArray[np.uint32], list[str]]:
        return self._vocabulary.encode(text, at_most=self._max_tokens), self.parts(text)

    def _choose_release(
        self,
        text: str,
        tokens: NDArray[np.uint32],
        vectors: NDArray[np.float32],
        rng: np.random.Generator | None = None,
    ) -> Perturbation:
        chosen = self.choose(vectors, rng or secure_generator())
        passages = tuple(map(self.codebook.passage, chosen))
        return Perturbation("\n\n".join(passages), passages, self._receipt(text, tokens))

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        """Return the text as one unit, whatever `least` is: it is read as a whole. White space is
        a text like any other, because no release may show that a text is blank."""
        del least
        self._vocabulary.encode(text, at_most=self._max_tokens)
        return [Unit(text)] if text else []

    def verify(self, raw: str, released: Perturbation) -> None:
        """Check that the release is as many passages of the codebook as are chosen for a text,
        byte for byte."""
        del raw  # any text may get any passage
        if released.text != "\n\n".join(released.words):
            raise ReleaseError("a released text holds more than passages of the codebook")
        found = tuple(map(self.codebook.find, released.words))
        if None in found:
            raise ReleaseError("a released text is not a passage of the codebook")
        self.check_places(tuple(place for place in found if place is not None))

    def check_places(self, places: tuple[int, ...]) -> None:
        """Check the released passages by their indices; one is released unless this is extended.

        Raises:
            ReleaseError: these passages are never released together.
        """
        if len(places) != 1:
            raise ReleaseError("a released text has another number of passages than choices")

    def statistics(self) -> dict[str, float]:
        """Return public figures of the draw for the receipt."""
        return {}

    def count_units(self, text: str) -> int:
        """Return how many protected units a text has: 1 where the unit is the document."""
        del text
        return 1

    def _receipt(self, text: str, tokens: NDArray[np.uint32]) -> Receipt:
        classes = self._vocabulary.count_classes(tokens)
        guarantee, identity = self.guarantee, self.identity()
        return Receipt(
            mechanism=identity.pop("mechanism"),
            table="none",
            parameters=identity,
            tokens=classes,
            treatment=dict.fromkeys(classes, "not sent: a public passage leaves instead"),
            released=1,
            statistics=self.statistics(),
            guarantee=guarantee.kind,
            statement=guarantee.statement,
            epsilon_nominal=guarantee.nominal,
            epsilon_per_token=guarantee.epsilon,
            epsilon_per_document=guarantee.epsilon * self.count_units(text),
            unbounded=0,
            reveals=self.reveals(),
            unit=guarantee.unit,
        )

    def reveals(self) -> tuple[str, ...]:
        """Return the facts about a text that every release shows."""
        return (SENT,)


def _find_encoder(codebook: Codebook, server: AsyncEncoder | None) -> Encoder | AsyncEncoder:
    """Return the encoder that a codebook names; a server is the operator's, never the file's.

    Raises:
        CodebookError: it names a server's model, and there is no server.
        TableError: its model or the package for it is not there.
    """
    name = str(codebook.facts["encoder"].get("encoder", ""))
    if name != SERVER:
        return load_encoder(name)
    if server is None:
        raise CodebookError(
            "the codebook was made with the embedding model "
            f"{codebook.facts['encoder'].get('model')!r} of a server: serve it by the local "
            "server, and set local.embeddings_model to it"
        )
    return server
