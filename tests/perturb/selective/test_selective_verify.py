"""A release of `selective` that breaks a rule is refused; no gold part leaves."""

from __future__ import annotations

import json
import re
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb import Perturbation, Perturber, ReleaseError, Replacement, Span, seeded_generator
from perturb.selective import sanitizer
from perturb.selective.verify import LONGEST_PART, find_parts
from perturb.testing.growth import grows_linearly
from perturb.text.fold import read
from perturb.work import Findings, remember_texts
from tests.perturb.marking import TABLE, TEXT, fixed, selective

GOLD = Path(__file__).parents[4] / "shared" / "data" / "pii" / "presidio_synthetic.jsonl"


def release(text: str = TEXT, **parameters: Any) -> tuple[Perturber, Perturbation]:
    perturber = selective(**parameters)
    done = perturber.perturb(text, seeded_generator(3))
    perturber.verify(text, done)
    return perturber, done


def rewritten(raw: str, done: Perturbation, change: Any) -> Perturbation:
    """The release with every replacement changed, text and list alike."""
    assert done.replaced is not None
    parts = [changed(p, text=change(raw[p.start : p.end], p.text)) for p in done.replaced]
    out, end = "", 0
    for part in parts:
        out += raw[end : part.start] + part.text
        end = part.end
    return changed(done, text=out + raw[end:], replaced=tuple(parts))


def digits_back(raw: str, text: str) -> str:
    """Broken: writes the raw digits and mixed runs where they were redrawn."""
    return raw if not any(c.isalpha() for c in raw) else text


BROKEN: dict[str, Any] = {
    "raw digits": lambda raw, done: rewritten(raw, done, digits_back),
    "raw parts": lambda raw, done: rewritten(raw, done, lambda raw, text: raw),
    "glued": lambda raw, done: rewritten(raw, done, lambda raw, text: text + raw[:1]),
    "dropped": lambda raw, done: rewritten(raw, done, lambda raw, text: ""),
    "not listed": lambda raw, done: changed(done, replaced=done.replaced[1:]),
    "one left": lambda raw, done: rewritten_but_last(raw, done),
    "unlisted": lambda raw, done: changed(done, replaced=None),
    "raw text": lambda raw, done: changed(done, text=raw, replaced=()),
    "appended": lambda raw, done: changed(done, text=done.text + " Schmidt"),
    "more words": lambda raw, done: changed(done, words=(*done.words, "tea")),
    "fewer words": lambda raw, done: changed(done, words=done.words[:-1]),
    "out of order": lambda raw, done: changed(done, replaced=done.replaced[::-1]),
    "another text": lambda raw, done: selective().perturb("Something by Else Entirely"),
}


def rewritten_but_last(raw: str, done: Perturbation) -> Perturbation:
    """Broken: the last marked part is released unchanged, and is not listed."""
    last = done.replaced[-1] if done.replaced else Replacement(0, 0, "", "")
    tail = raw[last.end :]
    head = done.text[: len(done.text) - len(tail) - len(last.text)]
    words = done.words[: len(done.words) - len(last.text.split())]
    kept = (done.replaced or ())[:-1]
    return changed(done, text=head + raw[last.start :], replaced=kept, words=words)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_releases_are_refused(name: str) -> None:
    perturber, done = release()
    with pytest.raises(ReleaseError):
        perturber.verify(TEXT, BROKEN[name](TEXT, done))


def test_a_release_whose_words_are_not_of_v_is_refused() -> None:
    text = "then Xylophonistkoenig came"
    perturber, done = release(text)
    leak = rewritten(text, changed(done, words=("Xylophonistkoenig",)), lambda raw, new: raw)
    with pytest.raises(ReleaseError, match="not in the vocabulary"):
        perturber.verify(text, leak)


@pytest.mark.parametrize("text", ["1234567890", "4095 2609 9393 4932", "+49 (0)30 123456789"])
def test_raw_digits_are_refused_from_ten_on(text: str) -> None:
    perturber, done = release(text)
    with pytest.raises(ReleaseError):
        perturber.verify(text, rewritten(text, done, lambda raw, new: raw))


def test_an_identity_mechanism_is_refused() -> None:
    words = tuple(w for w in TABLE.vocabulary.words if w.istitle() and len(w) > 6)[:8]
    text = " and ".join(f"in {w}" for w in words)
    perturber, done = release(text)
    leak = rewritten(text, changed(done, words=words), lambda raw, new: raw)
    with pytest.raises(ReleaseError, match="too many words unchanged"):
        perturber.verify(text, leak)


