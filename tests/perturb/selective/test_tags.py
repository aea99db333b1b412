"""Tags: a type and a number, one for each value, also where there is no surrogate."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from perturb import DocumentOptions, ReleaseError, get_mechanism, seeded_generator
from perturb.release import Replacement
from perturb.selective.replace import TagCheck, is_tag, link_request, write_tag
from tests.tables import bundled_table

TABLE = bundled_table()
TEXT = 'API_TOKEN="q8Zr2Lx9Vb4N" and again "q8Zr2Lx9Vb4N", DB_PASSWORD=tr0mbone!Quilt'


def noise(entity: str) -> np.random.Generator:
    return seeded_generator(sum(map(ord, entity)))


def flat(entity: str) -> np.random.Generator:
    """One draw for all values, so that they collide."""
    return seeded_generator(7)


def test_a_tag_is_a_word_of_capitals_and_a_number() -> None:
    tag = write_tag("API_KEY", "secret", noise)
    assert re.fullmatch(r"API_KEY_[1-9]\d{2,3}", tag)
    assert is_tag(tag, "API_KEY")
    assert not is_tag(tag, "KEY")
    assert not is_tag("API_KEY_12", "API_KEY")
    assert not is_tag("API_KEY_12345", "API_KEY")


def test_different_values_of_a_request_have_different_tags() -> None:
    values = [f"value {i}" for i in range(400)]
    link = link_request(flat, values)
    tags = [write_tag("X", value, link) for value in values]
    assert len(set(tags)) > 150  # the same numbers for all: as many as there are tries
    link = link_request(noise, values)
    tags = [write_tag("X", value, link) for value in values]
    assert len(set(tags)) == len(values)
    assert tags == [write_tag("X", value, link) for value in values]


def test_values_in_other_capitals_have_tags_of_their_own() -> None:
    link = link_request(flat, ["Anna", "ANNA"])
    assert write_tag("X", "Anna", link) != write_tag("X", "ANNA", link)


def test_a_tag_that_a_text_holds_is_not_written() -> None:
    first = write_tag("X", "value", link_request(flat, []))
    assert write_tag("X", "value", link_request(flat, [f"see {first} there"])) != first
    # Unless it stands for that value already, in an earlier turn.
    pairs = [(first, "value")]
    assert write_tag("X", "value", link_request(flat, [f"see {first}"], pairs)) == first


def test_a_check_refuses_tags_that_do_not_fit_each_other() -> None:
    check = TagCheck()
    check.check("X", "a", "X_1")
    check.check("X", "a", "X_1")
    with pytest.raises(ReleaseError, match="equal marked parts"):
        check.check("X", "a", "X_2")
    with pytest.raises(ReleaseError, match="one tag"):
        check.check("X", "b", "X_1")


def test_a_secret_has_a_tag_by_default_and_no_plausible_other_secret() -> None:
    sanitizer = get_mechanism("selective", TABLE).documents(DocumentOptions())
    made = sanitizer.perturb(TEXT, seeded_generator(1))
    sanitizer.verify(TEXT, made)
    assert all(is_tag(part.text, part.type) for part in made.replaced or ())
    assert "q8Zr2Lx9Vb4N" not in made.text
    assert "tr0mbone" not in made.text
    tags = {part.text for part in made.replaced or ()}
    assert len(tags) == 2
    assert made.receipt.actions == {"tag": made.receipt.entities}


@pytest.mark.parametrize("new", ["API_KEY_99999", "PERSON_123", "q8Zr2Lx9Vb4M", ""])
def test_another_replacement_than_a_tag_is_refused(new: str) -> None:
    sanitizer = get_mechanism("selective", TABLE).documents(DocumentOptions())
    made = sanitizer.perturb(TEXT, seeded_generator(1))
    first, *rest = made.replaced or ()
    text = TEXT[: first.start] + new + made.text[first.start + len(first.text) :]
    other = Replacement(first.start, first.end, first.type, new)
    with pytest.raises(ReleaseError):
        sanitizer.verify(TEXT, replace(made, text=text, replaced=(other, *rest)))


def test_a_bare_number_stays_one_so_that_json_stays_valid() -> None:
    text = '{"patient": "Mira Holzapfel", "aged": 52, "note": "she is 52 years old"}'
    mechanism = get_mechanism("selective", TABLE, entities=("AGE", "NUMBER"), policy="regex")
    sanitizer = mechanism.documents(DocumentOptions())
    made = sanitizer.perturb(text, seeded_generator(1))
    sanitizer.verify(text, made)
    assert made.text != text
    assert isinstance(json.loads(made.text)["aged"], int)


def test_what_an_operator_wants_tagged_is_tagged() -> None:
    mechanism = get_mechanism("selective", TABLE, policy="digits", actions={"*": "tag"})
    sanitizer = mechanism.documents(DocumentOptions())
    made = sanitizer.perturb("Room 1408 and 1408.", seeded_generator(1))
    sanitizer.verify("Room 1408 and 1408.", made)
    first, second = made.replaced or ()
    assert first.text == second.text
    assert is_tag(first.text, "NUMBER")
