"""Folded texts keep their places, and what policies mark does not hide behind look-alikes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb.testing.growth import grows_linearly
from perturb.text.fold import decode_entities, display, fold, read, spell_entities
from tests.perturb.selective.test_policies import MARKED, marks


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("M&uuml;ller", "Müller"),
        ("&#74;ane &#x4a;ane &#0074ane", "Jane Jane Jane"),
        ("john&#64;example&period;org", "john@example.org"),
        ("M&amp;uuml;ller &amp;amp;#77;ax", "Müller Max"),
        ("a &amp; b &lt; c&nbsp;d", "a & b < c d"),
        ("&unknown; & &; &#; &uuml AT&T", "&unknown; & &; &#; &uuml AT&T"),
        ("S\u202ech\u2066mi\u2069dt\u202c, \u202eAnna", "Schmidt, Anna"),
        (r"Zo\u00eb,\nand", "Zoë,  and"),
        ("Bar\ud800tholomew １２", "Bartholomew 12"),
        ("plain", "plain"),
    ],
)
def test_a_text_is_read_as_it_is_displayed(text: str, shown: str) -> None:
    assert read(text).text == shown


WRITTEN = st.sampled_from(
    [
        "&uuml;",
        "&#74;",
        "&amp;",
        "&fjlig;",
        "&x;",
        "&",
        ";",
        "\u202e",
        "\u200b",
        r"\u00fc",
        "\\",
        "a",
        "B ",
    ]
)


@given(st.text() | st.lists(WRITTEN).map("".join))
def test_a_text_is_displayed_as_it_is_read(text: str) -> None:
    assert display(text) == read(text).text


@given(st.text() | st.lists(WRITTEN).map("".join))
def test_a_reading_tells_where_each_character_is_written(text: str) -> None:
    reading = read(text)
    assert len(reading.text) == len(reading.starts) == len(reading.ends)
    # Each character of an escape is read as what the whole of it spells.
    escapes = [found.span() for found in re.finditer(r"\\+(?:[nrt]|u[0-9a-fA-F]{4})", text)]
    for i in range(len(reading.text)):
        start, end = reading.span(i, i + 1)
        assert 0 <= start < end <= len(text)
        escaped = any(first <= start < last for first, last in escapes)
        assert escaped or reading.text[i] in read(text[start:end]).text
    assert list(reading.starts) == sorted(reading.starts)
    assert len(spell_entities(text)) == len(text)


@pytest.mark.parametrize("count", [40_000, pytest.param(200_000, marks=pytest.mark.hostile)])
@pytest.mark.parametrize("work", [fold, read, decode_entities, spell_entities])
def test_a_hostile_text_costs_what_its_length_says(work: Any, count: int) -> None:
    units = ("\\", "\\n", "\u200b", "\u200ba", "@\u00ad", "\u00a0", "٤")
    for unit in (*units, "&", "&amp;", "&#1", "&aaaaaaaaaa", "&uuml;", r"\u00fc", r"\\u"):
        assert grows_linearly(lambda n, unit=unit: work(unit * n), count, seconds=0.1), unit


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
        ("ask Bar\u00adtho\u00adlomew", "Bar\u00adtho\u00adlomew"),
        ("then M&uuml;ller came", "M&uuml;ller"),
        ("then &#74;ane came", "&#74;ane"),
        ("then S&#x63;hmid&#116; came", "S&#x63;hmid&#116;"),
        ("from mirak&#64;example.org now", "mirak&#64;example.org"),
        ("then Tom &amp; Jerry came", "Tom &amp; Jerry"),
        ("then \u202eSch\u2066mi\u2069dt\u202c came", "Sch\u2066mi\u2069dt"),
        ("then Anna\u202e Schmidt came", "Anna\u202e Schmidt"),
        ("ask \u202eSmith", "Smith"),
        ("card 4095-2609\u202e-9393-4932 was", "4095-2609\u202e-9393-4932"),
    ],
)
def test_other_forms_of_letters_and_digits_are_marked(text: str, part: str) -> None:
    assert [found for found, _ in marks(text)] == [part]


@pytest.mark.parametrize(
    "other",
    ["Schmi&#100;t", "schmid&#x74;", "Sch\u202emidt", "\u2067sCHMIDT\u2069", r"\u0053chmidt"],
)
def test_a_name_is_known_again_however_it_is_written(other: str) -> None:
    for text in (f"then Schmidt came, {other}.", f"then Mr. {other} came, Schmidt."):
        found = [part for part, type_ in marks(text) if type_ != "TITLE"]
        assert len(found) == 2
        assert "Schmidt" in found
        assert set("".join(found)) >= set(other) - set("\u2067\u2069")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("?q=J%C3%B8rgen%20Holt&x=1", "?q=Jørgen Holt&x=1"),
        ("tel=%2B49%20170", "tel=+49 170"),
        ("a.holt%40firm.de", "a.holt@firm.de"),
        ("?q=Andr%C3%A9&n=5%20", "?q=André&n=5%20"),
        ("/" + "%E6%9D%8E" * 20, "/" + "李" * 20),
        ("%7B%22id%22%3A7%7D", '%7B"id":7%7D'),
        ("name=Holzapfel%2C%20Mira&p=2", "name=Holzapfel, Mira&p=2"),
        ('"Holzapfel%2C+Mira"', '"Holzapfel, Mira"'),
        ("?q=%22Mira%20Holzapfel%22&x", '?q="Mira Holzapfel"&x'),
        ("T%C3%B8rnkvist%2C+Ada&a", "Tørnkvist, Ada&a"),
        ("%22%C5%81ucja+Holt%22", '"Łucja+Holt"'),
        ("note=ask+for+%C5%9Eebnem", "note=ask+for Şebnem"),
        ("x=%FFa 50%25a a%2Fb %d%bc 5%", "x=%FFa 50%25a a%2Fb %d%bc 5%"),
        ('printf("%40s %20d")', 'printf("%40s %20d")'),
    ],
)
def test_words_in_addresses_of_the_web_are_read(text: str, shown: str) -> None:
    reading = read(text)
    assert reading.text == shown == display(text)
    assert reading.span(0, len(shown)) == (0, len(text))


TEX, RTF, MAIL = "\\begin{letter}", "{\\rtf1 ", "Content-Transfer-Encoding: quoted-printable\n\n"


@pytest.mark.parametrize(
    ("before", "text", "shown"),
    [
        ("", "'G\\xf6ran Dvo\\u0159\\xe1k'", "'Göran Dvořák'"),
        ("", "'N\\u{fa}ria'", "'Núria'"),
        ("", "cp Dear\\ Mira O\\'Rourke", "cp Dear Mira O'Rourke"),
        (TEX, 'M\\"uller T{\\o}rn \\v{Z}i\\v{z} {\\"u}x', "Müller Tørn Žiž üx"),
        (TEX, "Stra{\\ss}e \\c{C}elik Ren\\'{e} \\AA{}se", "Straße Çelik René Åse"),
        (RTF, "Gr\\'fc\\'dfen \\u1048?\\u1088?\\u345?x", "Grüßen Ирřx"),
        (MAIL, "N=C3=B8=\nrd =D0=98=D1=80 x=3D1", "Nørd Ир x=1"),
        ("", "=?UTF-8?Q?=C4=90or=C4=91e_Holt?= <a>", "Đorđe Holt <a>"),
        # What looks like one of them and is none.
        ("", r"b'\xde\xad' \xff", r"b'\xde\xad' \xff"),
        ("", r'{"a": "x \"Ute\" y"}', r'{"a": "x \"Ute\" y"}'),
        ("", r"l\'effet M\'FCx \o{x} a=3D", r"l\'effet M\'FCx \o{x} a=3D"),
    ],
)
def test_letters_of_a_format_are_read(before: str, text: str, shown: str) -> None:
    reading = read(before + text)
    assert reading.text.endswith(shown)
    assert reading.text == display(before + text)
    assert reading.ends[-1] == len(before + text)
    assert list(reading.starts) == sorted(reading.starts)


def test_what_is_no_entity_is_read_as_it_is_written() -> None:
    assert [part for part, _ in marks("then Rolf&Tolkien; came")] == ["Rolf", "Tolkien"]


def test_ordinary_entities_mark_nothing() -> None:
    assert marks("if a &lt; b &amp;&amp; c &gt; d&nbsp;then &quot;go&quot; &#8211; &copy;") == []


def test_escapes_of_tool_calls_do_not_hide_names() -> None:
    found = marks('{"to": "Anna Schmidt", "body": "Dear,\\nSchmidt asks\\tAnna\\\\nSchmidt"}')
    assert [part for part, _ in found] == ["Anna Schmidt", "Schmidt", "Anna", "Schmidt"]
