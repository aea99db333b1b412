"""The bundled model's tokenizer and chat template.

Byte-level BPE with GPT-2's splitting rule, which every engine knows: any byte string can be
encoded, and llama.cpp, transformers and vLLM cut text the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

__all__ = ["CHAT_TEMPLATE", "END", "SPECIAL", "Turn", "render", "train_tokenizer"]

END = "<|end|>"
SPECIAL = (END, "<|system|>", "<|user|>", "<|assistant|>")

# A turn is its role's token, the text, and the end token, so that a turn costs two tokens. Tools
# are left out: a model this small would never call one.
CHAT_TEMPLATE = (
    "{%- for message in messages %}"
    "{%- if message.role == 'assistant' %}{{- '<|assistant|>' }}"
    "{%- elif message.role == 'system' or message.role == 'developer' %}{{- '<|system|>' }}"
    "{%- else %}{{- '<|user|>' }}"
    "{%- endif %}"
    "{{- (message.content or '') + '<|end|>' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
)


class Turn(NamedTuple):
    """Hold one turn of a conversation.

    All of an assistant's turn is learnt. Of another's turn only `prose` is: the part of the prompt
    that is good English, word for word.
    """

    role: str
    content: str
    prose: str = ""


def render(turns: Iterable[Turn]) -> Iterator[str]:
    """Yield a conversation as the chat template renders it, in pieces: for every turn the role's
    token, the text, and the end token."""
    for turn in turns:
        yield f"<|{turn.role}|>"
        yield turn.content
        yield END


def train_tokenizer(texts: Iterable[str], size: int) -> Tokenizer:
    """Train byte-level BPE of `size` entries: the special tokens first, and all 256 bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=[AddedToken(token, special=True, normalized=False) for token in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer
