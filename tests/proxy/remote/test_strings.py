"""The clearance of a gateway: nothing but releases and words passes, wherever it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perturb import EmbeddingTable, Perturber, get_mechanism
from perturb.work import Findings, remember_texts
from proxy.errors import GuardRefused
from proxy.release import Release
from proxy.remote.guard import StringClearance, check_releases
from tests.perturb.marking import WORDS

RAW = "Ask Mr. Kowalewski about card 4095-2609-9393-4932."


@pytest.fixture(scope="module")
def cleared(table: EmbeddingTable) -> StringClearance:
    sanitizer = Perturber(get_mechanism("selective", table, epsilon=6, **WORDS))
    release = Release(RAW, sanitizer.perturb(RAW), sanitizer, b"")
    return StringClearance((release,), frozenset(("model", "x", "$defs", "messages")))


def check(cleared: StringClearance, body: Any) -> None:
    cleared.check(json.dumps(body).encode())


def test_what_was_cleared_passes_anywhere(cleared: StringClearance) -> None:
    text = cleared.releases[0].sanitized.text
    inner = json.dumps({"x": [text, 1.5, None]})
    for value in (text, [text], {text: "x"}, inner, f"#/$defs/{text}", " ", "", 0.5, True, None):
        check(cleared, {"model": "x", "messages": value})


@pytest.mark.parametrize(
    "value",
    [
        RAW,
        "y",
        {"y": 1},
        ["x", "y"],
        json.dumps({"x": "y"}),
        json.dumps([RAW]),
        '{"x": "y", "x": "x"}',
        '{"x": 1.00000000000000000004095260993}',
        '{"x": 0e4095260993}',
        "#/$defs/y",
        "{not json",
        "[1, 2",
        4095260993934932,
        {"x": [4095260993934932]},
        json.dumps({"x": 4095260993934932}),
    ],
)
def test_what_was_not_cleared_is_refused_anywhere(cleared: StringClearance, value: Any) -> None:
    number = "4095260993934932"
    if number in json.dumps(value):  # a number that a release hides
        release = cleared.releases[0]
        raw = RAW.replace("4095-2609-9393-4932", number)
        made = release.sanitizer.perturb(raw)
        hidden = Release(raw, made, release.sanitizer, b"1")
        cleared = StringClearance((hidden,), cleared.words)
    with pytest.raises(GuardRefused):
        check(cleared, {"model": "x", "messages": value})


def test_a_release_that_no_mechanism_makes_is_refused(cleared: StringClearance) -> None:
    (release,) = cleared.releases
    wrong = Release("Ask Mrs. Smith.", release.sanitized, release.sanitizer, b"")
    with pytest.raises(GuardRefused):
        check(StringClearance((wrong,), cleared.words), {})


def test_what_is_not_json_is_refused(cleared: StringClearance) -> None:
    with pytest.raises(GuardRefused):
        cleared.check(b"model=x")


def test_a_text_that_passed_before_is_refused_once_it_holds_a_part(table: EmbeddingTable) -> None:
    sanitizer = Perturber(get_mechanism("selective", table, epsilon=6, **WORDS))
    first, second, third = (
        Release(raw, sanitizer.perturb(raw), sanitizer, b"")
        for raw in (RAW, "is it kowalewski who called?", "Ask Mr. Wutkewicz.")
    )
    assert "kowalewski" in second.sanitized.text
    with remember_texts(Findings(), "alice"):
        for _ in range(2):
            check_releases([third, second])
            check_releases([second, first])  # it was not known then
            with pytest.raises(GuardRefused, match="holds a sensitive part"):
                check_releases([first, second])
