"""Texts that models wrote for a run, kept in its folder: every metric reads the same ones."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from openai import OpenAIError

from benchmarks.context import Context
from benchmarks.datasets import DataError, Sample
from benchmarks.records import Case
from benchmarks.stack import Job, Reply, Setting, ask
from perturb import Perturber

__all__ = ["Arm", "Point", "Text", "generated", "points"]

Arm = Literal["pipeline", "oracle", "random", "local", "raw", "expected"]
Key = tuple[str, str, int]  # set, id, draw
CONTROLS: tuple[Arm, ...] = ("local", "random", "raw")  # they depend on no mechanism
# ε / 2 · u is below the resolution of the mechanism's integer weights: all are equal.
UNIFORM = ("exponential", 1e-12)


@dataclass(frozen=True)
class Point:
    """How texts come about.

    Attributes:
        arm: `pipeline`, the proxy as it is; `oracle`, with a remote that continues the raw prefix
            perfectly: the true continuation, perturbed; `random`, with every word of the prefix
            replaced by a uniform one, its layout kept; `local`, the local model alone; `raw`, the
            remote alone, which is shown the raw prefix; `expected`, several of the last.
        mechanism, epsilon: of `pipeline` and `oracle`.
    """

    arm: Arm
    mechanism: str | None = None
    epsilon: float | None = None

    @classmethod
    def of(cls, case: Case) -> Point:
        """The point that a case names."""
        return cls(case["arm"], case.get("mechanism"), case.get("epsilon"))

    @property
    def case(self) -> Case:
        """JSON-ready, without what is not there."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        return " ".join(f"{value}" for value in self.case.values())


@dataclass(frozen=True)
class Text:
    """One text's way: what the remote was shown of the prefix, what it wrote, the answer. Without
    a remote the first two are None."""

    dataset: str
    id: str
    draw: int
    sent: str | None
    generation: str | None
    answer: str


def points(context: Context) -> list[Point]:
    """The controls, and both arms of every mechanism that is answered at each of its ε."""
    return [
        *map(Point, CONTROLS),
        *(
            Point(arm, subject.label, epsilon)
            for subject, epsilon in context.suite.points(pipeline=True)
            for arm in ("pipeline", "oracle")
        ),
    ]


def generated(context: Context, point: Point, dataset: str) -> list[Text]:
    """A set's texts at a point, in the set's order; the models write those of all sets that are
    not in the run's folder yet.

    Raises:
        DataError: a model's server failed; run again to go on from the texts that are there.
    """
    texts = _Texts(context, point)
    sets = context.suite.datasets
    wanted = {key: sample for name in sets for key, sample in _wanted(context, point, name)}
    missing = [key for key in wanted if key not in texts.found]
    if missing:
        jobs = [_job(context, point, key, wanted[key]) for key in missing]
        setting = _setting(context, point)
        try:
            asyncio.run(ask(context.suite, context.table, setting, jobs, texts.add))
        except OpenAIError as exc:
            raise DataError(
                f"{point}: a model's server failed ({type(exc).__name__}: {exc}); run the same "
                "command again to go on"
            ) from exc
    return [texts.found[key] for key in wanted if key[0] == dataset]


class _Texts:
    """One point's file: a line for each text, as it comes."""

    def __init__(self, context: Context, point: Point) -> None:
        digest = hashlib.sha256(f"{context.suite.digest} {context.data_digest}".encode())
        name = re.sub(r"[^\w.+-]+", "_", str(point))
        self.path = context.folder / "texts" / digest.hexdigest()[:12] / f"{name}.jsonl"
        self.found: dict[Key, Text] = {}
        for line in _whole_lines(self.path):
            self._keep(Text(**json.loads(line)))

    def add(self, job: Job, reply: Reply) -> None:
        """Keep a text; it is on the disk when this returns."""
        text = Text(*job.key, reply.sent, reply.generation, reply.answer)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(text), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._keep(text)

    def _keep(self, text: Text) -> None:
        self.found[text.dataset, text.id, text.draw] = text


def _whole_lines(path: Path) -> list[bytes]:
    """A file's lines; one that was being written when the run was killed is cut off."""
    if not path.exists():
        return []
    *lines, rest = path.read_bytes().split(b"\n")
    if rest:
        os.truncate(path, path.stat().st_size - len(rest))
    return lines


def _wanted(context: Context, point: Point, dataset: str) -> Iterator[tuple[Key, Sample]]:
    suite = context.suite
    several = point.arm == "expected"
    count = min(suite.expected_texts, suite.answers) if several else suite.answers
    for sample in context.samples(dataset)[:count]:
        for draw in range(suite.expected_draws if several else 1):
            yield (dataset, sample.id, draw), sample


def _job(context: Context, point: Point, key: Key, sample: Sample) -> Job:
    # The same seed at every point: what it does to a text is then no difference between them.
    seed = int(context.rng("answer", *key).integers(2**31))
    given = _perturbed(context, point, sample) if point.arm == "oracle" else None
    return Job(key, sample.prefix, seed, given)


def _perturbed(context: Context, point: Point, sample: Sample) -> str:
    """The true continuation as the mechanism releases it."""
    assert point.mechanism is not None
    assert point.epsilon is not None
    rng = context.rng("oracle", point, sample.id)
    mechanism = context.mechanism(point.mechanism, point.epsilon)
    return Perturber(mechanism).perturb(sample.continuation, rng).text


def _setting(context: Context, point: Point) -> Setting:
    """What answers at a point."""
    if point.mechanism is None:
        name, epsilon = UNIFORM
        privacy = {"mechanism": name, "epsilon": epsilon}
    else:
        subject = context.subject(point.case)
        privacy = {
            "mechanism": subject.mechanism,
            "epsilon": point.epsilon,
            "parameters": subject.parameters,
        }
    if point.arm in ("raw", "expected"):
        return Setting("remote", privacy)
    return Setting("local" if point.arm == "local" else "proxy", privacy)
