"""The configuration of a run. It is frozen and read from YAML; unknown keys are errors."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, ValidationInfo, field_validator

from benchmarks.harness.datasets import OPEN_ENDED, DataError
from proxy.config.fields import Section

__all__ = ["CORPUS", "Endpoint", "Subject", "Suite", "Whole", "list_suites", "load_suite"]

FOLDER = Path(__file__).parents[1] / "suites"
CORPUS = "corpus"  # names the codebook that a run makes of its corpus


class Endpoint(Section):
    """Define an OpenAI-compatible server. The key is read from the named environment variable."""

    base_url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"


class Subject(Section):
    """Define a mechanism to compare: one curve over ε."""

    mechanism: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    epsilons: tuple[float, ...] = ()

    @property
    def label(self) -> str:
        """Return the mechanism's name and its parameters that differ from the default."""
        return " ".join([self.mechanism, *(str(v) for v in self.parameters.values())])


class Whole(Section):
    """Define the measurements of whole documents.

    Attributes:
        subjects: the sanitizers, of single words and of whole texts. The parameter `codebook:
            corpus` stands for a codebook that the run makes of its corpus.
        documents: texts among which an attacker names the one that was released.
        words: words of V in each of them.
        texts: prefixes of each set, for all other figures.
        passages: of the codebook that is made of the corpus with the bundled encoder.
        encoders: more encoders for the worth of the remote, each with the number of passages of
            its codebook: `minilm`, or a sentence-transformers model.
        epsilons: of the whole text, where the worth of the remote is measured.
        extraction: what the local model sees of a generation where two candidates are judged:
            a `relevant` one, or `all`.
    """

    subjects: tuple[Subject, ...] = (
        Subject(mechanism="rantext", epsilons=(3.0, 6.0, 10.0)),
        Subject(mechanism="rantext_ldp", epsilons=(3.0, 6.0, 8.0, 10.0)),
        Subject(mechanism="surrogate", epsilons=(6.0, 8.0, 10.0, 12.0, 14.0, 16.0)),
        Subject(
            mechanism="surrogate",
            parameters={"codebook": CORPUS},
            epsilons=(6.0, 8.0, 10.0, 12.0, 14.0, 16.0),
        ),
    )
    documents: int = Field(1000, ge=2)
    words: int = Field(20, ge=1)
    texts: int = Field(250, ge=2)
    passages: int = Field(65_536, ge=2)
    encoders: dict[str, int] = Field(default_factory=lambda: {"minilm": 10_000})
    epsilons: tuple[float, ...] = (8.0, 10.0, 12.0, 14.0, 16.0)
    extraction: Literal["relevant", "all"] = "relevant"

    @field_validator("subjects")
    @classmethod
    def _labels_differ(cls, subjects: tuple[Subject, ...]) -> tuple[Subject, ...]:
        return _check_labels(subjects)

    @property
    def points(self) -> list[tuple[Subject, float]]:
        """Return every sanitizer at every ε of its own."""
        return [(subject, epsilon) for subject in self.subjects for epsilon in subject.epsilons]


class Suite(Section):
    """Hold everything that decides what `run` measures.

    Attributes:
        experiments: names from `python -m benchmarks list`; empty for all.
        subjects: the mechanisms; one without ε of its own takes `epsilons`.
        pipeline, pipeline_epsilons: labels of the subjects that answers are generated for, and
            their ε; empty for all.
        texts: prefixes of each set that are attacked.
        answers: prefixes of each set that the whole pipeline answers, and texts of each author
            that are attributed.
        remote, local, attacker: models; None means the bundled one, or for `attacker` no model.
        expected_texts: prefixes of each set for which an Expected set of words is made.
        expected_draws: raw generations for each Expected set.
        encoder: the sentence encoder of coherence and similarity: `minilm`, or the name of a model
            on the Hugging Face hub.
        features: the encoder of the features that MAUVE clusters, likewise.
        encoders: more sentence encoders, to compare documents with perturbed documents.
        tokens: the model whose token vectors BERTScore compares.
        causal: causal language models that guess words: `bundled`, names on the hub or folders.
        masked: masked language models that guess words: names or folders.
        whole: the measurements of whole documents.
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
    whole: Whole = Whole()

    @field_validator("subjects")
    @classmethod
    def _labels_differ(cls, subjects: tuple[Subject, ...]) -> tuple[Subject, ...]:
        return _check_labels(subjects)

    @field_validator("pipeline")
    @classmethod
    def _labels_exist(cls, pipeline: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        known = [subject.label for subject in info.data.get("subjects", ())]
        for label in pipeline if known else ():
            if label not in known:
                raise ValueError(f"must be of {', '.join(known)}, got {label!r}")
        return pipeline

    def points(self, *, pipeline: bool = False) -> list[tuple[Subject, float]]:
        """Return every mechanism at every ε of its own; with `pipeline`, only those that answers
        are generated for."""
        found = [(s, epsilon) for s in self.subjects for epsilon in s.epsilons or self.epsilons]
        return [point for point in found if self._answered(*point)] if pipeline else found

    def cases(self, *, pipeline: bool = False, **more: str) -> list[dict[str, Any]]:
        """Return every point on every set, JSON-ready, each extended by `more`."""
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
        """Return the model in each role, to be named with every result."""
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
        """Return the SHA-256 of everything that a measurement can depend on. Defaults are left
        out, so that a key added by a later version does not separate a run from its
        measurements."""
        values = self.model_dump(
            mode="json", exclude={"name", "experiments"}, exclude_defaults=True
        )
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _check_labels(subjects: tuple[Subject, ...]) -> tuple[Subject, ...]:
    labels = [subject.label for subject in subjects]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"two subjects have the label {label!r}")
    return subjects


def list_suites() -> list[str]:
    """Return the names of the suites that ship."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_suite(suite: str, changes: dict[str, Any] | None = None) -> Suite:
    """Load a shipped suite by name, or one from a YAML file, and replace some keys.

    Raises:
        DataError: no such suite, or a key that is unknown or breaks its rule.
    """
    path = FOLDER / f"{suite}.yaml" if suite in list_suites() else Path(suite)
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except OSError as exc:
        known = ", ".join(list_suites())
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
