"""The way back of a request: what can be restored, and what is lost."""

from __future__ import annotations

import json
import random
import re

import pytest

from perturb import EmbeddingTable, Perturbation, Perturber, get_mechanism
from perturb.release import Replacement
from perturb.testing.growth import grows_linearly
from perturb.work import Findings, remember_texts
from proxy.release import Release
from proxy.restoring.json_text import DEEPEST, find_strings
from proxy.restoring.way_back import Restored, build_way_back, find_lost
from tests.perturb.marking import WORDS


@pytest.fixture(scope="module")
def made(table: EmbeddingTable) -> Perturbation:
    return Perturber(get_mechanism("selective", table, epsilon=6, **WORDS)).perturb("x")


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


def test_a_release_that_comes_back_is_not_lost(made: Perturbation) -> None:
    releases = [
        release(made, "Ask Anna Weber, Anna or ANNA.", {"Anna Weber": "Edvar Tarn"}),
        release(made, "say x", {}),
        release(made, "pay 34", {"34": "57"}),
        release(made, "", {}),
    ]
    assert find_lost(build_way_back(releases, (), ()), releases) == []
    assert find_lost(build_way_back([], (), ()), []) == []


def test_the_parts_that_are_lost_are_told(made: Perturbation) -> None:
    releases = [
        release(made, "Anna and Cleo", {"Anna": "Edvar", "Cleo": "Tarnley"}),
        release(made, "Berta, Dora and Cleo", {"Berta": "Edvar", "Dora": "a", "Cleo": "Tarnley"}),
        release(made, "is it Zett?", {"Zett": "Tarnley"}),
        release(made, "Edvar is kept", {}),
    ]
    lost = find_lost(build_way_back(releases, (), ()), releases)
    told = [(release.raw, sorted(parts)) for release, parts in lost]
    wanted = [[0, 1], [0, 1, 2], [0]]
    assert told == [(r.raw, parts) for r, parts in zip(releases, wanted, strict=False)]


def test_a_part_in_an_address_is_lost(made: Perturbation) -> None:
    releases = [
        release(made, "see https://x.example/?q=Anna or Anna", {}),
        # A tag that is too long to come back as a whole.
        release(made, f"<img src='Annabel' alt='{'x ' * 400}'> Zett", {"Annabel": "Edvar"}),
    ]
    ((lost, parts),) = find_lost(build_way_back(releases, (), ()), releases)
    assert (lost, sorted(parts)) == (releases[1], [0])


@pytest.mark.parametrize(
    "shown",
    [
        "     7→DB={}",
        "DB={}",
        "`{}`",
        "a,{},b",
        "[x]({})",
        '{{"url": "{}", "n": 1}}',
        "see {}, or",
    ],
)
@pytest.mark.parametrize("told", ["{}", "it is {}.", "`{}`", "DB={}\nX=1", "1,{}", '"{}"'])
def test_an_address_comes_back_without_what_was_around_it(
    shown: str, told: str, made: Perturbation
) -> None:
    raw, new = "pg://app:pw1@db-7.lan:5432/shop", "pg://app:PASSWORD_417@db-9.lan:5432/shop"
    parts = {"pw1": "PASSWORD_417", "db-7.lan": "db-9.lan"}
    back = build_way_back([release(made, shown.format(raw), parts)], (), ())
    read = back.read_content()
    assert read.feed(told.format(new)) + read.finish() == told.format(raw)
    other = told.format(new.replace("5432", "9999"))  # the remote's own
    read = back.read_content()
    assert read.feed(other) + read.finish() == other