def test_one_word_kept_and_often_repeated_is_no_false_alarm() -> None:
    """At ε = 18 a word is kept nearly always: its mentions are one draw, not a hundred."""
    text = "met Berlin " * 100
    for seed in range(30):
        perturber = selective(epsilon=9.0)
        perturber.verify(text, perturber.perturb(text, seeded_generator(seed)))


def test_a_mention_with_another_replacement_is_refused_where_consistent() -> None:
    text = "met 4711 and then 4711 again"
    loose = selective(policy="digits", consistent=False)
    done = loose.perturb(text, seeded_generator(1))
    loose.verify(text, done)
    with pytest.raises(ReleaseError, match="different replacements"):
        selective(policy="digits").verify(text, done)


def test_a_part_in_other_capitals_is_replaced_and_no_false_alarm() -> None:
    key = {"KEY": r"\bAK[A-Z0-9]{12}\b"}
    text = "Key AK12CD34EF56GH, in the URL it is ak12cd34ef56gh."
    _, done = release(text, policy="digits", entities=("KEY",), patterns=tuple(key.items()))
    assert done.receipt.entities == {"KEY": 2}
    assert not find_parts(["AK12CD34EF56GH"], done.text)
    assert find_parts(["AK12CD34EF56GH"], "x ak12cd34ef56gh.") == {"AK12CD34EF56GH"}
    assert not find_parts(["AK12"], "ak12\u0301")  # an accent: another word


