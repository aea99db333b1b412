"""Token rows for training: conversations packed whole, plain text in the gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bundled.tokenizer import END, Turn, render

__all__ = ["Encoded", "encode_conversations", "encode_plain", "rows"]

Tokens = NDArray[np.uint16]


@dataclass(frozen=True)
class Encoded:
    """Tokens, and for each whether the model is to learn to predict it."""

    tokens: Tokens
    learn: NDArray[np.bool_]


def encode_plain(tokenizer: Tokenizer, texts: Sequence[str]) -> Tokens:
    """Documents one after the other, the end token after each."""
    end = tokenizer.token_to_id(END)
    encoded = tokenizer.encode_batch_fast(list(texts))
    return np.concatenate([np.array([*e.ids, end], dtype=np.uint16) for e in encoded])


def encode_conversations(
    tokenizer: Tokenizer, conversations: Sequence[list[Turn]]
) -> list[Encoded]:
    """Conversations as the chat template renders them. Learnt are the assistant's turns with
    their end tokens, and the prose in the others."""
    pieces = [list(render(turns)) for turns in conversations]
    encoded = iter(tokenizer.encode_batch([p for group in pieces for p in group]))
    out = []
    for turns in conversations:
        tokens: list[int] = []
        learn: list[bool] = []
        for turn in turns:
            role, content, end = (next(encoded) for _ in range(3))
            tokens += role.ids + content.ids + end.ids
            answer = turn.role == "assistant"
            learn += [False, *_learnt(turn, content.offsets), answer]
        out.append(Encoded(np.array(tokens, dtype=np.uint16), np.array(learn)))
    return out


def _learnt(turn: Turn, offsets: list[tuple[int, int]]) -> list[bool]:
    """Which of a turn's tokens are learnt, by the characters each stands for."""
    if turn.role == "assistant":
        return [True] * len(offsets)
    start = turn.content.rindex(turn.prose)
    stop = start + len(turn.prose)
    return [start <= first and last <= stop and first < last for first, last in offsets]


def rows(
    length: int,
    plain: Iterator[int],
    plain_tokens: Tokens,
    conversations: Iterator[Encoded] | None,
    conversation_share: float,
    rng: np.random.Generator,
) -> Iterator[Encoded]:
    """Endless rows of `length` + 1 tokens (inputs, and targets one further).

    A row either is plain text, or holds whole conversations and plain text after them; what
    does not fit is put off to a later row.
    """
    waiting: list[Encoded] = []
    while True:
        tokens: list[Tokens] = []
        learn: list[NDArray[np.bool_]] = []
        room = length + 1
        if conversations is not None and rng.random() < conversation_share:
            while len(waiting) < 8:
                candidate = next(conversations)
                if len(candidate.tokens) <= length + 1:
                    waiting.append(candidate)
            while (i := _first_fit(waiting, room)) is not None:
                chosen = waiting.pop(i)
                tokens.append(chosen.tokens)
                learn.append(chosen.learn)
                room -= len(chosen.tokens)
        if room:
            start = next(plain) % (len(plain_tokens) - room)
            tokens.append(plain_tokens[start : start + room])
            learn.append(np.ones(room, dtype=np.bool_))
        yield Encoded(np.concatenate(tokens), np.concatenate(learn))


def _first_fit(waiting: list[Encoded], room: int) -> int | None:
    return next((i for i, e in enumerate(waiting) if len(e.tokens) <= room), None)
