"""Have answers written for the worth of the remote, through the real proxy, and keep them.

Every way of answering is asked for the same texts with the same seeds. The local model's own
answers are written once and shared by all comparisons. It is shown what the proxy shows it where
two candidates are judged: of a generation for words the relevant sentences, and one for a passage
whole. `Worth` leaves out the answers with a generation that is not used.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.harness.context import Context
from benchmarks.harness.datasets import Sample
from benchmarks.harness.knowing_remote import run_knowing_remote, say_nearest
from benchmarks.harness.stack import Job, Setting, ask
from benchmarks.harness.suite import CORPUS, Endpoint
from benchmarks.harness.texts import Text, Texts
from benchmarks.whole.collections import find_cover, make_codebook, make_covering
from benchmarks.whole.sanitizers import draws_words
from perturb.whole.codebook import load_codebook
from perturb.whole.encoder import BUNDLED

__all__ = ["Remote", "Way", "choose_samples", "write_answers"]

Remote = Literal["none", "truth", "covering", "knowing", "bundled"]
ALONE = "surrogate"  # of the proxy where nothing is sent, or where the answer is given


@dataclass(frozen=True)
class Way:
    """Define a way of answering.

    Attributes:
        remote: `none`, the local model alone; `truth`, a remote that is given the true
            continuation; `covering`, one that knows another passage of each document, chosen
            from a codebook that holds it; `knowing`, one that knows a collection without the
            documents; `bundled`, the suite's remote, which is the bundled model by default.
        mechanism, epsilon: of the release, for the last three.
        encoder: of the covering codebook.
        draw: 0 or 1; another one has other seeds.
    """

    remote: Remote
    mechanism: str | None = None
    epsilon: float | None = None
    encoder: str = BUNDLED
    draw: int = 1

    def __str__(self) -> str:
        parts = ("whole", self.remote, self.mechanism, self.epsilon, self.encoder, self.draw)
        return " ".join(f"{part}" for part in parts if part is not None)


def choose_samples(context: Context, dataset: str) -> list[Sample]:
    """Return the first texts of a set whose documents have a passage that covers them."""
    covered = [s for s in context.samples(dataset) if find_cover(s) is not None]
    return covered[: context.suite.whole.texts]


def write_answers(context: Context, way: Way, dataset: str) -> list[Text]:
    """Return a set's answers, in the order of `choose_samples`. The models write those of all
    sets that are not in the run's folder yet.

    Raises:
        DataError: a model's server failed; another run resumes from the texts that exist.
    """
    shown = _choose_extraction(context, way)
    texts = Texts(context, f"{way}" if shown == "all" else f"{way} {shown}")
    wanted = {
        (name, sample.id, way.draw): sample
        for name in context.suite.datasets
        for sample in choose_samples(context, name)
    }
    jobs = [
        _build_job(context, way, key, sample)
        for key, sample in wanted.items()
        if key not in texts.found
    ]
    if jobs:
        texts.complete(_ask(context, way, jobs, texts))
    return [texts.found[key] for key in wanted if key[0] == dataset]


def _build_job(context: Context, way: Way, key: tuple[str, str, int], sample: Sample) -> Job:
    # The same seed in every way, so that it makes no difference between them.
    seed = int(context.rng("worth", *key).integers(2**31))
    return Job(key, sample.prefix, seed, sample.continuation if way.remote == "truth" else None)


async def _ask(context: Context, way: Way, jobs: Sequence[Job], texts: Texts) -> None:
    async with _run_remote(context, way) as remote:
        setting = Setting(
            "local" if way.remote == "none" else "proxy",
            _choose_privacy(context, way),
            _choose_extraction(context, way),
            remote,
        )
        await ask(context.suite, context.table, setting, jobs, texts.add)


@asynccontextmanager
async def _run_remote(context: Context, way: Way) -> AsyncIterator[Endpoint | None]:
    """Yield the remote that is not the suite's own. One that is never asked starts no model."""
    if way.remote == "bundled":
        yield None
        return
    path = None
    if way.remote == "covering":
        path = make_covering(context, way.encoder)
    elif way.remote == "knowing":
        path = make_codebook(context, CORPUS)
    async with run_knowing_remote(say_nearest(load_codebook(path))) as endpoint:
        yield endpoint


def _choose_extraction(context: Context, way: Way) -> Literal["relevant", "all"]:
    words = way.mechanism is not None and draws_words(context, way.mechanism)
    return context.suite.whole.extraction if words else "all"


def _choose_privacy(context: Context, way: Way) -> dict[str, Any]:
    """Return the proxy's `privacy` section."""
    if way.mechanism is None:
        return {"mechanism": ALONE}
    subject = context.subject({"mechanism": way.mechanism})
    parameters = dict(subject.parameters)
    if way.remote == "covering":
        parameters["codebook"] = str(make_covering(context, way.encoder))
    elif parameters.get("codebook") == CORPUS:
        parameters["codebook"] = str(make_codebook(context, CORPUS))
    return {"mechanism": subject.mechanism, "epsilon": way.epsilon, "parameters": parameters}