WRITTEN = [
    "then Maria\nSchmidt came",
    "then M&uuml;ller &amp; S&ouml;hne paid, and Müller",
    "then &#74;ane Schmidt wrote from john&#64;example.org",
    "then \u202eSch\u2066mi\u2069dt\u202c came, and Schmidt",
    "pay GB82&nbsp;WEST&#49;2345698765432 now",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_parts_are_replaced_and_verified_however_they_are_written(text: str) -> None:
    perturber, done = release(text)
    spans = perturber.mechanism.spans(text)
    assert [(p.start, p.end) for p in done.replaced or ()] == [
        (s.start, s.end) for s in spans or ()
    ]
    with pytest.raises(ReleaseError):
        perturber.verify(text, rewritten(text, done, lambda raw, new: raw))
    assert release(text)[1].text == done.text


def test_a_part_has_one_replacement_however_it_is_written() -> None:
    _, done = release("then M&uuml;ller, Mül\u202eler and Müller; Müller &amp; Co")
    first, hidden, plain, company = [part.text for part in done.replaced or ()]
    assert first == hidden == plain
    assert company.startswith(f"{plain} &amp; ")


def test_a_part_stands_in_a_text_however_it_is_written() -> None:
    assert find_parts(["john&#64;example.org"], "to john@example.org") == {"john&#64;example.org"}
    assert find_parts(["Müller-Ost"], "to M&uuml;ller-O\u202est.") == {"Müller-Ost"}


# -- gold spans ---------------------------------------------------------------------------------

SENTENCES = [
    ("Anna Schmidt lives in Köln, and Anna Schmidt is 47.", ("Anna Schmidt", "Köln", "47")),
    ("pay DE89370400440532013000 to 李明 by 3 May", ("DE89370400440532013000", "李明", "3 May")),
    ("NO is short, so is Bo", ("NO", "Bo")),
]


def left(text: str, spans: list[Span], seed: int) -> list[str]:
    """The marked texts that stand in a release with nothing of the channel to explain it.

    A word may come back by the channel's own chance (at most its keep rate), and a part of few
    digits by a redraw. So what is held against the release is everything outside the
    replacements, and, anywhere, every part whose return has a chance below 1e-9."""
    perturber = fixed(spans)
    done = perturber.perturb(text, seeded_generator(seed))
    perturber.verify(text, done)
    assert done.replaced is not None
    rest, end = [], 0
    for part in done.replaced:
        rest.append(text[end : part.start])
        end = part.end
    rest.append(text[end:])
    parts = {
        text[s.start : s.end] for s in spans if any(c.isalnum() for c in text[s.start : s.end])
    }
    exact = {p for p in parts if any(re.search(rf"(?<!\w){re.escape(p)}(?!\w)", r) for r in rest)}
    rare = {p for p in parts if sum(c.isdigit() for c in p) > 8}
    return sorted(exact | find_parts(rare, done.text))


def test_no_gold_part_of_own_sentences_leaves() -> None:
    for seed, (text, parts) in enumerate(SENTENCES):
        spans = [Span(text.index(p), text.index(p) + len(p), "X") for p in parts]
        assert left(text, spans, seed) == []


@pytest.mark.skipif(not GOLD.exists(), reason="the labelled sentences are not on this machine")
def test_no_gold_part_of_the_labelled_sentences_leaves() -> None:
    lines = [json.loads(line) for line in GOLD.read_text("utf-8").splitlines()]
    assert len(lines) == 500
    marked_parts = 0
    for seed, line in enumerate(lines):
        spans = [Span(s["start"], s["end"], s["type"]) for s in line["spans"]]
        assert left(line["text"], spans, seed) == []
        marked_parts += len(spans)
    assert marked_parts > 900


def test_all_parts_are_found_in_one_pass() -> None:
    parts = [f"part {i} of {i + 1}" for i in range(3000)]
    text = " and ".join(reversed(parts)) + ". xpart 1 of 2000 part 1 of 20000"

    def work(length: int) -> None:
        find_parts(parts[:length], text[: 30 * length])

    assert find_parts([*parts, "part 1 of 200", "of 2000 part", "ART"], text) == {
        *parts,
        "of 2000 part",
    }
    assert grows_linearly(work, 3000, seconds=1.0)


def test_part_without_a_visible_character_is_in_no_text() -> None:
    assert find_parts(["\u200b", ""], "any text") == frozenset()


def find_slowly(parts: list[str], text: str) -> set[str]:
    """The parts of a text, each looked for by an expression of its own."""
    folded = read(text).text.casefold()
    found = set()
    for part in parts:
        form = re.escape(read(part).text.casefold())
        if form and re.search(rf"(?<![\w\u0300-\u036f]){form}(?![\w\u0300-\u036f])", folded):
            found.add(part)
    return found


SELF_SIMILAR = st.text("aA0, \u0301", max_size=8)


@given(st.lists(SELF_SIMILAR, max_size=12), SELF_SIMILAR, SELF_SIMILAR, st.integers(1, 200))
def test_parts_are_found_as_one_expression_for_each_finds_them(
    parts: list[str], text: str, end: str, times: int
) -> None:
    for some in (parts, [part * times for part in parts]):
        for whole in (text + end, text * times + end):
            found = find_parts(some, whole)
            assert found >= find_slowly(some, whole)
            # Signs around a part may touch a word if the part is very long.
            assert found - find_slowly(some, whole) <= {p for p in some if len(p) > LONGEST_PART}


UNITS = ["0,", "0, ", "1 ", "a ", "a", "-", "0a", "0.0-"]


@pytest.mark.parametrize("unit", UNITS)
def test_parts_that_repeat_themselves_are_found_in_linear_time(unit: str) -> None:
    def work(length: int) -> None:
        text = (unit * length)[:length]
        some = [(unit * length)[:size] for size in (*range(1, 60), 400, length // 2, length)]
        near = [part + "x" for part in some]
        assert find_parts([*some, *near], f"{text} x")

    assert grows_linearly(work, 60_000, seconds=0.5)


@pytest.mark.parametrize("unit", ["0,", "12 ", "1,23 ", "4-", "5.6,"])
def test_a_list_of_numbers_is_released_and_checked_in_linear_time(unit: str) -> None:
    """47 s of processor time for 60 kB where a list of numbers is one part."""

    def work(length: int) -> None:
        perturber = selective(policy="regex")
        text = "The mask is " + (unit * length)[:length] + "1."
        done = perturber.perturb(text, seeded_generator(1))
        perturber.verify(text, done)
        documents = perturber.mechanism.documents(perturber.options)
        find_parts(documents.secrets(text, done), done.text)

    assert grows_linearly(work, 30_000, seconds=1)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_kept_of_a_check_lets_no_other_release_pass(name: str) -> None:
    perturber, done = release()
    with remember_texts(Findings(), "alice"):
        for _ in range(2):
            perturber.verify(TEXT, done)
            with pytest.raises(ReleaseError):
                perturber.verify(TEXT, BROKEN[name](TEXT, done))


def test_a_release_is_checked_once_for_each_sanitizer(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    check = sanitizer.check_replaced
    monkeypatch.setattr(
        sanitizer, "check_replaced", lambda *args: checked.append(args[2]) or check(*args)
    )
    with remember_texts(Findings(), "alice"):
        perturber, done = release()
        perturber.verify(TEXT, done)
        assert len(checked) == 1
        with pytest.raises(ReleaseError, match="marks was not replaced"):
            selective(deny=("tea",)).verify(f"{TEXT} tea", changed(done, text=f"{done.text} tea"))
        selective().verify(TEXT, done)  # equal sanitizers check alike
        assert len(checked) == 2
