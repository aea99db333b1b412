"""The way back of a request: what can be restored, and what came back altered."""

from __future__ import annotations

import pytest

from perturb import EmbeddingTable, Perturbation, Perturber, get_mechanism
from perturb.release import Replacement
from proxy.release import Release
from proxy.restoring.altered import count_altered
from proxy.restoring.text import Replacements
from proxy.restoring.way_back import Restored, build_way_back

TABLE = Replacements({"Harrison": "Weber", "Mary Stone": "Anna Weber", "5521-9034": "1234-5678"})


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Harrison, Mary Stone and 5521-9034", 0),
        ("HARRISON", 1),
        ("harrison", 0),  # a word like any other
        ("MARY STONE and mary stone", 2),
        ("55219034, 5521 9034", 2),
        ("HARRISONS and 155219034", 0),
        ("", 0),
    ],
)
def test_altered_replacements_are_counted(text: str, count: int) -> None:
    assert count_altered(text, TABLE) == count


@pytest.fixture(scope="module")
def made(table: EmbeddingTable) -> Perturbation:
    return Perturber(get_mechanism("selective", table, epsilon=6)).perturb("x")


def release(made: Perturbation, raw: str, parts: dict[str, str]) -> Release:
    """A release in which each of some parts has a replacement."""
    replaced, text = [], raw
    for part, new in parts.items():
        start = raw.index(part)
        replaced.append(Replacement(start, start + len(part), "NAME", new))
        text = text.replace(part, new)
    done = Perturbation(text, (), made.receipt, tuple(replaced))
    return Release(raw, done, None, b"")  # type: ignore[arg-type]


def test_what_could_mean_something_else_is_ambiguous(made: Perturbation) -> None:
    releases = [
        release(made, "Ask Anna.", {"Anna": "Mary"}),
        release(made, "Ask Berta.", {"Berta": "Mary"}),  # two values share it
        release(made, "Ask Clara.", {"Clara": "Paris"}),
        release(made, "Is Paris far?", {}),  # it is ordinary text, too
        release(made, "ask dora", {"dora": "table"}),  # a word in small letters
        release(made, "aged 8", {"8": "5"}),  # a single digit
        release(made, "see https://a.example", {"https://a.example": "https://" + "b" * 400}),
        release(made, "aged 34", {"34": "57"}),
    ]
    back = build_way_back(releases, (), ())
    assert back.replacements.raw_of == {"57": "34"}
    assert back.ambiguous == 5


def test_whole_strings_come_back_as_a_whole(made: Perturbation) -> None:
    releases = [
        release(made, "dora", {"dora": "table"}),
        release(made, "get_dora", {"dora": "table"}),
        release(made, "plain", {}),
    ]
    back = build_way_back(releases, ["dora", "get_dora", "plain"], ["get_dora"])
    assert back.wholes == {"table": "dora", "get_table": "get_dora"}
    assert back.names == {"get_table": "get_dora"}
    read = back.read_json()
    assert read.feed('{"table": "a table"}') + read.finish() == '{"dora": "a table"}'
    assert read.count() == Restored(1, 0)


def test_whole_strings_that_became_alike_do_not_come_back(made: Perturbation) -> None:
    releases = [
        release(made, "dora", {"dora": "table"}),
        release(made, "ella", {"ella": "table"}),
        release(made, "fred", {"fred": "plain"}),
        release(made, "plain", {}),
    ]
    assert build_way_back(releases, ["dora", "ella", "fred", "plain"], ()).wholes == {}
