"""What DP-Prompt asks of a local model: a paraphrase of one document, token by token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from extraction.clip import Decoding

__all__ = ["PROMPT", "Paraphrase", "Paraphraser", "prompt_for"]

PROMPT = "Document : {text}\nParaphrase of the document :"  # Utpala et al. 2023, section 4


@dataclass(frozen=True)
class Paraphrase:
    """A generated text, and how many tokens were drawn for it, the end token included."""

    text: str
    tokens: int


class Paraphraser(Protocol):
    """A local model that continues a raw prompt (no chat template).

    Attributes:
        vocabulary_size: how many tokens the model chooses from, or fewer.
    """

    vocabulary_size: int

    def identity(self) -> dict[str, Any]:
        """Which model it is, JSON-ready."""

    async def generate(
        self,
        prompt: str,
        decoding: Decoding,
        max_tokens: int,
        rng: np.random.Generator | None = None,
    ) -> Paraphrase:
        """Draw tokens until an end token or until there are `max_tokens` of them. Nothing else
        may end it: where it ends would depend on the document.

        Args:
            prompt: continued as it is.
            decoding: how every token is drawn.
            max_tokens: the cap, the end token included.
            rng: the noise; fresh operating-system randomness unless a test passes one.

        Raises:
            DocumentTooLong: prompt and cap do not fit the model's context; nothing is cut.
            LocalModelError: the model cannot answer, or not by these rules.
        """


def prompt_for(text: str) -> str:
    """The prompt for a document."""
    return PROMPT.replace("{text}", text)