@pytest.mark.parametrize("listed", ["{}", "  1→{}\n  2→{{}}", "$ cat x.jsonl\n{}"])
@pytest.mark.parametrize(
    "told", ["{}", "{}\n{{}}", "grep -F '{}' x", "x = 1\n{}", '{{"a": [{}]}}']
)
def test_a_value_with_escapes_keeps_them_in_json(
    told: str, listed: str, made: Perturbation
) -> None:
    raw, new = r"J\u00fcrgen H\u00e4u\u00dfler", "PERSON_417"
    line = '{{"id": 7, "name": "{}"}}'
    back = build_way_back([release(made, listed.format(line.format(raw)), {raw: new})], (), ())
    read = back.read_json()
    arguments = json.dumps({"content": told.format(line.format(new))})
    shown = "".join([*map(read.feed, arguments), read.finish()])
    assert json.loads(shown) == {"content": told.format(line.format(raw))}


def test_a_part_that_touches_a_word_comes_back_with_it(made: Perturbation) -> None:
    releases = [
        release(made, "get_Anna(xAnnab, 7)", {"Anna(": "Edvar(", "Annab": "Tarnley"}),
        release(made, "so Edvar", {}),
    ]
    back = build_way_back(releases, (), ())
    assert find_lost(back, releases) == []


def test_a_replacement_that_is_restored_in_other_text_is_lost(made: Perturbation) -> None:
    """The words of two texts are a replacement only together."""
    releases = [
        release(made, "Anna Weber", {"Anna Weber": "Edvar Tarnley"}),
        release(made, "Edvar Zett", {"Zett": "Tarnley"}),
    ]
    back = build_way_back(releases, (), ())
    assert find_lost(back, releases)


NAMES = ("Anna", "Berta", "Cleo", "Dora Zett", 'Ella "E"')
NEWS = ("Edvar", "Tarnley", "Edvar Tarnley", "Ovelle", "PERSON_417", "edvar", "Rose")
FORMS = ("ask {} of {}", '{{"a": "{}", "b": ["{}"]}}', "get_{}(x), {}", "is it {}? {}s", "{}; {}")


def write_conversation(made: Perturbation, rng: random.Random) -> list[Release]:
    """A conversation in which replacements are shared, and stand in texts of their own."""
    turns = []
    for _ in range(rng.randint(2, 7)):
        words = [rng.choice(rng.choice((NAMES, NEWS, ("x",)))) for _ in range(2)]
        form = rng.choice(FORMS)
        raw = form.format(*(json.dumps(w)[1:-1] if '"' in form else w for w in words))
        parts = {part: rng.choice(NEWS) for part in NAMES if raw.count(part) == 1}
        turns.append(release(made, raw, parts))
    return turns


@pytest.mark.parametrize("seed", range(40))
def test_what_is_known_of_earlier_turns_changes_nothing(made: Perturbation, seed: int) -> None:
    """As every turn of an agent sends the conversation again, longer by a text."""

    def look(turns: list[Release]) -> list[object]:
        back = build_way_back(turns, (), ())
        sets = (back.replacements, back.strings)
        lost = [(turns.index(release), parts) for release, parts in find_lost(back, turns)]
        return [*((each.raw_of, each.left, each.ordinary) for each in sets), lost, back.ambiguous]

    rng, findings = random.Random(seed), Findings()
    for _ in range(5):
        turns = write_conversation(made, rng)
        for end in range(len(turns) + 1):
            alone = look(turns[:end])
            with remember_texts(findings, "alice"):
                assert look(turns[:end]) == alone
                assert look(turns[:end]) == alone


