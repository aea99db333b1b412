"""Token rows for training: conversations packed whole, plain text in the gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bundled.tokenizer import END, Turn, render

__all__ = [
    "SHARED_WEIGHT",
    "Encoded",
    "encode_answer",
    "encode_conversations",
    "encode_plain",
    "find_content_words",
    "pack_rows",
]

Tokens = NDArray[np.uint16]

COMMONEST = 300  # entries that do not indicate a text's topic
SHORTEST_WORD = 3  # letters
SHARED_WEIGHT = 5.0


@dataclass(frozen=True)
class Encoded:
    """Hold tokens and their weights in the loss; weight 0 excludes a token."""

    tokens: Tokens
    weights: NDArray[np.float32]


def encode_plain(tokenizer: Tokenizer, texts: Sequence[str]) -> Tokens:
    """Concatenate documents, with the end token after each."""
    end = tokenizer.token_to_id(END)
    encoded = tokenizer.encode_batch_fast(list(texts))
    return np.concatenate([np.array([*e.ids, end], dtype=np.uint16) for e in encoded])


def find_content_words(tokenizer: Tokenizer, plain: Tokens, templates: str) -> NDArray[np.bool_]:
    """Return for each entry of the vocabulary whether it begins a word that indicates a topic:
    neither among the most common words of running text nor in the prompts' own words."""
    size = tokenizer.get_vocab_size()
    out = np.zeros(size, dtype=np.bool_)
    for token, number in tokenizer.get_vocab().items():
        out[number] = token[0] == "Ġ" and token[1:].isalpha() and len(token) > SHORTEST_WORD
    counts = np.bincount(plain, minlength=size)
    out[np.argsort(-counts)[:COMMONEST]] = False
    out[tokenizer.encode(templates).ids] = False
    return out


def encode_conversations(
    tokenizer: Tokenizer,
    conversations: Sequence[list[Turn]],
    content: NDArray[np.bool_],
) -> list[Encoded]:
    """Encode conversations as the chat template renders them. The assistant's turns are learnt
    with their end tokens, and the prose in the others.

    A content word of the answer that also occurs in the turn before counts `SHARED_WEIGHT` times
    where it is first used: a small model learns to take up words slowly, and rarely does so at a
    temperature below 1.
    """
    pieces = [list(render(turns)) for turns in conversations]
    encoded = iter(tokenizer.encode_batch([p for group in pieces for p in group]))
    out = []
    for turns in conversations:
        tokens: list[int] = []
        weights: list[float] = []
        before: list[int] = []
        for turn in turns:
            role, text, end = (next(encoded) for _ in range(3))
            tokens += role.ids + text.ids + end.ids
            answer = turn.role == "assistant"
            learnt = np.array(_select_learnt(turn, text.offsets), dtype=np.float32)
            if answer:
                learnt[_find_first_shared(text.ids, before, content)] = SHARED_WEIGHT
            weights += [0.0, *learnt, float(answer)]
            before = text.ids
        out.append(Encoded(np.array(tokens, dtype=np.uint16), np.array(weights, np.float32)))
    return out


def encode_answer(
    tokenizer: Tokenizer, prompt: Sequence[Turn], text: str, *, ended: bool
) -> Encoded:
    """Encode a prompt and a model's answer to it. Only the answer is learnt, with the end token
    only where the model had `ended` it."""
    pieces = list(render([*prompt, Turn("assistant", text)]))
    ids = [e.ids for e in tokenizer.encode_batch(pieces[: None if ended else -1])]
    before = sum(map(len, ids[: len(pieces) - 2]))
    tokens = np.array([i for piece in ids for i in piece], dtype=np.uint16)
    return Encoded(tokens, (np.arange(len(tokens)) >= before).astype(np.float32))


def _find_first_shared(
    answer: list[int], before: list[int], content: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return where the answer first uses each content word of the turn before."""
    ids, first = np.unique(np.array(answer, dtype=np.int64), return_index=True)
    return first[content[ids] & np.isin(ids, before)]


def _select_learnt(turn: Turn, offsets: list[tuple[int, int]]) -> list[bool]:
    """Return which of a turn's tokens are learnt, judged by the characters of each."""
    if turn.role == "assistant":
        return [True] * len(offsets)
    start = turn.content.rindex(turn.prose)
    stop = start + len(turn.prose)
    return [start <= first and last <= stop and first < last for first, last in offsets]


def pack_rows(
    length: int,
    plain: Iterator[int],
    plain_tokens: Tokens,
    conversations: Iterator[Encoded] | None,
    conversation_share: float,
    rng: np.random.Generator,
) -> Iterator[Encoded]:
    """Yield rows of `length` + 1 tokens without end (inputs, and targets one further).

    A row either is plain text, or holds whole conversations and plain text after them; what
    does not fit is put off to a later row.
    """
    waiting: list[Encoded] = []
    while True:
        tokens: list[Tokens] = []
        weights: list[NDArray[np.float32]] = []
        room = length + 1
        if conversations is not None and rng.random() < conversation_share:
            while len(waiting) < 8:
                candidate = next(conversations)
                if len(candidate.tokens) <= length + 1:
                    waiting.append(candidate)
            while (i := _first_fit(waiting, room)) is not None:
                chosen = waiting.pop(i)
                tokens.append(chosen.tokens)
                weights.append(chosen.weights)
                room -= len(chosen.tokens)
        if room:
            start = next(plain) % (len(plain_tokens) - room)
            tokens.append(plain_tokens[start : start + room])
            weights.append(np.ones(room, dtype=np.float32))
        yield Encoded(np.concatenate(tokens), np.concatenate(weights))


def _first_fit(waiting: list[Encoded], room: int) -> int | None:
    return next((i for i, e in enumerate(waiting) if len(e.tokens) <= room), None)
