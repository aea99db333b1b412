"""DP-Prompt, which releases the local model's paraphrase of a document (Utpala et
al., "Locally Differentially Private Document Generation Using Zero Shot Prompting", 2023)."""

from __future__ import annotations

import asyncio
import math
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from extraction.backends.base import Backend
from extraction.backends.openai_server import OpenAIServer
from extraction.dp_prompt.clip import Decoding, compute_temperature
from extraction.dp_prompt.paraphrase import Paraphrase, Paraphraser, build_prompt
from extraction.dp_prompt.paraphrase_server import ServerParaphraser
from extraction.dp_prompt.paraphrase_transformers import TransformersParaphraser, load_model
from extraction.errors import LocalModelUnavailable
from perturb import (
    Guarantee,
    ParameterError,
    Perturbation,
    Receipt,
    ReleaseError,
    Sanitizer,
    Unit,
    Vocabulary,
)
from perturb.registry import register
from perturb.release import EMPTY, Known, Link, format_upper
from perturb.sanitizer import FALSE_ALARM, Parameters, Resources
from perturb.work import offload

__all__ = ["DPPrompt", "PromptParameters"]

MODES = ("dp", "centred", "quasi", "topk")
PROVED = ("dp", "centred")
ENGINES = ("server", "transformers")


@dataclass(frozen=True, kw_only=True)
class PromptParameters(Parameters):
    """DP-Prompt's parameters, validated.

    Attributes:
        epsilon: ε of one generated token; it sets the temperature T = 2(b2 − b1)/ε.
        mode: `dp` clips logits to [b1, b2] and samples at T from the whole vocabulary; `centred`
            clips their difference to the logits of the same prompt without the document, for
            the engine `transformers` only (after InvisibleInk, Vinod et al. 2025); `quasi`
            samples at T and clips nothing (Meisenbacher & Matthes 2024); `topk` samples from the
            k likeliest tokens at T = 1, whatever ε is.
        clip: (b1, b2), from public text (`inferdpt privacy clip-bounds`), for `dp` and `quasi`;
            (−C, C) for `centred`, such as (−2, 2).
        max_tokens: the cap on generated tokens, the end token included.
        top_k: k, for `topk` only.
        engine: `server`, the proxy's local model; `transformers`, a model in this process.
        model: folder or name of the model, for `transformers` only.
    """

    mode: Literal["dp", "centred", "quasi", "topk"] = "dp"
    clip: tuple[float, float] | None = None
    max_tokens: int = 256
    top_k: int | None = None
    engine: Literal["server", "transformers"] = "server"
    model: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mode not in MODES:
            raise ParameterError(f"mode must be one of {', '.join(MODES)}")
        if self.engine not in ENGINES:
            raise ParameterError(f"engine must be one of {', '.join(ENGINES)}")
        if not _is_count(self.max_tokens):
            raise ParameterError("max_tokens must be an integer >= 1")
        if self.mode == "topk":
            if not _is_count(self.top_k):
                raise ParameterError("top_k must be an integer >= 1 in mode topk, such as 50")
            if self.clip is not None:
                raise ParameterError("clip must not be set in mode topk, which clips nothing")
        else:
            if self.top_k is not None:
                raise ParameterError(
                    f"top_k must not be set in mode {self.mode}: which tokens are among the top k "
                    "depends on the document"
                )
            if self.clip is None and self.mode == "centred":
                raise ParameterError("clip must be [-C, C] in mode centred, such as [-2, 2]")
            if self.clip is None:
                raise ParameterError(
                    f"clip must be [b1, b2] in mode {self.mode}; measure them on public text with "
                    "`inferdpt privacy clip-bounds`"
                )
            object.__setattr__(self, "clip", _read_bounds(self.clip))
        if self.mode == "centred" and self.engine != "transformers":
            raise ParameterError(
                "engine must be transformers in mode centred: a server does not keep two "
                "generations in step, for the prompts with and without the document"
            )
        if (self.engine == "transformers") != (self.model is not None):
            raise ParameterError(
                "model must be a folder or a name for the engine transformers, and for no other"
            )

    @property
    def server_clips(self) -> bool:
        return (self.mode, self.engine) == ("dp", "server")

    @property
    def decoding(self) -> Decoding:
        """Return how a token is drawn."""
        if self.clip is None:
            return Decoding(top_k=self.top_k)
        temperature = compute_temperature(self.clip, self.epsilon)
        bounds = self.clip if self.mode in PROVED else None
        return Decoding(temperature=temperature, bounds=bounds, centred=self.mode == "centred")


