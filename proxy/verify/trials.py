"""Choose the requests of a verification: all of them, or a sample by a seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.verify.documents import DOCUMENTS, Document, write_document
from proxy.verify.places import PLACES, Place
from proxy.verify.upstream import find_echo
from proxy.verify.values import IN_CONTEXT, NUMBER, TYPES, Value, Values
from proxy.verify.ways_back import WAYS

__all__ = ["ALL_TYPES", "DOCUMENTS_EACH", "VALUES_EACH", "Trial", "plan_trials"]

VALUES_EACH = 3  # sampled types for each position, and for each way back
DOCUMENTS_EACH = 2  # sampled kinds of documents for each
ALL_TYPES = (*TYPES, *IN_CONTEXT, NUMBER)


@dataclass(frozen=True)
class Trial:
    """Hold one request of a verification.

    Attributes:
        place: the position of the private values in the request, or the way back.
        kind: the type of the value, or the kind of the document.
        values: the private values, none of which may arrive.
        answer: the answer that must come back; None if it does not matter.
    """

    endpoint: str
    place: str
    kind: str
    body: dict[str, Any]
    values: tuple[Value, ...]
    answer: str | None


def plan_trials(
    model: str,
    *,
    types: Collection[str] = ALL_TYPES,
    places: Sequence[Place] = PLACES,
    kinds: Collection[str] = tuple(DOCUMENTS),
    seed: int = 1,
    full: bool = False,
) -> list[Trial]:
    """Return the requests, in a random order.

    Without `full`, each position and each way back has `VALUES_EACH` types and `DOCUMENTS_EACH`
    kinds of documents, of those that fit, and each type and kind is about as frequent as others.

    Args:
        model: the model to request.
        types: the types of values that must not arrive, of `ALL_TYPES`.
        kinds: the kinds of documents.
        seed: chooses the sample and the values.
    """
    chance = random.Random(seed)  # noqa: S311 - a sample is no secret
    values = Values(seed)
    trials = []
    for candidates, each in (
        (_list_values(values, places, types, model), VALUES_EACH),
        (_list_documents(values, places, kinds, types, model), DOCUMENTS_EACH),
    ):
        rows = [list(row) for row in candidates]
        chosen = rows if full else _sample(rows, each, chance)
        trials += [trial for row in chosen for trial in row]
    chance.shuffle(trials)
    return trials


def _sample(rows: Sequence[list[Trial]], each: int, chance: random.Random) -> list[list[Trial]]:
    """Return some trials of each row, of those kinds that were chosen least so far."""
    used: Counter[str] = Counter()
    chosen = []
    for row in rows:
        order = {trial.kind: (used[trial.kind], chance.random()) for trial in row}
        some = sorted(row, key=lambda trial: order[trial.kind])[:each]
        used.update(trial.kind for trial in some)
        chosen.append(some)
    return chosen


def _list_values(
    values: Values, places: Iterable[Place], types: Collection[str], model: str
) -> Iterator[Iterator[Trial]]:
    """Yield the trials with one value, those of each position and of each way back together."""

    def make_all() -> Iterator[Value]:
        return (values.make(type_) for type_ in TYPES if type_ in types)

    def plant(place: Place) -> Iterator[Trial]:
        for value in make_all():
            if place.kind == "number" and value.number_type not in types:
                continue
            if (body := place.plant(value, model)) is not None:
                yield Trial(place.endpoint, place.name, value.type, body, (value,), None)

    yield from map(plant, places)
    for way in WAYS:
        texts = [(f"Please keep {value.text} in mind.", value) for value in make_all()]
        yield (
            Trial(way.endpoint, way.name, value.type, way.ask(text, model), (value,), text)
            for text, value in texts
        )


def _list_documents(
    values: Values,
    places: Iterable[Place],
    kinds: Collection[str],
    types: Collection[str],
    model: str,
) -> Iterator[Iterator[Trial]]:
    """Yield the trials with documents, those of each position and of each way back together."""

    def write() -> Iterator[Document]:
        return (write_document(kind, values, types) for kind in kinds)

    for place in {(place.endpoint, place.path): place for place in places}.values():
        bodies = ((document, place.write(document.text, model)) for document in write())
        yield (
            Trial(
                place.endpoint,
                place.name,
                document.kind,
                body,
                document.values,
                find_echo(body),
            )
            for document, body in bodies
            if body is not None
        )
    for way in WAYS:
        yield (
            Trial(
                way.endpoint,
                way.name,
                document.kind,
                way.ask(document.text, model),
                document.values,
                document.text,
            )
            for document in write()
        )
