"""Full names that identifiers are made of are hidden, in any way to join words; identifiers of
programs, and names of laws and algorithms, stay."""

from __future__ import annotations

import pytest

from benchmarks.fidelity.gateway import running_gateway
from perturb.selective.patterns import SHIPPED, shape_types
from perturb.selective.patterns.composed import COMPOSED, is_full_name
from tests.perturb.selective.test_nobody import find
from tests.tables import bundled_table

assert {*COMPOSED} <= {*SHIPPED}
assert "PERSON" in shape_types()

NAMES = (
    *("tamsin achterberg", "oskar thackeray", "nkechi okonkwo", "henrike brandstetter"),
    *("leila haddadian", "mateusz wojciechowski", "ingrid kvamme", "priya raghunathan"),
)
FORMS = (  # `{s}` for signs, `{c}` for capitals, `{l}` for a small first letter
    *("{s}.json", "data/{s}_2024.csv", "s3://{s}-backup/in", "test_{s}_can_log_in()", "{S}_TOKEN"),
    *("git checkout -b {k}/fix-timeouts", "registry.internal/{k}/api:1.2", "hostname: {k}-laptop"),
    *("class {c}Test(TestCase):", "{c}Controller.java", "{l}Invoice = 3", "get{c}Orders()"),
    *("interview_{c}_2024.mp3", "crm.contacts.{s}.updated", "CREATE DATABASE {s};", "{c}IT.java"),
)
PLAIN = """
    UserProfileTest grace_hash JordanForm LinearMarkovModel jackson_databind chase_pointer
    will_paginate mark_as_read frank_wolfe GaussSeidelSolver newton_raphson bellman_ford
    april_report iris_dataset jenkins_agent julia_set ada_grad AdaBoostClassifier
    robin_hood_hash RoundRobinScheduler victor_ops pat_token max_length savannah_gnu
    houston_weather kaplan_meier mann_whitney_u cox_regression smith_waterman
    levenshtein_distance lamport_clock curry_howard MayRetry RoseChart JuneBudget
    porter_stemmer reed_solomon wade_giles stefan_boltzmann conn_recvfrom uri_startswith
    amazon_polly dylan_lexer lucas_lehmer emilia_romagna sam_freq oskar_json tamsin_invoice
    ingrid-repl leila_config kevin_github henrike_dataset
    """.split()  # noqa: SIM905


def spell(form: str, name: str) -> tuple[str, str]:
    """Return a text with a name in it, and the part of the text that is this name."""
    given, family = name.split()
    camel = given.capitalize() + family.capitalize()
    parts = {
        "s": f"{given}_{family}",
        "S": f"{given}_{family}".upper(),
        "k": f"{given}-{family}",
        "c": camel,
        "l": given + family.capitalize(),
    }
    used = next(key for key in parts if f"{{{key}}}" in form)
    return form.format(**parts), parts[used]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_a_full_name_in_an_identifier_is_hidden(form: str, name: str) -> None:
    text, part = spell(form, name)
    assert any(part in found for found in find(text)), text


@pytest.mark.parametrize("word", PLAIN)
@pytest.mark.parametrize("form", ["import {}\n", "open data/{}.json", "git checkout -b fix/{}"])
def test_an_identifier_of_a_program_stays(word: str, form: str) -> None:
    assert find(form.format(word)) == []


@pytest.mark.parametrize(
    "text", ["class A:\n    @classmethod\n    def b(cls): ...", "@classproperty"]
)
def test_a_decorator_stays(text: str) -> None:
    assert find(text) == []


def test_a_public_name_in_an_identifier_stays() -> None:
    assert find("My hero is Alan Turing. See AlanTuringTest and MarieCurieTest.") == []


def test_an_identifier_made_of_a_known_name_is_hidden_where_its_words_are_ordinary() -> None:
    text = "Hanna Winter works on this.\nclass HannaWinterTest; winter_sale; WinterTest"
    assert [found for found in find(text) if "Test" in found] == ["HannaWinterTest"]


def test_ordinary_words_make_no_surname() -> None:
    assert not is_full_name("leila", "startswith")
    assert is_full_name("oskar", "thackeray")


async def test_an_identifier_keeps_its_form_and_comes_back() -> None:
    text = "class TamsinAchterbergTest: tamsin_achterberg.json, getTamsinAchterbergOrders()"
    async with running_gateway(bundled_table(), {}) as gateway:
        trip = await gateway.send(text)
    assert trip.left is not None
    assert trip.back == text
    assert "amsin" not in trip.left
    assert "chterberg" not in trip.left
    first, second, third = trip.left.split(" ")[1:]
    made = first.removesuffix("Test:")
    assert first.endswith("Test:")
    assert third == f"get{made}Orders()"
    assert second.removesuffix(".json,").replace("_", "") == made.lower()
