"""A small codebook, and sets whose documents are longer than their prefixes."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

from benchmarks.harness.context import Context
from benchmarks.harness.suite import Suite
from perturb.whole.build import build_codebook
from perturb.whole.codebook import Codebook, load_codebook
from perturb.whole.encoder import load_static
from perturb.whole.surrogate import Surrogate, SurrogateParameters
from tests.tables import bundled_table

SUBJECTS = {
    "river": "The river rose after the rain and the boats on the water broke loose from the quay",
    "bread": "The baker put the bread in the oven and the flour lay on the table of the kitchen",
    "court": "The judge heard the witness and the court of appeal then changed the sentence",
    "engine": "The engine of the car stopped on the road and the wheel turned without any oil",
    "planet": "The planet passed in front of the star and the telescope saw the light grow weak",
}
PASSAGES = [
    f"{text}, says report {word} of {place}."
    for text in SUBJECTS.values()
    for word in ("one", "two", "three", "four")
    for place in ("London", "Paris", "Rome", "Oslo")
]


def make_codebook(folder: Path, passages: list[str] = PASSAGES) -> Codebook:
    path = folder / "toy.codebook"
    build_codebook(passages, path, load_static(), licence="CC0", source="made for the tests")
    return load_codebook(path)


def make_surrogate(book: Codebook, epsilon: float, kind: type[Surrogate] = Surrogate) -> Surrogate:
    parameters = SurrogateParameters(epsilon=epsilon)
    return kind(book, load_static(), parameters, bundled_table().vocabulary)


def make_context(folder: Path, **whole: Any) -> Context:
    """A context over two sets, with a corpus; every document goes on for long enough."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(SUBJECTS)
    for dataset in ("first", "second"):
        with (folder / f"{dataset}.jsonl").open("w", encoding="utf-8") as file:
            for i, name in enumerate(names):
                prefix, continuation = SUBJECTS[name], f" and so it went on in {dataset} {name}."
                other = f" Much later people in {dataset} still spoke of the {name}."
                rest = other + " " + SUBJECTS[name] + f" again, as {dataset} had seen before."
                document = prefix + continuation + rest
                row = {"id": str(i), "prefix": prefix, "continuation": continuation}
                file.write(json.dumps({**row, "document": document}) + "\n")
    corpus = folder / "corpus.jsonl.xz"
    with lzma.open(corpus, "wt", encoding="utf-8") as file:
        for passage in PASSAGES:
            words = passage.replace(" and ", " while ").replace(" of ", " from ")
            file.write(
                json.dumps({"text": " ".join([words, "Nothing else is known."] * 3)}) + "\n"
            )
    suite = Suite(
        name="test",
        datasets=("first", "second"),
        subjects=[{"mechanism": "rantext_ldp"}],
        epsilons=(6.0,),
        texts=2,
        answers=2,
        whole={"texts": 3, "documents": 10, "words": 8, "passages": 40, **whole},
    )
    return Context(suite, folder, corpus, folder / "run")
