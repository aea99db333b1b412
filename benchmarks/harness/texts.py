"""Generate texts for a run, and keep them in its folder, so that all metrics read the same."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Coroutine, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from openai import OpenAIError

from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError, Sample
from benchmarks.harness.records import Case
from benchmarks.harness.stack import Job, Reply, Setting, ask
from perturb import Perturber

__all__ = ["Arm", "Point", "Text", "Texts", "generate_texts", "list_points"]

Arm = Literal["pipeline", "oracle", "random", "local", "raw", "expected"]
Key = tuple[str, str, int]  # set, id, draw
CONTROLS: tuple[Arm, ...] = ("local", "random", "raw")  # these depend on no mechanism
# ε / 2 · u is below the resolution of the mechanism's integer weights, so all are equal.
UNIFORM = ("exponential", 1e-12)


@dataclass(frozen=True)
class Point:
    """Define how texts are generated.

    Attributes:
        arm: `pipeline`, the proxy as it is; `oracle`, with a remote that continues the raw prefix
            perfectly: the true continuation, perturbed; `random`, with every word of the prefix
            replaced by a uniform one, its layout kept; `local`, the local model alone; `raw`, the
            remote alone, given the raw prefix; `expected`, several generations of `raw`.
        mechanism, epsilon: of `pipeline` and `oracle`.
    """

    arm: Arm
    mechanism: str | None = None
    epsilon: float | None = None

    @classmethod
    def from_case(cls, case: Case) -> Point:
        """Return the point that a case names."""
        return cls(case["arm"], case.get("mechanism"), case.get("epsilon"))

    @property
    def case(self) -> Case:
        """Return the point as a JSON-ready case, without missing values."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        return " ".join(f"{value}" for value in self.case.values())


@dataclass(frozen=True)
class Text:
    """Hold one text: the remote's input for the prefix, its output, and the answer. Without a
    remote the first two are None."""

    dataset: str
    id: str
    draw: int
    sent: str | None
    generation: str | None
    answer: str


def list_points(context: Context) -> list[Point]:
    """Return the controls, and both arms of every mechanism that is answered, at each of its ε."""
    return [
        *map(Point, CONTROLS),
        *(
            Point(arm, subject.label, epsilon)
            for subject, epsilon in context.suite.points(pipeline=True)
            for arm in ("pipeline", "oracle")
        ),
    ]


def generate_texts(context: Context, point: Point, dataset: str) -> list[Text]:
    """Return a set's texts at a point, in the set's order. The models write the texts of all sets
    that are not in the run's folder yet.

    Raises:
        DataError: a model's server failed; another run resumes from the texts that exist.
    """
    texts = Texts(context, str(point))
    sets = context.suite.datasets
    wanted = {key: sample for name in sets for key, sample in _list_samples(context, point, name)}
    missing = [key for key in wanted if key not in texts.found]
    if missing:
        jobs = [_build_job(context, point, key, wanted[key]) for key in missing]
        setting = _choose_setting(context, point)
        texts.complete(ask(context.suite, context.table, setting, jobs, texts.add))
    return [texts.found[key] for key in wanted if key[0] == dataset]


class Texts:
    """Read and append to one point's file: a line for each text.

    Args:
        context: the suite and the run's folder.
        name: of the point.
    """

    def __init__(self, context: Context, name: str) -> None:
        self._name = name
        digest = hashlib.sha256(f"{context.suite.digest} {context.data_digest}".encode())
        name = re.sub(r"[^\w.+-]+", "_", name)
        self.path = context.folder / "texts" / digest.hexdigest()[:12] / f"{name}.jsonl"
        self.found: dict[Key, Text] = {}
        for line in _read_lines(self.path):
            self._keep(Text(**json.loads(line)))

    def add(self, job: Job, reply: Reply) -> None:
        """Append a text; it is on disk when this returns."""
        text = Text(*job.key, reply.sent, reply.generation, reply.answer)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(text), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._keep(text)

    def complete(self, asking: Coroutine[Any, Any, None]) -> None:
        """Run what writes the missing texts.

        Raises:
            DataError: a model's server failed; another run resumes from the texts that exist.
        """
        try:
            asyncio.run(asking)
        except OpenAIError as exc:
            raise DataError(
                f"{self._name}: a model's server failed ({type(exc).__name__}: {exc}); run the "
                "same command again to resume"
            ) from exc

    def _keep(self, text: Text) -> None:
        self.found[text.dataset, text.id, text.draw] = text


def _read_lines(path: Path) -> list[bytes]:
    """Return a file's lines; a line cut off by a killed run is removed from the file."""
    if not path.exists():
        return []
    *lines, rest = path.read_bytes().split(b"\n")
    if rest:
        os.truncate(path, path.stat().st_size - len(rest))
    return lines


def _list_samples(context: Context, point: Point, dataset: str) -> Iterator[tuple[Key, Sample]]:
    suite = context.suite
    several = point.arm == "expected"
    count = min(suite.expected_texts, suite.answers) if several else suite.answers
    for sample in context.samples(dataset)[:count]:
        for draw in range(suite.expected_draws if several else 1):
            yield (dataset, sample.id, draw), sample


def _build_job(context: Context, point: Point, key: Key, sample: Sample) -> Job:
    # The same seed at every point, so that it makes no difference between points.
    seed = int(context.rng("answer", *key).integers(2**31))
    given = _perturb(context, point, sample) if point.arm == "oracle" else None
    return Job(key, sample.prefix, seed, given)


def _perturb(context: Context, point: Point, sample: Sample) -> str:
    """Return the true continuation as the mechanism releases it."""
    assert point.mechanism is not None
    assert point.epsilon is not None
    rng = context.rng("oracle", point, sample.id)
    mechanism = context.mechanism(point.mechanism, point.epsilon)
    return Perturber(mechanism).perturb(sample.continuation, rng).text


def _choose_setting(context: Context, point: Point) -> Setting:
    """Return the servers that answer at a point."""
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
