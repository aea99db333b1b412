"""Averaging: what many releases of one text give away, fresh ones and the proxy's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import held
from benchmarks.attacks.likelihood import best_forms, channel_of, log_likelihood
from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found
from benchmarks.records import Case
from benchmarks.suite import Subject
from perturb import EmbeddingTable, Mechanism, Perturber, TokenClass
from perturb.channel import Forms
from perturb.selective import Selective
from proxy.app import build_app, runner
from proxy.config import load_config
from proxy.grants import ANONYMOUS
from proxy.keys import PIPELINE
from proxy.plan import Plan
from proxy.protocol import CompletionRequest

__all__ = ["Averaging", "averaged", "retried"]

RELEASES = (1, 4, 16, 50)
SHARE = 30  # one in so many of the attacked texts is averaged, of each set
POSITIONS = 16  # attacked at once: 35 MB for 50 releases at m = 11,000
MODEL = "remote"
Words = NDArray[np.int32]


class Averaging(Experiment):
    """Bayes' rule on the product of the likelihoods of t releases, unigram prior.

    Values:
        fresh_t: success where every release has noise of its own, see `bounds.held`.
        memo_50: success after 50 retries through the proxy, its memo on, held against the bound
            of a single release. The proxy's noise is the operating system's: it has no seed.
        memo_releases: how many different prompts would have left for a text in those retries,
            at most; more than one is a breach.
    """

    name = "averaging"
    about = "1, 4, 16 and 50 releases of one text, and 50 retries against the proxy's memo"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points():
            if subject.mechanism != Selective.name:  # it draws equal words alike in any case
                yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Found:
        mechanism = context.mechanism(case["mechanism"], case["epsilon"])
        group, guarantee = context.forms.group, mechanism.guarantee
        texts = max(1, context.suite.texts // SHARE)
        samples = [context.samples(name)[:texts] for name in context.suite.datasets]
        raw = np.concatenate([context.words(s.prefix) for some in samples for s in some])
        rng = context.rng(self.name, case)
        released = mechanism.draw(np.repeat(raw, RELEASES[-1]), rng).words
        released = released.reshape(len(raw), -1)
        values: dict[str, Any] = {}
        breaches: tuple[str, ...] = ()
        for t in RELEASES:
            right = averaged(mechanism, context.forms, released[:, :t]) == group[raw]
            found = held(f"fresh_{t}", right, group[raw], guarantee, releases=t)
            values, breaches = values | found.values, breaches + found.breaches
        guesses, targets, different = [], [], 1
        sent = [sample.prefix for some in samples for sample in some]
        for words, seen in retried(context.table, context.subject(case), case["epsilon"], sent):
            guesses.append(averaged(mechanism, context.forms, seen))
            targets.append(group[words])
            different = max(different, seen.shape[1])
        forms = np.concatenate(targets)
        found = held(f"memo_{RELEASES[-1]}", np.concatenate(guesses) == forms, forms, guarantee)
        values, breaches = values | found.values, breaches + found.breaches
        if different > 1:
            breaches += (f"{different} different prompts would have left for one text",)
        return Found({**values, "memo_releases": different}, breaches)


def averaged(mechanism: Mechanism, forms: Forms, released: NDArray[np.integer]) -> NDArray[Any]:
    """The best guess of each raw word's form, by number, int (n,), from t independent releases
    of it, places in V: int (n, t)."""
    prior = np.log(channel_of(mechanism).prior).astype(np.float32)
    guesses = []
    for start in range(0, len(released), POSITIONS):
        some = released[start : start + POSITIONS]
        logs = log_likelihood(mechanism, some.ravel()).reshape(*some.shape, -1)
        guesses.append(best_forms(logs.sum(axis=1) + prior, forms))
    return np.concatenate(guesses)


def retried(
    table: EmbeddingTable, subject: Subject, epsilon: float, texts: Sequence[str]
) -> list[tuple[Words, Words]]:
    """Send each text RELEASES[-1] times to a proxy with this mechanism, up to the point where a
    prompt would leave: for each text its words as places in V, int (n,), and what stands for
    them in the different prompts, int (n, different prompts)."""
    return asyncio.run(_retried(table, subject, epsilon, texts))


async def _retried(
    table: EmbeddingTable, subject: Subject, epsilon: float, texts: Sequence[str]
) -> list[tuple[Words, Words]]:
    with TemporaryDirectory() as folder:
        config = load_config(
            None,
            {
                "store": {"folder": folder},
                "privacy": {
                    "mechanism": subject.mechanism,
                    "epsilon": epsilon,
                    "parameters": subject.parameters,
                },
                "remote": {"models": {MODEL: MODEL}},
                "local": {"mode": "external"},
            },
        )
        proxy = runner(build_app(config, table=table))
        await proxy.setup()  # it does not listen, and nothing is sent
        try:
            pipeline = proxy.app[PIPELINE]
            out = []
            for text in texts:
                left: dict[str, Plan] = {}
                for _ in range(RELEASES[-1]):
                    request = CompletionRequest(model=MODEL, prompt=text)
                    plan = await pipeline.plan_completion(request, [text], ANONYMOUS)
                    [exchange] = plan.exchanges
                    left.setdefault(str(exchange.body["messages"]), plan)
                read = [_words(plan, table) for plan in left.values()]
                out.append((read[0][0], np.stack([seen for _, seen in read], axis=1)))
            return out
        finally:
            await proxy.cleanup()


def _words(plan: Plan, table: EmbeddingTable) -> tuple[Words, Words]:
    """The words of V of a planned text, and what leaves for them, int (n,) both."""
    vocabulary, sanitizer = table.vocabulary, plan.sanitizer
    assert isinstance(sanitizer, Perturber)
    place = {word: i for i, word in enumerate(vocabulary.words)}
    raw, seen = [], []
    for text in plan.texts.values():
        tokens = vocabulary.encode(text.raw)
        is_word, places = sanitizer.places(tokens)
        own = vocabulary.classes[tokens[is_word]] == TokenClass.WORD
        raw.append(places[own])
        seen.append(np.array([place[word] for word in text.released.words], dtype=np.int32)[own])
    return np.concatenate(raw), np.concatenate(seen)
