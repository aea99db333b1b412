"""Average many releases of one text: fresh ones, and the proxy's own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import measure_bounded
from benchmarks.attacks.likelihood import choose_forms, load_channel, log_likelihood
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome
from benchmarks.harness.markdown import format_percent, format_point, format_table
from benchmarks.harness.records import Case, Record
from benchmarks.harness.suite import Subject
from perturb import EmbeddingTable, Mechanism, Perturber, TokenClass, mechanism_class
from perturb.audit.channel import Forms
from proxy.access.auth import ANONYMOUS
from proxy.api.app_keys import PIPELINE
from proxy.app import build_app, build_runner
from proxy.config.settings import load_config
from proxy.pipeline.plan import Plan
from proxy.requests.protocol import CompletionRequest

__all__ = ["Averaging", "guess_forms", "retry_through_proxy"]

RELEASES = (1, 4, 16, 50)
SHARE = 30  # one in this many of the attacked texts of each set is averaged
POSITIONS = 16  # attacked at once: 35 MB for 50 releases at m = 11,000
MODEL = "remote"
FRESH = re.compile(r"fresh_(\d+)")
Words = NDArray[np.int32]


class Averaging(Experiment):
    """Apply Bayes' rule to the product of the likelihoods of t releases, with a unigram prior.

    Values:
        fresh_t: success if every release has noise of its own, see `bounds.measure_bounded`.
        memo_50: success after 50 retries through the proxy with its memo, checked against the
            bound of a single release. The proxy's noise is the operating system's: it has no
            seed.
        memo_releases: the largest number of different prompts that those retries would have
            sent for one text; more than one is a breach.
    """

    name = "averaging"
    about = "1, 4, 16 and 50 releases of one text, and 50 retries through the proxy's memo"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points():
            # Where parts are marked, equal words have equal releases anyway.
            if not mechanism_class(subject.mechanism).marks:
                yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Outcome:
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
            right = guess_forms(mechanism, context.forms, released[:, :t]) == group[raw]
            found = measure_bounded(f"fresh_{t}", right, group[raw], guarantee, releases=t)
            values, breaches = values | found.values, breaches + found.breaches
        guesses, targets, different = [], [], 1
        sent = [sample.prefix for some in samples for sample in some]
        for words, seen in retry_through_proxy(
            context.table, context.subject(case), case["epsilon"], sent
        ):
            guesses.append(guess_forms(mechanism, context.forms, seen))
            targets.append(group[words])
            different = max(different, seen.shape[1])
        forms = np.concatenate(targets)
        found = measure_bounded(
            f"memo_{RELEASES[-1]}", np.concatenate(guesses) == forms, forms, guarantee
        )
        values, breaches = values | found.values, breaches + found.breaches
        if different > 1:
            breaches += (f"{different} different prompts would have been sent for one text",)
        return Outcome({**values, "memo_releases": different}, breaches)

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if not records:
            return
        times = sorted(int(m[1]) for name in records[0].values if (m := FRESH.fullmatch(name)))
        rows = [
            [
                *format_point(r.case),
                *(format_percent(r.values[f"fresh_{t}"]) for t in times),
                format_percent(r.values[f"memo_{times[-1]}"]),
                str(r.values["memo_releases"]),
            ]
            for r in records
        ]
        head = ["mechanism", "ε", *(f"{t} fresh" for t in times)]
        head += [f"{times[-1]} retries, memo on", "different prompts"]
        picture = f"![averaging]({figure})\n\n" if figure else ""
        yield (
            "### Many releases of one text\n\n"
            "Fresh noise on the same text can be averaged away. The proxy sends the same bytes "
            "again, so retries reveal no more than one release.\n\n"
            + picture
            + format_table(head, rows)
        )

    def draw(self, canvas: Any, records: Sequence[Record]) -> bool:
        """Draw one release, fifty fresh ones, and fifty retries through the proxy."""
        if not records:
            return False
        canvas.set_size_inches(8, 1.2 + 0.24 * len(records))
        axes = canvas.subplots()
        rows = range(len(records))
        markers = (("fresh_1", "o", "1 release"), ("fresh_50", "D", "50 fresh releases"))
        ends = [[100 * r.values[name].value for name, *_ in markers] for r in records]
        axes.hlines(rows, [min(e) for e in ends], [max(e) for e in ends], color="0.8")
        for at, (_, marker, label) in enumerate(markers):
            axes.plot([e[at] for e in ends], rows, marker, label=label)
        memo = [100 * r.values["memo_50"].value for r in records]
        axes.plot(memo, rows, "x", color="black", label="50 retries through the proxy")
        axes.set_yticks(rows, [f"{r.case['mechanism']} {r.case['epsilon']:g}" for r in records])
        axes.invert_yaxis()
        axes.set(xlabel="words read (%)", xlim=(0, 100), title="Many releases of one text")
        axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.08), ncols=3)
        return True


def guess_forms(mechanism: Mechanism, forms: Forms, released: NDArray[np.integer]) -> NDArray[Any]:
    """Return the best guess of each raw word's form, by number, int (n,), from t independent
    releases of it, places in V: int (n, t)."""
    prior = np.log(load_channel(mechanism).prior).astype(np.float32)
    guesses = []
    for start in range(0, len(released), POSITIONS):
        some = released[start : start + POSITIONS]
        logs = log_likelihood(mechanism, some.ravel()).reshape(*some.shape, -1)
        guesses.append(choose_forms(logs.sum(axis=1) + prior, forms))
    return np.concatenate(guesses)


def retry_through_proxy(
    table: EmbeddingTable, subject: Subject, epsilon: float, texts: Sequence[str]
) -> list[tuple[Words, Words]]:
    """Send each text RELEASES[-1] times to a proxy with this mechanism, up to the point where a
    prompt would be sent. Returns for each text its words as places in V, int (n,), and their
    releases in the different prompts, int (n, different prompts)."""
    return asyncio.run(_retry(table, subject, epsilon, texts))


async def _retry(
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
        proxy = build_runner(build_app(config, table=table))
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
                    assert exchange.outgoing is not None
                    left.setdefault(str(exchange.outgoing.body["messages"]), plan)
                read = [_read_plan(plan, table) for plan in left.values()]
                out.append((read[0][0], np.stack([seen for _, seen in read], axis=1)))
            return out
        finally:
            await proxy.cleanup()


def _read_plan(plan: Plan, table: EmbeddingTable) -> tuple[Words, Words]:
    """Return the words of V of a planned text and their releases, int (n,) both."""
    vocabulary, sanitizer = table.vocabulary, plan.sanitizer
    assert isinstance(sanitizer, Perturber)
    place = {word: i for i, word in enumerate(vocabulary.words)}
    raw, seen = [], []
    for release in plan.releases:
        tokens = vocabulary.encode(release.raw)
        is_word, places = sanitizer.places(tokens)
        own = vocabulary.classes[tokens[is_word]] == TokenClass.WORD
        raw.append(places[own])
        seen.append(
            np.array([place[word] for word in release.sanitized.words], dtype=np.int32)[own]
        )
    return np.concatenate(raw), np.concatenate(seen)
