"""GPT inference, in which a large language model guesses the originals of the released words.

The question rephrases InferDPT's (Appendix C). The model sees only released words.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from tqdm import tqdm

from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError
from benchmarks.harness.experiment import Experiment, Outcome, success
from benchmarks.harness.markdown import format_percent, format_point, format_table
from benchmarks.harness.records import Case, Record
from benchmarks.harness.suite import Endpoint

__all__ = ["GptInference", "guess_originals", "parse"]

AT_ONCE = 8  # requests
HIDDEN = "?"  # in place of a word that was not released
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
    """Return the model's word for each released word of each text; None if its answer is not in
    the requested form.

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
            bar = tqdm(
                pool.map(ask, texts),
                "attacker",
                len(texts),
                unit="text",
                leave=False,
                disable=None,
            )
            return list(bar)
        except OpenAIError as exc:
            raise DataError(f"the attacker's server failed ({type(exc).__name__})") from exc


def parse(answer: str | None, count: int) -> list[str] | None:
    """Parse a JSON array of `count` strings, with only blanks around it; None for anything
    else."""
    try:
        words = json.loads(answer or "")
    except ValueError:
        return None
    fits = isinstance(words, list) and len(words) == count
    return words if fits and all(isinstance(word, str) for word in words) else None


class GptInference(Experiment):
    """Measure the success, up to case, of the suite's `attacker`.

    Values:
        success: every word of a text whose answer was not in the requested form is a miss.
        failed: the share of such texts.
        prior: the same model's success when it is told only the number of words.
    """

    name = "gpt"
    about = "words guessed by a large model; nothing where the suite names none (attacker)"

    def __init__(self) -> None:
        self._prior = lru_cache(maxsize=None)(_count_blind_hits)

    def cases(self, context: Context) -> Iterable[Case]:
        if context.suite.attacker is None:
            return
        yield from context.suite.cases(model=context.suite.attacker.model)

    def measure(self, case: Case, context: Context) -> Outcome:
        endpoint, words = context.suite.attacker, context.table.vocabulary.words
        assert endpoint is not None, "cases() gave none"
        label, epsilon, dataset = case["mechanism"], case["epsilon"], case["dataset"]
        texts = [r for r in context.releases(label, epsilon, dataset) if len(r.raw)]
        released = [[words[y] for y in release.released] for release in texts]
        raw = [[words[x] for x in release.raw] for release in texts]
        guesses = guess_originals(endpoint, released)
        count = sum(map(len, raw))
        values = {
            "success": success(_count_hits(guesses, raw), count),
            "prior": success(self._prior(context, dataset), count),
            "failed": success(guesses.count(None), len(guesses)),
        }
        return Outcome(values)

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                r.case["dataset"],
                r.case["model"],
                *(format_percent(r.values[name]) for name in ("success", "prior", "failed")),
            ]
            for r in records
        ]
        if rows:
            head = ["mechanism", "ε", "set", "model"]
            yield (
                "### Words guessed by a large language model\n\n"
                "Per cent of the words that a model names when it is told how they were "
                "released. *Blind*: when it is told only how many there are. *Failed*: per cent "
                "of the answers that were not in the form asked for.\n\n"
                + format_table([*head, "words read", "blind", "failed"], rows)
            )


def _count_blind_hits(context: Context, dataset: str) -> int:
    """Count the words of a set that the model guesses without a release."""
    endpoint, words = context.suite.attacker, context.table.vocabulary.words
    assert endpoint is not None, "cases() gave none"
    samples = context.samples(dataset)[: context.suite.texts]
    raw = [[words[x] for x in context.words(sample.prefix)] for sample in samples]
    raw = [text for text in raw if text]
    return _count_hits(guess_originals(endpoint, [[HIDDEN] * len(text) for text in raw]), raw)


def _count_hits(guesses: Sequence[Sequence[str] | None], raw: Sequence[Sequence[str]]) -> int:
    return sum(
        guess.strip().casefold() == word.casefold()
        for found, text in zip(guesses, raw, strict=True)
        if found is not None
        for guess, word in zip(found, text, strict=True)
    )
