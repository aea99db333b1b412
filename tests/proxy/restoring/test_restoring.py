"""Streamed restoration: it equals the restoration of the whole text, however the text is cut."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb.testing.growth import grows_linearly
from proxy.restoring.json_text import JsonRestorer
from proxy.restoring.text import Replacements, TextRestorer, spell_pieces

RAW_OF = {
    "Harrison": "Kowalewski",
    "Mary Harrison": 'Anna "Ann" Kowalewski',
    "Mary": "Anna",
    "Maryland": "Ohio\\River",
    "5521-9034": "4095-2609",
    "57": "34",
    "https://table.example/a": "https://secret.example/path?q=1",
    "x.y@table.example": "anna@secret.example",
}
WHOLES = {"table_id": "kowalewski_id", "Mary or table": "a\nb"}
TABLE = Replacements(RAW_OF)
PLAIN_TABLE = Replacements(RAW_OF, in_any_form=False)
WORDS = [*RAW_OF, *WHOLES, "Har", "rison", "Mary ", " 57.5", "//", "www.", "](", ")", "<img src="]
WORDS += [
    '"',
    "\\",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\n",
    "é",
    "😀",
    "王",
    "a",
    " ",
    "\n",
    ".",
    ",",
    "]",
]
WORDS += [":", "{", "]"]
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=12).map("".join)


@st.composite
def chunked(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=30)))
    places = [0, *cuts, len(text)]
    return text, [text[a:b] for a, b in pairwise(places)]


def restore(chunks: list[str], table: Replacements = TABLE) -> str:
    restorer = TextRestorer(table)
    out = [spell_pieces(restorer.feed(chunk)) for chunk in chunks]
    return "".join(out) + spell_pieces(restorer.finish())


def restore_json(
    chunks: list[str], table: Replacements = TABLE, wholes: Mapping[str, str] = WHOLES
) -> str:
    restorer = JsonRestorer(table, wholes)
    out = [spell_pieces(restorer.feed(chunk)) for chunk in chunks]
    return "".join(out) + spell_pieces(restorer.finish())


@settings(max_examples=200, deadline=None)
@given(chunked(TEXTS))
def test_a_text_is_restored_alike_however_it_is_cut(case: tuple[str, list[str]]) -> None:
    text, chunks = case
    assert restore(chunks) == restore([text]) == restore(list(text))


@settings(max_examples=200, deadline=None)
@given(chunked(TEXTS))
def test_json_is_restored_alike_however_it_is_cut(case: tuple[str, list[str]]) -> None:
    text, chunks = case
    assert restore_json(chunks) == restore_json([text]) == restore_json(list(text))


@settings(max_examples=200, deadline=None)
@given(chunked(TEXTS))
def test_json_that_breaks_off_is_told_once(case: tuple[str, list[str]]) -> None:
    """A stream is finished at its reason and at its end, and text may come between."""
    text, chunks = case
    restorer = JsonRestorer(TABLE, {text + "…": "a whole string"})
    told = restorer.feed('"')
    for chunk in chunks:
        told += [*restorer.feed(chunk), *restorer.finish()]
        counts = restorer.restored, restorer.left
        assert restorer.finish() == []
        assert (restorer.restored, restorer.left) == counts
    assert sum(piece.source for piece in told) == len(text) + 1


def reference(text: str) -> str:
    """A slow restoration of text without addresses and numbers, by one expression."""
    longest = sorted(RAW_OF, key=len, reverse=True)
    spelled = "|".join(re.escape(new).replace("\\ ", r"\s+") for new in longest)
    return re.sub(
        rf"(?<!\w)(?:{spelled})(?!\w)", lambda found: RAW_OF[" ".join(found[0].split())], text
    )


PROSE = st.lists(
    st.sampled_from(["Mary", "Harrison", "Maryland", "and", "-", ";", "'s", "x", " ", "  ", "\n"]),
    max_size=15,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(chunked(PROSE))
def test_prose_is_restored_as_one_expression_does_it(case: tuple[str, list[str]]) -> None:
    text, chunks = case
    assert restore(chunks, PLAIN_TABLE) == reference(text)


@settings(max_examples=200, deadline=None)
@given(chunked(PROSE))
def test_no_part_of_a_replacement_is_shown_before_it_is_decided(
    case: tuple[str, list[str]],
) -> None:
    """The text shown so far is the beginning of the end, whatever comes next."""
    _, chunks = case
    restorer, shown, fed = TextRestorer(PLAIN_TABLE), "", ""
    for chunk in chunks:
        shown, fed = shown + spell_pieces(restorer.feed(chunk)), fed + chunk
        for following in ("", "x", " Harrison", "land", "57"):
            assert reference(fed + following).startswith(shown)


JSON = st.recursive(
    st.none() | st.booleans() | st.sampled_from([57, 5.5, 57.5, -57, 10**20]) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(JSON, st.booleans(), st.randoms(use_true_random=False))
def test_json_stays_json_and_each_string_is_restored(value, ascii_only, random) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    cuts = [0, *sorted(random.sample(range(len(text) + 1), min(5, len(text)))), len(text)]
    done = restore_json([text[a:b] for a, b in pairwise(cuts)])

    def expect(item):
        if isinstance(item, str):
            return WHOLES.get(item, restore([item]))
        if isinstance(item, list):
            return [expect(each) for each in item]
        if isinstance(item, dict):
            return {expect(key): expect(each) for key, each in item.items()}
        return 34 if type(item) is int and item == 57 else item

    pairs = json.loads(done, object_pairs_hook=lambda found: dict(found))
    assert pairs == expect(value) or -57 in _numbers(value)  # -57 holds 57


def _numbers(value) -> list:
    if isinstance(value, dict):
        return [n for item in value.values() for n in _numbers(item)]
    if isinstance(value, list):
        return [n for item in value for n in _numbers(item)]
    return [value]


def test_a_restored_value_is_shown_as_soon_as_the_next_character_decides() -> None:
    restorer = TextRestorer(TABLE)
    assert spell_pieces(restorer.feed("Dear ")) == "Dear "
    assert spell_pieces(restorer.feed("Harri")) == ""
    assert spell_pieces(restorer.feed("son")) == ""
    assert spell_pieces(restorer.feed("!")) == "Kowalewski!"
    assert spell_pieces(restorer.feed(" Harrison")) == " "
    assert spell_pieces(restorer.feed(",")) == ""  # `Harrison, M.` is Mary Harrison
    assert spell_pieces(restorer.feed(" Hares")) == "Kowalewski, Hares"


@pytest.mark.parametrize(
    ("text", "restored"),
    [
        ("See ![x](https://evil.example/?q=Harrison) Harrison", "Harrison) Kowalewski"),
        ("https://evil.example/Harrison Harrison", "Harrison Kowalewski"),
        ("www.evil.example?Mary", "?Mary"),
        ('<img src="https://evil.example/?Mary Harrison">', '?Mary Harrison">'),
        ("<img src=https://evil.example/?Mary>", "?Mary>"),
        ("![x]( Mary.evil.example )", "( Mary.evil.example )"),
        ("https://evil.example/?https://table.example/a", "?https://table.example/a"),
    ],
)
def test_nothing_is_restored_inside_an_address(text: str, restored: str) -> None:
    assert restore([text]).endswith(restored)
    assert restore(list(text)) == restore([text])


def test_an_address_that_was_replaced_comes_back() -> None:
    assert restore(["see https://table.example/a."]) == "see https://secret.example/path?q=1."
    target = restore(["[here](https://table.example/a) 57"])
    assert target == "[here](https://secret.example/path?q=1) 34"


def test_numbers_are_restored_as_numbers_alone() -> None:
    assert restore(["57, 57.5, 3.57, 157, 57."]) == "34, 57.5, 3.57, 157, 34."
    phone = Replacements({"5521": "+49 89"})
    restorer = JsonRestorer(phone, {})
    shown = spell_pieces(restorer.feed('{"a": 5521, "b": "5521"}'))
    assert shown == '{"a": 5521, "b": "+49 89"}'
    assert (restorer.restored, restorer.left) == (1, 1)


LISTED = Replacements(
    {
        "+49 711 26357102": "+49 151 23458890",
        "4581628538726503": "4539578763621486",
        "1952-08-31": "1951-09-23",
        "47 Welsloch Street": "27 Shandon Street",
        "54711": "20099",
        "57": "34",
    }
)


@pytest.mark.parametrize("new", [*LISTED.raw_of])
@pytest.mark.parametrize("line", ["1,{},2", "{},2.50", "INSERT (7,{},9)", "a,{},b", "[1,{}]"])
def test_long_numbers_come_back_in_a_list_without_blanks(line: str, new: str) -> None:
    is_part = new == "57" and re.search(r"\d,\{\}|\{\},\d", line)
    raw = new if is_part else LISTED.raw_of[new]
    for pieces in ([line.format(new)], [*line.format(new)]):
        assert restore(pieces, LISTED) == line.format(raw)


@pytest.mark.parametrize("text", ["3,57", "1,234,57", "54711.5", "3.54711", "1,54711.5"])
def test_a_part_of_a_number_stays(text: str) -> None:
    assert restore([text], LISTED) == text


def test_scripts_without_blanks_touch_what_is_restored() -> None:
    assert restore(["请联系Harrison先生"]) == "请联系Kowalewski先生"


REPEATING = st.text("7,. a\n", max_size=8)
ENDS_WORD = r"(?!\w)(?![.,]\d)"


def restore_slowly(text: str, news: list[str]) -> str:
    """A slow restoration of text without addresses, by one expression."""
    longest = sorted(news, key=lambda new: (-len(new), new))
    spelled = "|".join(
        re.escape(new).replace("\\ ", r"\s{1,16}(?!\s)")
        + (ENDS_WORD if new[-1].isdigit() else r"(?!\w)")
        for new in longest
    )
    return re.sub(rf"(?<!\w)(?!(?<=\d[.,])\d)(?:{spelled})", "R", text) if news else text


@given(
    chunked(
        st.tuples(REPEATING, st.integers(1, 30), REPEATING).map(
            lambda given: given[0] * given[1] + given[2]
        )
    ),
    st.lists(REPEATING, max_size=6),
)
def test_replacements_that_repeat_themselves_are_restored_as_one_expression_does_it(
    case: tuple[str, list[str]], written: list[str]
) -> None:
    text, chunks = case
    news = sorted({" ".join(new.split()) for new in written} - {""})
    table = Replacements(dict.fromkeys(news, "R"), in_any_form=False)
    assert restore(chunks, table) == restore_slowly(text, news)


def test_white_space_between_two_words_has_a_bound() -> None:
    table = Replacements({"7 7": "R"})
    for count, restored in ((1, True), (16, True), (17, False)):
        text = f"7{' ' * count}7"
        assert restore(list(text), table) == restore([text], table) == ("R" if restored else text)


@pytest.mark.parametrize("unit", ["7,", "7 ", "7\n", "Ab ", "A-"])
@pytest.mark.parametrize("piece", [40, 10**7])
def test_replacements_that_repeat_themselves_cost_what_the_text_costs(
    unit: str, piece: int
) -> None:
    """190 s of processor time for 1.8 MB where each place is compared character by character."""

    def work(length: int) -> None:
        longest = " ".join((unit * length)[:length].split()) + " 8"
        table = Replacements({longest: "R", longest[: length // 2] + " 8": "S"})
        text = unit * (200 * length)
        pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
        assert restore(pieces, table) == text

    assert grows_linearly(work, 380, seconds=0.3)


WHOLE = st.text('ab"\n', max_size=5)


@given(st.dictionaries(WHOLE, WHOLE, max_size=8), WHOLE, st.integers(1, 9))
def test_a_whole_string_comes_back_however_its_characters_are_escaped(
    wholes: dict[str, str], text: str, times: int
) -> None:
    wholes |= {new * times: raw for new, raw in wholes.items()}
    for value in (text, text * times, *wholes):
        for written in (json.dumps(value), '"' + "".join(f"\\u{ord(c):04x}" for c in value) + '"'):
            shown = restore_json(list(written), Replacements({}), wholes)
            assert json.loads(shown, strict=False) == wholes.get(value, value)


def test_whole_strings_that_begin_alike_cost_what_the_text_costs() -> None:
    def work(length: int) -> None:
        wholes = {"\n" * count: "raw" for count in range(1, length // 20)}
        wholes["\n" * length + "x"] = "raw"
        restorer = JsonRestorer(Replacements({}), wholes)
        restorer.feed('"' + "\\n" * length + '"')

    assert grows_linearly(work, 16_000, seconds=0.2)
