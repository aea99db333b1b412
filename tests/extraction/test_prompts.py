"""The templates: their placeholders, the rule for replacing them, and filling in one pass."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.errors import ExtractionError, TemplateError
from extraction.prompts import PLACEHOLDER, Prompts, fill

PLACEHOLDERS = {
    "remote_continuation": {"document"},
    "remote_instruct": {"instruction", "document"},
    "remote_words": set(),
    "remote_passages": set(),
    "remote_demonstrations": {"demonstrations"},
    "local_continuation": {"document", "generation"},
    "local_answer": {"document", "generation"},
}


def test_every_template_is_listed_here():
    assert {field.name for field in fields(Prompts)} == set(PLACEHOLDERS)


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_shipped_template_holds_its_placeholders_once_and_no_other(name):
    found = PLACEHOLDER.findall(getattr(Prompts(), name))
    assert sorted(found) == sorted(PLACEHOLDERS[name])


@pytest.mark.parametrize(
    ("name", "placeholder"),
    [(name, placeholder) for name, found in PLACEHOLDERS.items() for placeholder in sorted(found)],
)
def test_missing_placeholder_is_refused_by_name(name, placeholder):
    template = getattr(Prompts(), name).replace("{" + placeholder + "}", "")
    with pytest.raises(TemplateError) as refused:
        Prompts(**{name: template})
    assert name in str(refused.value)
    assert "{" + placeholder + "}" in str(refused.value)


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_unknown_placeholder_is_refused_by_name(name):
    with pytest.raises(TemplateError) as refused:
        Prompts(**{name: getattr(Prompts(), name) + " {secret}"})
    assert name in str(refused.value)
    assert "{secret}" in str(refused.value)


def test_remote_template_cannot_ask_for_the_generation():
    with pytest.raises(TemplateError, match="remote_continuation"):
        Prompts(remote_continuation="{document} {generation}")


def test_template_that_is_no_string_is_refused_by_name():
    with pytest.raises(TemplateError, match="local_answer"):
        Prompts(local_answer=3)  # type: ignore[arg-type]


def test_template_error_is_the_packages_own_and_a_value_error():
    assert issubclass(TemplateError, ExtractionError)
    assert issubclass(TemplateError, ValueError)


def test_braces_that_are_no_placeholder_are_plain_text_of_a_template():
    template = 'As JSON, like {"a": 1} or { x }:\n{document}\n{generation}'
    filled = fill(Prompts(local_answer=template).local_answer, document="D", generation="G")
    assert filled == 'As JSON, like {"a": 1} or { x }:\nD\nG'


def test_fill_leaves_braces_in_values_alone():
    template = "{document}|{generation}"
    document, generation = "{generation} {document} {x} {{}} \\1", "{document}"
    filled = fill(template, document=document, generation=generation)
    assert filled == f"{document}|{generation}"


PIECES = st.lists(
    st.sampled_from(["{document}", "{generation}", "{x}", "{", "}", "\\1", "\\g<0>", "é", " "])
).map("".join)


@given(PIECES, PIECES)
def test_fill_is_one_pass_whatever_the_values(document, generation):
    filled = fill("<{document}|{generation}>", document=document, generation=generation)
    assert filled == "<" + document + "|" + generation + ">"


def test_local_continuation_ends_with_the_text_that_is_to_be_continued():
    filled = fill(Prompts().local_continuation, document="RAW", generation="PERTURBED")
    assert filled.endswith("Perturbed Generation:\nPERTURBED\n\nPrefix Text:\nRAW")


def test_local_answer_opens_with_the_document():
    filled = fill(Prompts().local_answer, document="RAW", generation="PERTURBED")
    assert filled.startswith("RAW\n")
    assert filled.index("RAW") < filled.index("PERTURBED")
