"""Folded texts keep their places, and what policies mark does not hide behind look-alikes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb.fold import fold
from tests.perturb.test_policies import MARKED, marks


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("a\u00a0b\u2009c\u3000d", "a b c d"),
        ("1\u20102\u20133\u22124", "1-2-3-4"),
        ("ａlice＠corp．com", "alice@corp.com"),
        ("٤١ ४२ 𝟕", "41 42 7"),
        ("Bar\u200btho\u00ad\u00adlomew", "Barxthoxxlomew"),
        ("alice\u200b@corp.com, \u202eAnna\u202c.", "alicex@corp.com,  Anna ."),
        (r'"Hi,\nAnna\\r\\\tBo\x"', '"Hi,  Anna' + " " * 7 + 'Bo\\x"'),
        (r"\u0141uk M\u00fcl\\u00A0x \u12", "ŁŁŁŁŁŁuk Müüüüüül       x \\u12"),
        ("李 é ½ ²", "李 é ½ ²"),
    ],
)
def test_look_alikes_are_written_plainly(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text() | st.text(st.sampled_from("a\\nrtu0d8\u200b\u00ad@ 1٤－\u2011\ud800")))
def test_every_character_keeps_its_place(text: str) -> None:
    assert len(fold(text)) == len(text)


def test_a_hostile_text_costs_what_its_length_says() -> None:
    for unit in ("\\", "\\n", "\u200b", "\u200ba", "@\u00ad", "\u00a0", "٤"):
        fold(unit * 200_000)


@pytest.mark.parametrize(("text", "part", "type_"), MARKED)
@pytest.mark.parametrize(("plain", "other"), [(" ", "\u00a0"), ("-", "\u2011")])
def test_shipped_patterns_mark_other_blanks_and_hyphens(
    text: str, part: str, type_: str | None, plain: str, other: str
) -> None:
    found = [(fold(part), type_) for part, type_ in marks(text.replace(plain, other))]
    assert found == marks(text)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("call ０７９ ３４５ ６７８９ now", "０７９ ３４５ ６７８９"),
        ("call +٤١ ٧٩ ٣٤٥ ٦٧ ٨٩ now", "+٤١ ٧٩ ٣٤٥ ٦٧ ٨٩"),
        ("from ａnna＠corp．com", "ａnna＠corp．com"),
        ("from anna\u200b@corp.com", "anna\u200b@corp.com"),
        (r"then Zo\u00eb came", r"Zo\u00eb"),
        ("then Bar\ud800tholomew came", "Bar\ud800tholomew"),
        ("ask Mr. Bar\u00adtho\u00adlomew", "Bar\u00adtho\u00adlomew"),
    ],
)
def test_other_forms_of_letters_and_digits_are_marked(text: str, part: str) -> None:
    assert [found for found, _ in marks(text)] == [part]


def test_escapes_of_tool_calls_do_not_hide_names() -> None:
    found = marks('{"to": "Anna Schmidt", "body": "Dear,\\nSchmidt asks\\tAnna\\\\nSchmidt"}')
    assert [part for part, _ in found] == ["Anna Schmidt", "Schmidt", "Anna", "Schmidt"]
