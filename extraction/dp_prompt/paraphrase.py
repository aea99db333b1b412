"""The contract of DP-Prompt's local model: it paraphrases one document, token by token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from extraction.dp_prompt.clip import Decoding

__all__ = ["PROMPT", "Paraphrase", "Paraphraser", "build_prompt"]

PROMPT = "Document : {text}\nParaphrase of the document :"  # Utpala et al. 2023, section 4


@dataclass(frozen=True)
class Paraphrase:
    """A generated text and the number of tokens drawn for it, the end token included."""

    text: str
    tokens: int


class Paraphraser(Protocol):
    """Define a local model that continues a raw prompt, without a chat template.

    Attributes:
        vocabulary_size: a lower bound on the number of tokens the model chooses from.
    """

    vocabulary_size: int

    def identity(self) -> dict[str, Any]:
        """Return a description of the model, JSON-ready."""

    async def generate(
        self,
        prompt: str,
        decoding: Decoding,
        max_tokens: int,
        rng: np.random.Generator | None = None,
        *,
        public: str | None = None,
    ) -> Paraphrase:
        """Draw tokens until an end token or until there are `max_tokens` of them. Nothing else may
        end the draw: the place where it ends would depend on the document.

        Args:
            prompt: the text to continue, unchanged.
            decoding: how every token is drawn.
            max_tokens: the cap, the end token included.
            rng: the noise; fresh operating-system randomness unless a test passes one.
            public: the prompt without the document, where the decoding is centred.

        Raises:
            DocumentTooLong: prompt and cap do not fit the model's context; nothing is cut.
            LocalModelError: the model cannot answer, or cannot follow these rules.
        """


def build_prompt(text: str, template: str = PROMPT) -> str:
    """Return the prompt for a document; without one, for the empty text.

    >>> build_prompt("a", "{text} >>>>")
    'a >>>>'
    """
    return template.replace("{text}", text)
