"""Keyed draws: the same document gets the same release, and over documents the law is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from perturb import get_mechanism, keyed_generator
from perturb.mechanisms.base import Perturber
from perturb.registry import sanitizer_classes
from perturb.release import Guarantee, Perturbation, Span
from perturb.sanitizer import Sanitizer
from perturb.selective.sanitizer import Selective, SelectiveParameters
from perturb.testing.statistics import ALPHA, p_value
from proxy.corpus.inputs.records import OURS, Record, make_table
from proxy.corpus.stage import RESULT, Recipe, Stage
from tests.perturb.marking import WORDS
from tests.proxy.corpus.documents import KEY, documents
from tests.proxy.storage.reports import report
from tests.tables import bundled_table

TEXT = "Anna Smith (anna@example.org) met Mr. Brown in Paris on 3 May 2021 and paid 250 euros."


def records(*rows: tuple[str, str, str]) -> pa.Table:
    return make_table([Record(text, name, owner, None) for name, owner, text in rows])


def release(stage: Stage, *rows: tuple[str, str, str]) -> list[str]:
    found: list[str] = stage(records(*rows))["released"].to_pylist()
    return found


def stage(key: bytes = KEY, **recipe: Any) -> Stage:
    return Stage(Recipe(**{"mechanism": "rantext_ldp", **recipe}).build(), key)


LOCAL = [name for name, kind in sanitizer_classes().items() if not kind.needs_model]


@pytest.mark.parametrize("name", LOCAL)
def test_a_document_gets_the_same_bytes_from_every_sanitizer(name):
    sanitizer = Recipe(name, epsilon=4.0).build()
    rows = [("a", "o", TEXT), ("b", "o", TEXT), ("c", "p", report(1)), ("d", "p", "")]
    first = Stage(sanitizer, KEY)(records(*rows))
    again = Stage(sanitizer, KEY)(records(*reversed(rows)))
    assert first["outcome"].to_pylist() == ["released"] * len(rows)
    assert first["released"].to_pylist() == again["released"].to_pylist()[::-1]


def test_selective_without_a_policy_of_its_own_is_consistent_within_an_owner():
    """Many texts of an owner are no better for averaging than one; another owner's differ."""
    made = stage(mechanism="selective", epsilon=4.0)
    texts = [f"Report {word}: anna@example.org called." for word in ("one", "two", "three")]
    names = [
        [text.partition(": ")[2] for text in release(made, *((t, owner, t) for t in texts))]
        for owner in ("o", "p")
    ]
    assert len(set(names[0])) == len(set(names[1])) == 1
    assert names[0] != names[1]


def test_another_id_secret_or_sanitizer_is_another_draw():
    ours, row = stage(), ("a", "o", report(3))
    [one] = release(ours, row)
    assert release(ours, ("b", *row[1:])) != [one]
    assert release(stage(bytes(32)), row) != [one]
    assert release(stage(epsilon=6.5), row) != [one]
    assert release(ours, ("a", "another owner", row[2])) == [one]  # whose text it is, is no noise


def test_receipts_and_prices_are_columns():
    found = stage()(records(("a", "o", "the meeting is on Monday"))).to_pylist()[0]
    assert [found[n] for n in ("epsilon", "epsilon_nominal", "unit", "mechanism", "outcome")] == [
        30.0,
        6.0,
        "token",
        "rantext_ldp",
        "released",
    ]
    assert found[f"{OURS}tokens"] == found[f"{OURS}count"] == 5
    whole = stage(mechanism="surrogate", epsilon=12.0)(records(("a", "o", TEXT))).to_pylist()[0]
    assert (whole["unit"], whole["epsilon"]) == ("document", 12.0)
    part = stage(mechanism="selective", parameters=WORDS)(records(("a", "o", TEXT))).to_pylist()[0]
    assert (part["unit"], part["epsilon"]) == ("marked part", None)
    assert part[f"{OURS}nominal"] > 0


# -- the law ------------------------------------------------------------------------------------

IDS = 3_000
WORD = "river"


