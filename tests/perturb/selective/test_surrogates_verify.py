"""selective: a release with surrogates is held against its text; broken ones are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import DocumentOptions, ReleaseError, Span, seeded_generator
from perturb.selective.surrogates.names import load_names
from tests.perturb.marking import fixed, selective

GOLD = Path(__file__).parents[4] / "shared" / "data" / "pii" / "presidio_synthetic.jsonl"
EVERY = (("*", "surrogate"),)
RAW = (
    "so Anna Schmidt (anna.schmidt82@firm.de, A. Schmidt), card 4095-2609-9393-4932, "
    "phone +49 30 1234567, to DE89370400440532013000; so Peter Meier came, then Schmidt"
)


def tamper(done: Any, old: str, new: Any) -> Any:
    """Replace one replacement, in text and list alike."""
    out, end, rest, hit = "", 0, [], False
    for part in done.replaced:
        text = part.text
        if not hit and re.search(old, text):
            text, hit = re.sub(old, new, text, count=1), True
        out += RAW[end : part.start] + text
        rest.append(changed(part, text=text))
        end = part.end
    assert hit
    return changed(done, text=out + RAW[end:], replaced=tuple(rest))


def first_words(done: Any) -> tuple[str, str, str]:
    full, mail = done.replaced[0].text, done.replaced[1].text
    return (*full.split(), mail)


BROKEN: dict[str, Any] = {
    "raw name": lambda d: tamper(d, rf"^{first_words(d)[0]} \w+$", "Anna Schmidt"),
    "raw surname": lambda d: tamper(d, rf" {first_words(d)[1]}$", " Schmidt"),
    "no public name": lambda d: tamper(d, rf"^{first_words(d)[0]} ", "Xylophonia "),
    "surname as given name": lambda d: tamper(d, rf"^{first_words(d)[0]} ", "Ashford "),
    "another surrogate": lambda d: tamper(d, rf"^{first_words(d)[1]}$", other(first_words(d)[1])),
    "shared surrogate": lambda d: tamper(d, d.replaced[-2].text, d.replaced[0].text),
    "one word more": lambda d: tamper(d, rf"^{first_words(d)[0]} ", "Anna Maria "),
    "other capitals": lambda d: tamper(d, first_words(d)[0], first_words(d)[0].upper()),
    "raw initial": lambda d: tamper(d, r"^\w\. ", f"{chr(155 - ord(first_words(d)[0][0]))}. "),
    "raw address": lambda d: tamper(d, r"^.*@.*$", "anna.schmidt82@firm.de"),
    "raw domain": lambda d: tamper(d, r"@.*$", "@firm.de"),
    "unknown domain": lambda d: tamper(d, r"@.*$", "@secret.example"),
    "raw local part": lambda d: tamper(d, r"^[a-z]+\.[a-z]+(?=\d\d@)", "anna.schmidt"),
    "raw digits in it": lambda d: tamper(d, r"\d\d(?=@)", "82"),
    "raw card": lambda d: tamper(d, r"^\d{4}-.*$", "4095-2609-9393-4932"),
    "wrong check digit": lambda d: tamper(d, r"^(\d{4}-.*)(\d)$", lambda m: m[1] + flip(m[2])),
    "wrong IBAN": lambda d: tamper(d, r"^DE\d\d", lambda m: "DE" + flip(m[0][2:])),
    "another country": lambda d: tamper(d, r"^DE", "FR"),
    "raw number in other strokes": lambda d: tamper(d, r"^\d{4}-.*$", "4095 2609 9393 4932"),
    "raw phone": lambda d: tamper(d, r"^\+.*$", "+49 30 1234567"),
    "letters in it": lambda d: tamper(d, r"^\+\d", "+x"),
    "another type": lambda d: changed(
        d, replaced=(changed(d.replaced[0], type="AGE"), *d.replaced[1:])
    ),
}


def other(name: str) -> str:
    return next(n for n in load_names()["latin"].surnames if n != name)


def flip(digits: str) -> str:
    return f"{(int(digits) + 1) % 10 ** len(digits):0{len(digits)}d}"


@pytest.mark.parametrize("name", BROKEN)
def test_broken_releases_are_refused(name: str) -> None:
    perturber = selective(actions=EVERY)
    for seed in range(3):
        done = perturber.perturb(RAW, seeded_generator(seed))
        perturber.verify(RAW, done)
        with pytest.raises(ReleaseError):
            perturber.verify(RAW, BROKEN[name](done))


def test_a_release_by_another_action_is_refused() -> None:
    drawn = selective().perturb(RAW, seeded_generator(1))
    with pytest.raises(ReleaseError):
        selective(actions=EVERY).verify(RAW, drawn)
    surrogates = selective(actions=EVERY).perturb(RAW, seeded_generator(1))
    with pytest.raises(ReleaseError):
        selective().verify(RAW, surrogates)


PIECES = [
    *(
        "Anna",
        "Schmidt",
        "A.",
        "J",
        "de",
        "4095",
        "AB-12",
        "x.y@y.example",
        "anna@b.de",
        "李",
        "é",
    ),
    *(
        "😀",
        "\n",
        "  ",
        "–",
        "'s",
        ",",
        "-",
        "Анна",
        "the",
        "\ud800",
        "007",
        "GB82",
        "ß",
        "½",
        "0",
    ),
    *("M&uuml;ller", "\u0301", "\u202e", "Müller", "a1", "::1", "+49 30", "_"),
]
TYPES = ["NAME", "PERSON", "EMAIL_ADDRESS", "ID", "CREDIT_CARD", "IBAN_CODE", "VAT_NUMBER", "X"]
MARK = st.tuples(st.integers(0, 60), st.integers(1, 14), st.sampled_from(TYPES))
DROPPED = DocumentOptions(oov="drop", number="drop", layout="drop")


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14),
    st.sampled_from(["", " "]),
    st.lists(MARK, max_size=5),
    st.sampled_from([DocumentOptions(), DROPPED]),
)
def test_any_text_and_any_marks_pass_their_own_verification(
    pieces: list[str],
    separator: str,
    marks: Iterable[tuple[int, int, str]],
    options: DocumentOptions,
) -> None:
    text = separator.join(pieces)
    spans = [Span(a, min(a + n, len(text)), type_) for a, n, type_ in marks if a < len(text)]
    perturber = fixed(spans, options, actions=EVERY)
    done = perturber.perturb(text, known={"Anna Schmidt": "NAME"})
    perturber.verify(text, done)
    json.dumps(done.receipt.to_dict(), allow_nan=False)


@pytest.mark.skipif(not GOLD.exists(), reason="the labelled sentences are not on this machine")
@pytest.mark.parametrize("other", ["surrogate", "value"])
def test_no_honest_release_of_the_labelled_sentences_is_refused(other: str) -> None:
    perturber = selective(actions=(("*", "surrogate"), ("DATE_TIME", "value"), ("MONEY", "keep")))
    if other == "value":
        perturber = selective(actions=(("*", "value"), ("NAME", "surrogate")))
    for seed, line in enumerate(GOLD.read_text("utf-8").splitlines()[:200]):
        text = json.loads(line)["text"]
        perturber.verify(text, perturber.perturb(text, seeded_generator(seed)))