def test_finding_what_is_lost_is_linear(made: Perturbation) -> None:
    def work(length: int) -> None:
        text = "Ask Qwert of it, xy. " * (length // 20)
        releases = [release_all(made, text, "Qwert", new) for new in ("Edvar", "Tarnley")]
        lost = find_lost(build_way_back(releases[:1], (), ()), releases)
        assert [len(parts) for _, parts in lost] == [length // 20]

    assert grows_linearly(work, 20_000, seconds=0.1)


def release_all(made: Perturbation, raw: str, part: str, new: str) -> Release:
    """A release in which a part is replaced wherever it stands."""
    starts = [found.start() for found in re.finditer(re.escape(part), raw)]
    replaced = tuple(Replacement(at, at + len(part), "NAME", new) for at in starts)
    done = Perturbation(raw.replace(part, new), (), made.receipt, replaced)
    return Release(raw, done, None, b"")  # type: ignore[arg-type]


def test_a_value_with_escapes_of_json_is_meant_without_them_in_a_string(
    made: Perturbation,
) -> None:
    """In the text that it was taken from, and in a string that holds that text, it has them."""
    raw = '{\n  "at": "717 Rose Lane\\nthird floor", "by": "Anna"}'
    parts = {"717 Rose Lane\\nthird floor": "ADDRESS_4170", "Anna": "PERSON_170"}
    releases = [release(made, raw, parts)]
    back = build_way_back(releases, (), ())
    sanitized = releases[0].sanitized.text
    for told, meant in (
        (sanitized, raw),
        ('{"answer": "ADDRESS_4170 by PERSON_170"}', None),
        (json.dumps({"text": sanitized}), json.dumps({"text": raw})),
        (nest(sanitized), nest(raw)),
    ):
        for cut in range(len(told)):
            reader = back.read_json()
            shown = reader.feed(told[:cut]) + reader.feed(told[cut:]) + reader.finish()
            if meant is None:
                assert json.loads(shown) == {"answer": "717 Rose Lane\nthird floor by Anna"}
            else:
                assert shown == meant
    plain = back.read_content()
    assert plain.feed(sanitized) + plain.finish() == raw


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_value_inside_of_strings_of_strings_has_as_many_escapes(
    made: Perturbation, depth: int
) -> None:
    """Also a whole tag of HTML, whose quotes are escaped."""
    raw, new = "717 Rose Lane\nthird floor", "ADDRESS_4170"
    tag, shown = '<p title="Anna">', '<p title="PERSON_170">'
    texts = []
    for at, who in ((raw, tag), (new, shown)):
        text = f'C:\\new {at} {who}\n\t"é" \u0001'
        for _ in range(depth):
            text = json.dumps({"a": text, "b": [1, "x\\"]}, indent=1)
        texts.append(text)
    for _ in range(depth):
        raw = json.dumps(raw)[1:-1]
    releases = [release(made, texts[0], {raw: new, "Anna": "PERSON_170"})]
    assert releases[0].sanitized.text == texts[1]
    back = build_way_back(releases, (), ())
    assert find_lost(back, releases) == []
    for told, meant in (texts[::-1], [nest(text) for text in texts[::-1]]):
        for cut in range(len(told)):
            reader = back.read_json()
            shown = reader.feed(told[:cut]) + reader.feed(told[cut:]) + reader.finish()
            assert shown == meant
    plain = back.read_content()
    assert plain.feed(texts[1]) + plain.finish() == texts[0]


def test_the_strings_of_json_are_read_as_deep_as_they_are_restored() -> None:
    text = '"é\n'
    for depth in range(1, DEEPEST + 3):
        text = json.dumps({"a": text})
        starts = list(find_strings(text))
        assert max(depth for _, depth in starts) == min(depth, DEEPEST)
        assert all(text[start] in '"\\' for start, _ in starts)
    assert list(find_strings('{"a')) == [(1, 1)]
    assert list(find_strings("")) == []


def test_the_work_on_strings_is_linear() -> None:
    def work(length: int) -> None:
        text = '["' + '[\\"a' * (length // 5)
        assert list(find_strings(text))

    assert grows_linearly(work, 20_000, seconds=0.1)


def test_a_backslash_of_a_text_that_is_no_json_stays(made: Perturbation) -> None:
    raw = "see C:\\new\\Anna"
    back = build_way_back([release(made, raw, {raw[4:]: "PATH_4170"})], (), ())
    reader = back.read_json()
    assert json.loads(reader.feed('{"at": "PATH_4170"}') + reader.finish()) == {"at": raw[4:]}


def nest(text: str) -> str:
    return json.dumps({"a": json.dumps({"b": text})})
