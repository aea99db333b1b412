"""GPT inference: a large language model is told what it sees and asked for the originals.

The question is InferDPT's (Appendix C) in other words. The model meets released words alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from tqdm import tqdm

from benchmarks.context import Context
from benchmarks.datasets import DataError
from benchmarks.experiment import Experiment, Found, success
from benchmarks.records import Case
from benchmarks.suite import Endpoint

__all__ = ["GptInference", "guess_originals", "parse"]

AT_ONCE = 8  # requests
HIDDEN = "?"  # stands for a word that was not released at all
QUESTION = """\
A text was made private word by word: a differentially private mechanism put another word, drawn \
at random, in the place of each. The new word is often related to the original, sometimes it is \
the original itself, and sometimes it has nothing to do with it. Where nothing was released, the \
list has "{hidden}". Below is the list of the new words in the order of the text, as JSON.

For every one of its {count} entries name the word that most plausibly stood there in the \
original text. Use all of them together: the originals made sense as one text. Answer with one \
JSON array of exactly {count} strings, a single word for each entry and in the same order, and \
with nothing before or after it.

{words}"""


def guess_originals(endpoint: Endpoint, texts: Sequence[Sequence[str]]) -> list[list[str] | None]:
    """The model's word for each released word of each text; None where its answer is not in the
    form that it was asked for.

    Raises:
        DataError: the server cannot be reached, or refuses.
    """
    from openai import OpenAI, OpenAIError

    key = os.environ.get(endpoint.key_variable) or "none"

    def ask(words: Sequence[str]) -> list[str] | None:
        question = QUESTION.format(
            hidden=HIDDEN, count=len(words), words=json.dumps(words, ensure_ascii=False)
        )
        answer: Any = client.chat.completions.create(
            model=endpoint.model,
            messages=[{"role": "user", "content": question}],
            temperature=0.0,
        )
        return parse(answer.choices[0].message.content, len(words))

    with (
        OpenAI(base_url=endpoint.base_url, api_key=key, max_retries=5) as client,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        try:
            bar = tqdm(pool.map(ask, texts), "attacker", len(texts), unit="text", leave=False)
            return list(bar)
        except OpenAIError as exc:
            raise DataError(f"the attacker's server failed ({type(exc).__name__})") from exc


def parse(answer: str | None, count: int) -> list[str] | None:
    """A JSON array of `count` strings, with nothing around it but blanks; None if it is not."""
    try:
        words = json.loads(answer or "")
    except ValueError:
        return None
    fits = isinstance(words, list) and len(words) == count
    return words if fits and all(isinstance(word, str) for word in words) else None


class GptInference(Experiment):
    """Success up to case of the suite's `attacker`. Every word of a text whose answer was not in
    form is a miss; `failed` is the share of such texts. `prior` is the same model's success when
    it is told how many words there are, and none of them."""

    name = "gpt"
    about = "words guessed by a large model; nothing where the suite names none (attacker)"

    def __init__(self) -> None:
        self._prior = lru_cache(maxsize=None)(_prior)

    def cases(self, context: Context) -> Iterable[Case]:
        if context.suite.attacker is None:
            return
        yield from context.suite.cases(model=context.suite.attacker.model)

    def measure(self, case: Case, context: Context) -> Found:
        endpoint, words = context.suite.attacker, context.table.vocabulary.words
        assert endpoint is not None, "cases() gave none"
        label, epsilon, dataset = case["mechanism"], case["epsilon"], case["dataset"]
        texts = [r for r in context.releases(label, epsilon, dataset) if len(r.raw)]
        released = [[words[y] for y in release.released] for release in texts]
        raw = [[words[x] for x in release.raw] for release in texts]
        guesses = guess_originals(endpoint, released)
        count = sum(map(len, raw))
        values = {
            "success": success(_hits(guesses, raw), count),
            "prior": success(self._prior(context, dataset), count),
            "failed": success(guesses.count(None), len(guesses)),
        }
        return Found(values)


def _prior(context: Context, dataset: str) -> int:
    """How many words of a set the model guesses without a release."""
    endpoint, words = context.suite.attacker, context.table.vocabulary.words
    assert endpoint is not None, "cases() gave none"
    samples = context.samples(dataset)[: context.suite.texts]
    raw = [[words[x] for x in context.words(sample.prefix)] for sample in samples]
    raw = [text for text in raw if text]
    return _hits(guess_originals(endpoint, [[HIDDEN] * len(text) for text in raw]), raw)


def _hits(guesses: Sequence[Sequence[str] | None], raw: Sequence[Sequence[str]]) -> int:
    return sum(
        guess.strip().casefold() == word.casefold()
        for found, text in zip(guesses, raw, strict=True)
        if found is not None
        for guess, word in zip(found, text, strict=True)
    )
