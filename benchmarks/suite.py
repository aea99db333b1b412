"""What a run measures: a frozen configuration, read from YAML, that unknown keys break."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, ValidationInfo, field_validator

from benchmarks.datasets import OPEN_ENDED, DataError
from proxy.config_store import Section

__all__ = ["Endpoint", "Subject", "Suite", "load_suite", "suite_names"]

FOLDER = Path(__file__).with_name("suites")


class Endpoint(Section):
    """An OpenAI-compatible server. The key is read from the environment variable named."""

    base_url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"


class Subject(Section):
    """A mechanism as it is compared: one curve over ε."""

    mechanism: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    epsilons: tuple[float, ...] = ()

    @property
    def label(self) -> str:
        """The mechanism's name, and what of it is not the default."""
        return " ".join([self.mechanism, *(str(v) for v in self.parameters.values())])


class Suite(Section):
    """Everything that decides what `run` measures.

    Attributes:
        experiments: names from `python -m benchmarks list`; empty for all.
        subjects: the mechanisms; one without ε of its own takes `epsilons`.
        pipeline, pipeline_epsilons: labels of the subjects that answers are generated for, and at
            which ε; empty for all.
        texts: prefixes of each set that are attacked.
        answers: prefixes of each set that the whole pipeline answers, and texts of each author
            that are attributed.
        remote, local, attacker: models; None is the bundled one, for an attacker none at all.
        expected_texts, expected_draws: prefixes of each set whose Expected set of words is made,
            each from so many raw generations.
        encoder, features: the sentence encoder of coherence and similarity, and what MAUVE's
            clusters are made of: `minilm`, or the name of a model on the Hugging Face hub.
        encoders: more sentence encoders, for documents against perturbed documents.
        tokens: the model whose token vectors BERTScore compares.
        causal: causal language models that guess words: `bundled`, names on the hub or folders.
        masked: masked language models that do, names or folders.
    """

    name: str
    seed: int = 20261121
    experiments: tuple[str, ...] = ()
    datasets: tuple[str, ...] = OPEN_ENDED
    subjects: tuple[Subject, ...]
    epsilons: tuple[float, ...] = (3.0, 6.0, 10.0)
    pipeline: tuple[str, ...] = ()
    pipeline_epsilons: tuple[float, ...] = ()
    texts: int = Field(ge=2)
    answers: int = Field(ge=2)
    expected_texts: int = Field(10, ge=2)
    expected_draws: int = Field(5, ge=1)
    remote: Endpoint | None = None
    local: Endpoint | None = None
    attacker: Endpoint | None = None
    encoder: str = "minilm"
    features: str = "minilm"
    encoders: tuple[str, ...] = ()
    tokens: str = "minilm"
    causal: tuple[str, ...] = ("bundled",)
    masked: tuple[str, ...] = ()

    @field_validator("subjects")
    @classmethod
    def _labels_differ(cls, subjects: tuple[Subject, ...]) -> tuple[Subject, ...]:
        labels = [subject.label for subject in subjects]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"two subjects have the label {label!r}")
        return subjects

    @field_validator("pipeline")
    @classmethod
    def _labels_exist(cls, pipeline: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        known = [subject.label for subject in info.data.get("subjects", ())]
        for label in pipeline if known else ():
            if label not in known:
                raise ValueError(f"must be of {', '.join(known)}, got {label!r}")
        return pipeline

    def points(self, *, pipeline: bool = False) -> list[tuple[Subject, float]]:
        """Every mechanism at every ε of its own; `pipeline` for those that are answered."""
        found = [(s, epsilon) for s in self.subjects for epsilon in s.epsilons or self.epsilons]
        return [point for point in found if self._answered(*point)] if pipeline else found

    def cases(self, *, pipeline: bool = False, **more: str) -> list[dict[str, Any]]:
        """Every point on every set, JSON-ready, with `more` beside."""
        return [
            {"mechanism": subject.label, "epsilon": epsilon, "dataset": dataset, **more}
            for subject, epsilon in self.points(pipeline=pipeline)
            for dataset in self.datasets
        ]

    def _answered(self, subject: Subject, epsilon: float) -> bool:
        return (not self.pipeline or subject.label in self.pipeline) and (
            not self.pipeline_epsilons or epsilon in self.pipeline_epsilons
        )

    @property
    def models(self) -> dict[str, str]:
        """Which model has which part, to be named with every result."""
        bundled = "the bundled model"
        parts = {"remote": self.remote, "local": self.local, "attacker": self.attacker}
        served = {part: endpoint.model for part, endpoint in parts.items() if endpoint}
        return {
            "remote": bundled,
            "local": bundled,
            **served,
            "sentence encoder": self.encoder,
            "MAUVE features": self.features,
            **({"masked": ", ".join(self.masked)} if self.masked else {}),
        }

    @property
    def digest(self) -> str:
        """SHA-256 of all that a measurement can depend on. What has its default is left out: a
        key that a later version adds does not part a run from its measurements."""
        values = self.model_dump(
            mode="json", exclude={"name", "experiments"}, exclude_defaults=True
        )
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def suite_names() -> list[str]:
    """The suites that ship."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_suite(suite: str, changes: dict[str, Any] | None = None) -> Suite:
    """A shipped suite by name, or one from a YAML file, with some keys replaced.

    Raises:
        DataError: no such suite, or a key that is unknown or breaks its rule.
    """
    path = FOLDER / f"{suite}.yaml" if suite in suite_names() else Path(suite)
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except OSError as exc:
        known = ", ".join(suite_names())
        raise DataError(
            f"suite must be one of {known} or a file: {path}: {exc.strerror}"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as exc:
        raise DataError(f"{path}: not YAML: {type(exc).__name__}") from None
    try:
        return Suite(**{"name": path.stem, **values, **(changes or {})})
    except TypeError:
        raise DataError(f"{path}: must be a mapping") from None
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{path}: {place}: {first['msg']}") from None
