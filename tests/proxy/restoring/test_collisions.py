"""Different values of one request come back as themselves, or stand visibly unrestored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extraction.restore import restore
from perturb.selective.patterns.checks import passes_luhn
from proxy.config.store import StoreSettings as StoreSettings
from proxy.pipeline.drafting import find
from proxy.release import Release, pair_parts
from proxy.restoring.text import Replacements, TextRestorer, spell_pieces
from proxy.restoring.way_back import WayBack, build_way_back, find_lost
from proxy.storage.memo import Memo, Pending
from proxy.storage.opening import open_store
from tests.perturb.marking import selective

ACTIONS: dict[str, Any] = {
    "replace": (),
    "surrogate": (("*", "surrogate"),),
    "value": (("*", "value"),),
    "mixed": (("*", "surrogate"), ("AGE", "value"), ("DATE_TIME", "value"), ("MONEY", "value")),
}


class Composition:
    """Releases the texts of requests as the gateway does: findings, memo, way back."""

    def __init__(self, folder: Path) -> None:
        self.runner, self.stack = asyncio.Runner(), AsyncExitStack()
        opened = open_store(StoreSettings(folder=str(folder / "collisions")))
        self.store = self.runner.run(self.stack.enter_async_context(opened))
        self.tenants = 0

    def close(self) -> None:
        self.runner.run(self.stack.aclose())
        self.runner.close()

    def release(
        self, action: str, texts: Sequence[str], *, memo: Memo | None = None, tenant: str = ""
    ) -> list[Release]:
        self.tenants += 1
        memo = memo or Memo(self.store, size=10**7, ttl=600)
        perturber = selective(actions=ACTIONS[action], policy=("regex", "digits"))

        async def work() -> list[Release]:
            found = find(perturber, [[text] for text in texts])
            pending = [
                Pending(text, *found.channels(text, turn)) for turn, text in enumerate(texts)
            ]
            return await memo.releases(tenant or f"t{self.tenants}", "", perturber, pending)

        releases = self.runner.run(work())
        for release in releases:
            perturber.verify(release.raw, release.sanitized)
        return releases


@pytest.fixture(scope="module")
def composition(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composition]:
    made = Composition(tmp_path_factory.mktemp("store"))
    yield made
    made.close()


def echo_text(back: WayBack, text: str, size: int) -> tuple[str, int]:
    """Return the restored text of an answer in pieces, and how many were left in it."""
    reader = back.read_content()
    out = "".join(reader.feed(text[i : i + size]) for i in range(0, len(text), size))
    return out + reader.finish(), reader.count().unrestored


def echo_json(back: WayBack, values: list[str]) -> list[str]:
    reader = back.read_json()
    out = reader.feed(json.dumps({"all": values, "note": "; ".join(values)})) + reader.finish()
    return list(json.loads(out)["all"])


def spell(text: str) -> str:
    return " ".join(text.split())


def check(releases: Sequence[Release], size: int = 7) -> tuple[int, int]:
    """Check each part of releases on its way back; return how many came back, and how many did
    not."""
    wholes = [release.raw for release in releases]
    back = build_way_back(releases, (), ())
    pairs, kept = pair_parts(releases)
    back_of_json = build_way_back(releases, wholes, ())
    restored = left = 0
    lines, of_json = [new for new, _ in pairs], echo_json(back_of_json, [new for new, _ in pairs])
    for (new, raw), line, inside in zip(pairs, lines, of_json, strict=True):
        shown, _ = echo_text(back, f"<{line}> is it", size)
        text = shown.removeprefix("<").removesuffix("> is it")
        for way in (text, inside, restore(f"<{line}> is it", pairs, "\n".join(kept))[1:-7]):
            assert spell(way) in (spell(raw), spell(new)), (raw, new, way)
        if spell(text) == spell(raw):
            restored += 1
        else:
            left += 1
            assert back.ambiguous
    lost = {id(release): parts for release, parts in find_lost(back, releases)}
    for release in releases:  # a text of which nothing is lost comes back, streamed as well
        shown, _ = echo_text(back, release.sanitized.text, size)
        assert (shown == release.raw) != bool(lost.get(id(release)))
    for release in releases:  # the whole texts, too: what is restored is restored in place
        shown, _ = echo_text(back, release.sanitized.text, size)
        parts = [(p.text, release.raw[p.start : p.end]) for p in release.sanitized.replaced or ()]
        assert len(shown) or not release.raw
        if all(echo_text(back, f"<{new}>", size)[0] == f"<{raw}>" for new, raw in parts):
            assert shown == release.raw
    return restored, left


SURNAMES = """
    Novak Maier Kowalski Okafor Lindqvist Petrov Haddad Nakamura Fischer Moreau Rossi Jansen Dubois
    Svensson Horvat Papadakis Silva Andersen Keller Brandt O'Brien Weiß