@register
class DPPrompt(Sanitizer):
    """Paraphrase documents.

    With clipping, each generated token is drawn from a distribution within e^ε of that for any
    other document after the same generated tokens. So n tokens are within e^{nε}. The number of
    tokens also depends on the document, and a guarantee must hold for every length. So the
    document's ε is the cap times ε, not the number of drawn tokens times ε. For the same reason a
    document that leaves no room for the cap in the model's context is refused rather than cut.

    Centred clipping bounds the same ratio: two documents share the public logits, and their
    clipped differences to them lie in the same interval. It costs a second pass for each token.

    Args:
        paraphraser: the local model.
        parameters: mode, ε, bounds and cap.
        vocabulary: for counting the document's tokens by class.
        document_tokens: longer documents (in cl100k tokens) are refused.
    """

    name = "dp_prompt"
    summary = "the local model paraphrases the document; ε-LDP per generated token where it clips"
    about = (
        "The local model paraphrases the document token by token, its logits clipped to [b₁, b₂] "
        "and divided by a temperature T (Utpala et al., Findings of EMNLP 2023; Meisenbacher and "
        "Matthes 2024). In mode `dp` a document of n generated tokens costs 2n(b₂ − b₁)/T. Mode "
        "`centred` clips the difference to the logits of the same prompt without the document, at "
        "the same cost (after InvisibleInk, Vinod et al. 2025): with a small interval the text is "
        "near what the model writes without a document, and not near random tokens. It takes a "
        "second pass for each token and needs a transformers model in the proxy's process. Modes "
        "`quasi` (no clipping) and `topk` have no guarantee. It has no channel over words, so no "
        "table."
    )
    parameter_type = PromptParameters
    needs_model = True

    def __init__(
        self,
        paraphraser: Paraphraser,
        parameters: PromptParameters,
        vocabulary: Vocabulary,
        *,
        document_tokens: int | None = None,
    ) -> None:
        self.parameters = parameters
        self._paraphraser = paraphraser
        self._vocabulary = vocabulary
        self._document_tokens = document_tokens
        self._decoding = parameters.decoding

    @classmethod
    async def prepare(cls, parameters: PromptParameters, server: Backend) -> Paraphraser:
        """Return the model that paraphrases.

        A server that is up must prove here that it clips. One that is not up yet must do so
        before its first paraphrase.

        Raises:
            LocalModelError: there is no such model, or the server does not clip.
        """
        if parameters.model is not None:
            model, tokenizer = await asyncio.to_thread(load_model, parameters.model)
            return TransformersParaphraser(parameters.model, model, tokenizer)
        if not isinstance(server, OpenAIServer):
            raise LocalModelUnavailable(
                f"{cls.name} paraphrases with a server, which a plug-in is not: set "
                "privacy.parameters.engine: transformers and a model, or another local.mode"
            )
        made = ServerParaphraser(server)
        if parameters.mode == "dp" and await server.ready():
            await made.prove()
        return made

    @classmethod
    def build(cls, parameters: PromptParameters, resources: Resources) -> DPPrompt:
        return cls(
            resources.model,
            parameters,
            resources.table.vocabulary,
            document_tokens=resources.max_tokens,
        )

    @cached_property
    def guarantee(self) -> Guarantee:
        cap, epsilon = self.parameters.max_tokens, self.parameters.epsilon
        if self.parameters.mode in PROVED:
            token, document = format_upper(epsilon), format_upper(cap * epsilon)
            statement = (
                f"Each generated token is {token}-LDP with respect to replacing the whole "
                "document by any other, given the tokens generated before it; a release has at "
                f"most {cap} of them, the end token included, and is {document}-LDP with "
                "respect to replacing the whole document."
            )
            return Guarantee("ldp", epsilon, epsilon, statement, "generated token")
        reason = (
            "logits are not clipped, so no bound on their ratio is known"
            if self.parameters.mode == "quasi"
            else "which tokens may be drawn depends on the document"
        )
        said = f"No guarantee: {reason}."
        return Guarantee("none", epsilon, math.inf, said, "generated token")

    def identity(self) -> dict[str, Any]:
        return {
            "mechanism": self.name,
            **asdict(self.parameters),
            **self._paraphraser.identity(),
        }

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        """Release a text as the contract says, outside any event loop; inside one, use `release`.
        The server draws its noise itself, so `rng` is for the engine `transformers` only."""
        del link, known  # nothing is replaced entity by entity
        return asyncio.run(self._paraphrase(text, rng))

    async def release(
        self, text: str, link: Link | None = None, known: Known = EMPTY
    ) -> Perturbation:
        del link, known
        return await self._paraphrase(text, None)

    def fill_prompt(self, text: str) -> str:
        """Return the prompt for a document; for the empty text, the public prompt."""
        return build_prompt(text)

    async def _paraphrase(self, text: str, rng: np.random.Generator | None) -> Perturbation:
        classes = await offload(False, self._count_classes, text)
        centre = {"public": self.fill_prompt("")} if self._decoding.centred else {}
        made = await self._paraphraser.generate(
            self.fill_prompt(text), self._decoding, self.parameters.max_tokens, rng, **centre
        )
        return Perturbation(text=made.text, words=(), receipt=self._build_receipt(classes, made))

    def verify(self, raw: str, released: Perturbation) -> None:
        """Check two properties of the finished text. It has no more words than tokens were drawn
        for it, within the cap. In mode `dp`, it does not repeat the document word for word
        further than chance allows, as a model that is not clipped would."""
        words, drawn = released.text.split(), released.receipt.released
        if not len(words) <= drawn <= self.parameters.max_tokens:
            raise ReleaseError("a paraphrase has more words or tokens than may be drawn")
        if self._has_long_repeat(raw.split(), words):
            raise ReleaseError("a paraphrase repeats more of its document than chance explains")

    def _has_long_repeat(self, raw: list[str], words: list[str]) -> bool:
        """Return whether the paraphrase holds a run of raw words that the channel produces with
        probability < FALSE_ALARM, over all places where a run may begin in either text.

        The first token of a word of b bytes is a prefix of it, with or without a blank before
        it: at most b + 1 tokens. Any s of m tokens together have a probability
        <= 1/(1 + (m/s − 1)e^{−ε/2}); a run of words, the product.
        """
        if self._decoding.bounds is None or not raw or not words:
            return False
        size = self._paraphraser.vocabulary_size
        shares = (min(len(word.encode("utf-8", "replace")) + 1, size) / size for word in raw)
        chances = [self._decoding.bound_probability(share) for share in shares]
        sums = np.append(0.0, np.cumsum(np.log(chances)))
        needed = math.log(FALSE_ALARM / (len(raw) * len(words)))
        # For each place of the raw text: the end of the shortest run that chance cannot explain.
        ends = np.searchsorted(-sums, -needed - sums[:-1], side="right")
        known, text = set(words), f" {' '.join(words)} "
        return any(
            f" {' '.join(raw[start:end])} " in text
            for start, end in enumerate(ends.tolist())
            if end <= len(raw) and end - start <= len(words) and raw[start] in known
        )

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        self._vocabulary.encode(text, at_most=self._document_tokens)
        return super().units(text)

    def _count_classes(self, text: str) -> dict[str, int]:
        """Count the document's tokens by class. Raises `DocumentTooLong`."""
        tokens = self._vocabulary.encode(text, at_most=self._document_tokens)
        return self._vocabulary.count_classes(tokens)

    def _build_receipt(self, tokens: dict[str, int], made: Paraphrase) -> Receipt:
        guarantee, own = self.guarantee, {field.name for field in fields(self.parameters)}
        facts = {k: v for k, v in self.identity().items() if k in own - {"model"}}
        return Receipt(
            mechanism=self.name,
            parameters={**facts, "temperature": self._decoding.temperature},
            table="none",
            tokens=tokens,
            treatment=dict.fromkeys(tokens, "paraphrased"),
            released=made.tokens,
            statistics={},
            guarantee=guarantee.kind,
            statement=guarantee.statement,
            epsilon_nominal=guarantee.nominal,
            epsilon_per_token=guarantee.epsilon,
            epsilon_per_document=guarantee.epsilon * self.parameters.max_tokens,
            unbounded=0 if math.isfinite(guarantee.epsilon) else made.tokens,
            reveals=(
                "what the paraphrase says of the document, in any way, within the document's ε: "
                "its length, too",
            ),
            unit=guarantee.unit,
        )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _read_bounds(value: object) -> tuple[float, float]:
    """Return (b1, b2) as two floats. Raises `ParameterError`."""
    pair = list(value) if isinstance(value, (list, tuple)) else []
    numbers = [float(x) for x in pair if isinstance(x, (int, float)) and not isinstance(x, bool)]
    if len(pair) == len(numbers) == 2 and all(map(math.isfinite, numbers)):
        low, high = numbers
        if low < high:
            return low, high
    raise ParameterError("clip must be two finite numbers [b1, b2], b1 < b2")
