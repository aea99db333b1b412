"""Plans hold the cases that the page shows, and every target's name is its own."""

from __future__ import annotations

from benchmarks.load.plan import CONNECTIONS, full_plan, quick_plan
from benchmarks.load.wrk import Case


def test_names_are_unique() -> None:
    for plan in (quick_plan(), full_plan(workers=2)):
        names = [target.name for target, _ in plan.cases]
        assert len(set(names)) == len(names)
        assert all(len(set(cases)) == len(cases) for _, cases in plan.cases)


def test_all_targets_begin_with_the_short_chats() -> None:
    """Memory is compared after these, so nothing else may come before them."""
    for _, cases in full_plan().cases:
        assert cases[: len(CONNECTIONS)] == tuple(Case(c) for c in CONNECTIONS)


def test_targets_are_chosen_by_parts_of_their_names() -> None:
    names = [target.name for target, _ in full_plan().only(["litellm", "postgres"]).cases]
    assert names == ["LiteLLM", "inferdpt rantext_ldp, postgresql"]


def test_workers_are_a_target_of_their_own() -> None:
    names = {target.name for target, _ in full_plan(workers=2).cases}
    assert names - {target.name for target, _ in full_plan().cases} == {
        "inferdpt rantext_ldp, 2 workers"
    }