"""
GIVEN = "Anna Greta Theo Tim Karl Jan Maria Ravi Aisha Pedro Ingrid Xylander Nóra Li"
DIGITS = st.text("0123456789", min_size=1, max_size=12)
CARDS = st.integers(0, 10**6).map(
    lambda n: next(card for d in range(10) if passes_luhn(card := f"409526{n:09d}{d}"))
)
DAYS = st.dates(min_value=date(1950, 1, 1), max_value=date(2050, 1, 1))
VALUES = st.one_of(
    st.sampled_from(SURNAMES.split()).map(lambda n: f"Mr. {n}"),
    st.tuples(st.sampled_from(GIVEN.split()), st.sampled_from(SURNAMES.split())).map(" ".join),
    st.tuples(st.sampled_from("ABJKTX"), st.sampled_from(SURNAMES.split())).map(". ".join),
    st.sampled_from(GIVEN.split()).map(lambda n: f"Dear {n},"),
    st.tuples(st.sampled_from("abcjkt"), st.sampled_from("xy")).map(
        lambda t: f"{t[0]}@{t[1]}.org"
    ),
    st.tuples(st.sampled_from(GIVEN.split()), DIGITS).map(
        lambda t: f"{t[0].lower()}{t[1][:2]}@firm.de"
    ),
    st.integers(0, 999).map(lambda n: f"+49 30 1234{n:03d}"),
    DIGITS.map(lambda d: f"locker {d}"),
    st.decimals(0, 999, places=1).map(lambda d: f"level {d}"),
    DAYS.map(lambda d: f"{d:%d.%m.%Y}"),
    DAYS.map(lambda d: f"{d.day} {d:%B} {d.year}"),
    DAYS.map(lambda d: f"{d:%d/%m/%Y}"),
    st.integers(0, 20000).map(lambda n: f"${n:,}"),
    st.integers(1, 90).map(lambda n: f"aged {n}"),
    st.integers(1, 40).map(lambda n: f"{n} years"),
    st.integers(0, 999).map(lambda n: f"no. AB-{n:03d}"),
    CARDS.map(lambda c: f"card {c}"),
    st.tuples(*[st.integers(1, 250)] * 2).map(lambda t: f"host 10.0.{t[0]}.{t[1]}"),
    st.from_regex(r"x\d[a-z]-\d{2}", fullmatch=True).map(lambda t: f"part {t}"),
)
TEXTS = st.lists(
    st.lists(VALUES, min_size=1, max_size=6).map(lambda some: "so " + "; and then ".join(some)),
    min_size=1,
    max_size=5,
    unique=True,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(sorted(ACTIONS)), TEXTS, st.integers(1, 9))
def test_values_come_back_as_themselves_or_not_at_all(
    composition: Composition, action: str, texts: list[str], size: int
) -> None:
    check(composition.release(action, texts), size)


@pytest.mark.parametrize("action", ["surrogate", "mixed"])
@pytest.mark.parametrize("apart", [True, False])
def test_many_surnames_stay_apart(composition: Composition, action: str, apart: bool) -> None:
    names = [f"Q{a}{b}o{c}" for a in "aeiou" for b in "bd" for c in "bdfgklmnprst"]
    texts = [f"so Mr. {name} came" for name in names]
    releases = composition.release(action, texts if apart else ["; ".join(texts)])
    pairs, _ = pair_parts(releases)
    assert {raw for _, raw in pairs} >= set(names)
    assert len({new for new, _ in pairs}) == len({raw for _, raw in pairs})
    check(releases)
    back = build_way_back(releases, (), ())
    for new, raw in pairs:
        if raw in names:  # a title that is taken for a name may become one letter, which is left
            assert echo_text(back, f"so {new} came", 7) == (f"so {raw} came", 0)


@pytest.mark.parametrize("action", ["surrogate", "replace"])
@pytest.mark.parametrize("apart", [True, False])
def test_every_number_of_three_digits_stays_apart(
    composition: Composition, action: str, apart: bool
) -> None:
    lockers = [f"locker {n}" for n in range(100, 1000, 3 if apart else 1)]
    releases = composition.release(action, lockers if apart else [" and ".join(lockers)])
    pairs, _ = pair_parts(releases)
    assert len(pairs) == len({new for new, _ in pairs}) == len(lockers)
    back = build_way_back(releases, (), ())
    assert back.ambiguous == 0
    for release in releases:
        assert echo_text(back, release.sanitized.text, 50)[0] == release.raw


def test_equal_values_of_two_amounts_are_left_and_counted(composition: Composition) -> None:
    seen = 0
    for _ in range(20):
        releases = composition.release("value", [f"it cost ${n},500 then" for n in range(3, 9)])
        pairs, _ = pair_parts(releases)
        shared = {new for new, _ in pairs if len({r for n, r in pairs if n == new}) > 1}
        back = build_way_back(releases, (), ())
        assert back.ambiguous >= len(shared)
        for new in shared:
            assert echo_text(back, f"about {new} then", 5) == (f"about {new} then", 1)
        seen += len(shared)
    assert seen


def test_nothing_is_restored_inside_of_what_is_left() -> None:
    reader = TextRestorer(Replacements({"2023": "2019", "Ada": "Eva"}, ["9 June 2023", "Ada Yar"]))
    for text in ("on 9 June 2023", "so Ada Yar came"):
        assert spell_pieces(reader.feed(text)) + spell_pieces(reader.finish()) == text
    assert reader.left == 2
    pairs = [("9 June 2023", "1 May 2020"), ("9 June 2023", "2 May 2020"), ("2023", "2019")]
    assert restore("9 June 2023, 2023 and 2023.5", pairs) == "9 June 2023, 2019 and 2023.5"
    # A date that is written in another way is no third date.
    assert restore("June 9", [("9 June 2023", "1 May 2020")]) == "June 9"


def test_new_values_avoid_what_the_conversation_released_before(
    composition: Composition,
) -> None:
    names = [f"Q{a}{b}o{c}" for a in "aeiou" for b in "bdfgk" for c in "bdfgklmnprst"]
    texts = [f"so Mr. {name} came" for name in names]
    memo = Memo(composition.store, size=10**7, ttl=600)
    earlier: list[Release] = []
    for n in (1, 20, 60, 300):
        releases = composition.release("surrogate", texts[:n], memo=memo, tenant="x")
        same = zip(releases, earlier, strict=False)
        assert all(one.sanitized.text == other.sanitized.text for one, other in same)
        earlier = releases
    pairs = pair_parts(releases)[0]
    assert len({new for new, _ in pairs}) == len({raw for _, raw in pairs})


@pytest.mark.parametrize("action", ["replace", "surrogate", "value"])
@pytest.mark.parametrize(
    "text",
    [
        "it cost 6.340,00 €\n\n- so be it",
        "it cost 6.340,00 €\n  then",
        "€ 6.340,00\n€ 7.350,00\n\n€ 8.360,00 €",
        "so Kowalewski ★\n\nwrote",
        "| 6.340,00 € | Kowalewski |\n|---|---|",
    ],
)
def test_a_sign_at_the_edge_of_a_part_takes_no_line_with_it(
    composition: Composition, action: str, text: str
) -> None:
    for _ in range(5):
        (release,) = composition.release(action, [text])
        parts = [part.text for part in release.sanitized.replaced or ()]
        assert parts
        assert parts == [part.strip() for part in parts]
        back = build_way_back([release], (), ())
        shown, left = echo_text(back, release.sanitized.text, 3)
        assert shown == text or left or back.ambiguous
