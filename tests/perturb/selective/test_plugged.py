"""Policies of other distributions: named in `policy`, alone or in a list, and never trusted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perturb import ParameterError, Perturber, plugins, seeded_generator
from perturb.errors import PluginError
from perturb.selective.plugged import BUILT_IN, GROUP, PluggedPolicy, policy_names
from perturb.selective.sanitizer import Selective, SelectiveParameters
from tests.perturb.marking import TABLE
from tests.plugins import lay_distribution

SOURCE = """
import re
from perturb import Span

class Orders:
    version = "7"
    def find(self, text):
        return [Span(*m.span(), "ORDER") for m in re.finditer("order-[a-z]+", text)]

class Raises:
    def __init__(self):
        raise RuntimeError("no list")

class Blind:
    pass

class Fails:
    def find(self, text):
        raise ValueError(text)

class Beyond:
    def find(self, text):
        return [Span(0, len(text) + 1, "ORDER")]

class Tuples:
    def find(self, text):
        return [(0, 1, "ORDER")]

class Regex:
    def find(self, text):
        return []
"""
NAMES = ("Orders", "Raises", "Blind", "Fails", "Beyond", "Tuples")
TEXT = "Anna Schmidt sent order-abc, and order-xyz is late."


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    points = {name.lower(): f"acme:{name}" for name in NAMES} | {"regex": "acme:Regex"}
    lay_distribution(tmp_path, monkeypatch, "acme", {GROUP: points}, SOURCE)
    yield
    plugins._plugins.cache_clear()
    sys.modules.pop("acme", None)


def parts(policy: Any, **more: Any) -> list[str]:
    mechanism = Selective(TABLE, SelectiveParameters(policy=policy, **more))
    return [TEXT[s.start : s.end] for s in mechanism.spans(TEXT) or ()]


def test_a_plugged_policy_marks_alone_and_beside_others() -> None:
    assert parts("orders") == ["order-abc", "order-xyz"]
    assert parts(["orders"]) == ["order-abc", "order-xyz"]
    assert parts(["regex", "orders"]) == ["Anna Schmidt", "order-abc", "order-xyz"]
    assert parts("orders", patterns={"LATE": "late"}) == ["order-abc", "order-xyz", "late"]


def test_what_it_marks_is_replaced_and_passes_the_check() -> None:
    perturber = Perturber(Selective(TABLE, SelectiveParameters(policy=("regex", "orders"))))
    done = perturber.perturb(TEXT, seeded_generator(1))
    perturber.verify(TEXT, done)
    assert done.receipt.entities == {"NAME": 1, "ORDER": 2}
    assert "order-abc" not in done.text


def test_entities_choose_among_what_is_built_in() -> None:
    assert parts(("regex", "orders"), entities=["DATE_TIME"]) == ["order-abc", "order-xyz"]
    with pytest.raises(ParameterError, match="^entities must be left out where a plug-in's"):
        SelectiveParameters(policy="orders", entities=("ORDER",))


def test_one_name_and_a_list_of_one_are_the_same() -> None:
    one, listed = SelectiveParameters(policy="regex"), SelectiveParameters(policy=("regex",))
    assert one == listed
    assert Selective(TABLE, one).identity()["policy"] == "regex"


def test_another_version_is_another_channel() -> None:
    identity = Selective(TABLE, SelectiveParameters(policy="orders")).identity()
    assert "acme 1.0 7" in identity["marks"]


def test_a_built_in_name_is_never_taken() -> None:
    assert policy_names() == (*BUILT_IN, *sorted(map(str.lower, NAMES)))
    assert BUILT_IN == ("regex", "digits", "detector", "all")
    assert parts("regex") == ["Anna Schmidt"]


@pytest.mark.parametrize("policy", ["Regex", 3, None, ["knn"], [], [3], ("regex", "names")])
def test_unknown_policies_are_refused_with_the_known_ones(policy: Any) -> None:
    with pytest.raises(ParameterError, match="^policy must be 'regex', .*; plug-ins have beyond,"):
        SelectiveParameters(policy=policy)


def test_all_stands_alone() -> None:
    with pytest.raises(ParameterError, match="^policy must be 'all' alone"):
        SelectiveParameters(policy=("all", "orders"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("raises", "cannot be built: RuntimeError: no list"),
        ("blind", "must make a policy: an object with find(text) -> spans"),
    ],
)
def test_a_broken_policy_is_refused_by_its_distribution(name: str, said: str) -> None:
    with pytest.raises(PluginError) as caught:
        Selective(TABLE, SelectiveParameters(policy=name))
    place = f"acme 1.0 (entry point {name} = acme:{name.title()} in {GROUP})"
    assert str(caught.value) == f"{place} {said}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fails", "failed with ValueError"),
        ("beyond", "must mark parts of the text, as perturb.Span"),
        ("tuples", "must mark parts of the text, as perturb.Span"),
    ],
)
def test_a_policy_that_fails_stops_the_text_and_quotes_nothing_of_it(name: str, said: str) -> None:
    with pytest.raises(PluginError) as caught:
        Perturber(Selective(TABLE, SelectiveParameters(policy=name))).perturb(TEXT)
    place = f"acme 1.0 (entry point {name} = acme:{name.title()} in {GROUP})"
    assert str(caught.value) == f"{place} {said}"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_name_that_is_gone_is_refused() -> None:
    with pytest.raises(ParameterError, match="^policy must be one of regex, "):
        PluggedPolicy("gone")
