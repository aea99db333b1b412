"""paraphraser: DP-Prompt's decoding with a model that was fine-tuned to paraphrase (Mattern,
Weggenmann and Kerschbaum, "The Limits of Word Level Differential Privacy", 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from extraction.dp_prompt.paraphrase import build_prompt
from extraction.dp_prompt.sanitizer import DPPrompt, PromptParameters
from perturb import ParameterError
from perturb.registry import register

__all__ = ["FineTunedParaphraser", "ParaphraserParameters"]

PLACE = "{text}"


@dataclass(frozen=True, kw_only=True)
class ParaphraserParameters(PromptParameters):
    """The parameters, validated: those of DP-Prompt, and the form of the prompt.

    Attributes:
        engine: `transformers` by default; see `PromptParameters`.
        model: folder or name of the fine-tuned model.
        template: the prompt that the model was fine-tuned to continue with a paraphrase; {text}
            is the document.
    """

    engine: Literal["server", "transformers"] = "transformers"
    template: str = "{text} >>>>"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.template, str):
            raise ParameterError(f"template must be a text, got {type(self.template).__name__}")
        if self.template.count(PLACE) != 1:
            raise ParameterError("template must contain {text} exactly once")


@register
class FineTunedParaphraser(DPPrompt):
    """Paraphrase documents with a fine-tuned model. Decoding, guarantee and checks are those of
    `DPPrompt`.

    Args:
        paraphraser, parameters, vocabulary, document_tokens: see `DPPrompt`.
    """

    name = "paraphraser"
    summary = "a fine-tuned model paraphrases the document; ε-LDP per generated token"
    about = (
        "A language model fine-tuned to paraphrase, such as a GPT-2, is sampled at a temperature "
        "T with its logits clipped to [b₁, b₂] (Mattern, Weggenmann and Kerschbaum, Findings of "
        "NAACL 2022). Decoding and accounting are those of `dp_prompt`: a document of n generated "
        "tokens costs 2n(b₂ − b₁)/T. The model is yours, and `template` is the prompt that it was "
        "fine-tuned with. It has no channel over words, so no table."
    )
    parameter_type = ParaphraserParameters
    parameters: ParaphraserParameters

    def fill_prompt(self, text: str) -> str:
        return build_prompt(text, self.parameters.template)