def chi_square(key_of: Any) -> float:
    """The p-value of one word's releases over many ids against the mechanism's channel."""
    mechanism = get_mechanism("rantext_ldp", epsilon=8.0)
    sanitizer = Keyed(mechanism, key_of) if key_of else mechanism
    made = Stage(sanitizer, KEY)
    rows = [(f"note {i}", "o", WORD) for i in range(IDS)]
    words = [text.strip() for text in release(made, *rows)]
    places = {word: i for i, word in enumerate(bundled_table().vocabulary.words)}
    [row] = mechanism.channel(np.array([places[WORD]]))[0]
    order = np.argsort(-row, kind="stable")
    counts = np.bincount([places[word] for word in words], minlength=len(row))
    return p_value(counts[order], IDS * row[order])


class Keyed(Sanitizer):
    """A broken sanitizer: its noise is not that of the stage's key."""

    name = "broken"

    def __init__(self, inner: Any, key_of: Any) -> None:
        self._inner, self._key_of, self._made = inner, key_of, 0

    @property
    def guarantee(self) -> Guarantee:
        return self._inner.guarantee

    def identity(self) -> dict[str, Any]:
        return self._inner.identity()

    def perturb(self, text, rng=None, **rest: Any) -> Perturbation:
        self._made += 1
        return self._inner.perturb(text, keyed_generator(self._key_of(self._made)), **rest)

    def verify(self, raw, released) -> None:
        self._inner.verify(raw, released)


def test_over_ids_the_draws_have_the_law_of_the_mechanism():
    """An honest stage fails this once in 10^6 keys, and the key is fixed."""
    assert chi_square(None) > ALPHA


@pytest.mark.parametrize(
    "key_of",
    [
        lambda n: (n % 50).to_bytes(16, "big"),  # too few keys
        lambda n: bytes(16),  # one draw for all documents
    ],
)
def test_keys_that_repeat_are_caught(key_of):
    assert chi_square(key_of) < ALPHA


# -- failures -----------------------------------------------------------------------------------


class Failing(Keyed):
    """A plug-in that fails, and says on what."""

    def perturb(self, text, rng=None, **rest: Any) -> Perturbation:
        raise ValueError(text)


def test_a_failure_is_an_outcome_without_text():
    inner = get_mechanism("rantext_ldp")
    rows = [("a", "o", "canary word")]
    found = Stage(Failing(inner, None), KEY)(records(*rows)).to_pylist()[0]
    assert (found["outcome"], found["released"]) == ("Failed", None)
    assert "canary" not in repr(found)


def test_a_release_that_fails_its_check_is_not_released():
    class Wrong(Keyed):
        def perturb(self, text, rng=None, **rest: Any) -> Perturbation:
            return self._inner.perturb("another text of other words", rng)

    found = Stage(Wrong(get_mechanism("rantext_ldp"), None), KEY)(records(("a", "o", "one")))
    assert found["outcome"].to_pylist() == ["ReleaseError"]
    assert found["released"].to_pylist() == [None]


def test_a_text_that_is_too_long_is_refused_by_name():
    found = stage(max_tokens=20)(records(("a", "o", 3 * report(1)), ("b", "o", "short")))
    assert found["outcome"].to_pylist() == ["DocumentTooLong", "released"]


def test_a_stage_keeps_other_columns_and_drops_texts():
    rows = [Record(r["text"], r["id"], r["owner"], None) for r in documents(5)]
    given = make_table(rows, {"kind": pa.array([1, 2, 3, 4, 5])})
    found = stage()(given)
    assert found["kind"].to_pylist() == [1, 2, 3, 4, 5]
    assert found.column_names == [f"{OURS}id", f"{OURS}owner", "kind", *RESULT.names]
    assert not {r["text"] for r in documents(5)} & {str(v) for v in found["released"].to_pylist()}


class Reader:
    """Mark the first word, and remember how often each text was read."""

    version = "reader"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def find(self, text: str) -> list[Span]:
        self.texts.append(text)
        return [Span(0, text.index(" "), "X")]


def test_the_parts_of_a_document_are_looked_for_once() -> None:
    policy = Reader()
    sanitizer = Perturber(Selective(bundled_table(), SelectiveParameters(), policy=policy))
    made = Stage(sanitizer, KEY)(records(("a", "o", "Anna went."), ("b", "o", "Bo sat.")))
    assert made["outcome"].to_pylist() == ["released"] * 2
    assert policy.texts == ["Anna went.", "Bo sat."]
    Stage(sanitizer, KEY)(records(("a", "o", "Anna went.")))
    assert policy.texts[2:] == ["Anna went."]  # nothing outlives a document
