"""Profiles choose what is sensitive; the default hides people and leaves ordinary texts alone."""

from __future__ import annotations

import pytest

from perturb import ParameterError, Perturber, Sanitizer, get_mechanism
from perturb.errors import RefusedPart
from perturb.sanitizer import Demands
from perturb.selective.detector import DETECTED
from perturb.selective.patterns import shape_types
from perturb.selective.profiles import DEFAULT, PROFILES
from perturb.selective.sanitizer import Selective, SelectiveParameters
from tests.tables import bundled_table

TABLE = bundled_table()
PRIVATE = (
    "Dear Mira Holzapfel,\nplease call +49 30 7654321 or write to mira.holz@lindenhof.example. "
    'DB_PASSWORD="tr0mbone!Quilt" is the password, the card is 4095-2609-9393-4932 and the rent '
    "€1,250.50 a month since 12 May 2024."
)
ORDINARY = (
    "What is 1234 * 5678?",
    "Write a function in Python that returns the n-th prime number.",
    "import os\nfrom abc import ABC\n\nclass UserService(BaseService):\n    pass\n",
    "SELECT name, price FROM products WHERE price > 10 ORDER BY price DESC LIMIT 5;",
    "Explain the difference between TCP and UDP in three sentences.",
    "Wie viele Tage hat der Februar in einem Schaltjahr?",
    "git rebase -i HEAD~3 && npm run build -- --mode production",
    "Solve 3x + 7 = 22 for x, then check x^2 - 5x + 6 = 0.",
)


def types_of(profile: str, text: str) -> set[str]:
    mechanism = get_mechanism("selective", TABLE, profile=profile)
    return {span.type for span in mechanism.spans(text) or ()}


@pytest.mark.parametrize("text", ORDINARY)
@pytest.mark.parametrize("profile", ["secrets", "contact", "people"])
def test_an_ordinary_text_has_no_sensitive_part(profile: str, text: str) -> None:
    assert get_mechanism("selective", TABLE, profile=profile).spans(text) == ()


ALONE = (
    "What does a 2 % fee on $1,250.50 come to?",
    "Which check digit has 4006381333931?",
    "what is 170141183460469231731687303715884105727 - 1",
    "Is e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 the hash of nothing?",
    "Which port is better, 8443 or 9443?",
)


@pytest.mark.parametrize("text", ALONE)
def test_a_number_alone_is_nobodys_beside_a_name_it_is_somebodys(text: str) -> None:
    assert types_of("names", text) == set()
    assert len(types_of("names", f"Ask Mira Holzapfel: {text}")) > 1


# A text that names nothing, and one like it with the name in it that is hidden.
NAMELESS = {
    "a French month": (
        "à partir de mars :\n\nfévr. 118\nmars 121\navr. 109\nmai 131\njuin 140\n",
        "Nous partons de Marseille en avril.",
        "Marseille",
    ),
    "an abbreviation": ("Angaben in Mio. €.", "Angaben von Jonas Mio.", "Jonas Mio"),
    "a key": (
        'const body = \'{"orderId": 9007199254740993, "sku": "40063"}\'; // 9007199254740993n',
        'const body = \'{"city": "Rotterdam"}\';',
        "Rotterdam",
    ),
    "a library": (
        "#12 pc 00108b68 /system/lib64/libgui.so (decStrong:292) at libutils.android",
        "He works in belarus now.",
        "belarus",
    ),
    "a constant": ("PRAGMA journal_mode = WAL;\n", "She moved from WA to Perth.", "Perth"),
    "a device and an encoding": (
        "time,id,volt\n00:00,TH-0031,4.12\n\nchoisir « UTF-8 »",
        "choisir Utrecht, puis le capteur",
        "Utrecht",
    ),
    "escaped bytes": (
        'unicode chunk at offset 0x0001F400 (raw=b"\\x1f\\x8b\\x08\\x00\\x00")',
        "Our host in Lisbon is down.",
        "Lisbon",
    ),
}


@pytest.mark.parametrize("kind", NAMELESS)
def test_what_names_nothing_leaves_whole(kind: str) -> None:
    nameless, named, name = NAMELESS[kind]
    mechanism = get_mechanism("selective", TABLE, profile="names")
    assert not mechanism.spans(nameless)
    assert name in [named[span.start : span.end] for span in mechanism.spans(named) or ()]


def test_a_request_may_have_a_number_alone_marked() -> None:
    parameters = SelectiveParameters(profile="names")
    lowered = Demands(thresholds=(("ID", 0.4),), actions=(("ID", "refuse"),))
    with pytest.raises(RefusedPart, match="ID"):
        demand(parameters, lowered).perturb(ALONE[1])


@pytest.mark.parametrize("word", ["reading", "post", "war"])
@pytest.mark.parametrize("profile", ["business", "names", "record"])
def test_an_ordinary_word_in_small_letters_is_no_place_firm_or_work(
    profile: str, word: str
) -> None:
    assert types_of(profile, f"we like {word} and gardens").isdisjoint(
        ("LOCATION", "ORGANIZATION", "OTHER_NAME")
    )


def test_each_profile_marks_all_that_the_one_before_it_marks() -> None:
    before: set[int] = set()
    for profile in [*PROFILES][:-1]:
        spans = get_mechanism("selective", TABLE, profile=profile).spans(PRIVATE) or ()
        marked = {place for span in spans for place in range(span.start, span.end)}
        assert before <= marked, profile
        before = marked
    assert get_mechanism("selective", TABLE, profile="everything").spans(PRIVATE) is None


def test_profiles_add_their_types() -> None:
    assert types_of("secrets", PRIVATE) == {"PASSWORD"}
    contact = {"PASSWORD", "PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD"}
    assert types_of("contact", PRIVATE) == contact
    assert types_of("people", PRIVATE) == {*contact, "PERSON"}
    assert types_of("business", PRIVATE) >= {*contact, "PERSON", "MONEY"}
    assert types_of("record", PRIVATE) >= {"PASSWORD", "CREDIT_CARD", "PERSON", "DATE_TIME"}


def test_a_profile_names_types_that_its_finders_know() -> None:
    for profile in PROFILES.values():
        assert (profile.types or frozenset()) <= {*shape_types()}
        detected = profile.detected or ()
        assert {type_ for type_, _ in detected} <= {*DETECTED}
        assert all(0 < least < 1 for least in profile.thresholds.values())
    record = PROFILES["record"].detected or ()
    assert sorted(type_ for type_, _ in record) == sorted(DETECTED)
    assert DEFAULT in PROFILES


def test_without_parameters_the_default_profile_is_found_by_patterns_and_detector() -> None:
    plain = SelectiveParameters()
    assert (plain.profile, plain.policy) == (DEFAULT, ("regex", "detector"))
    assert SelectiveParameters(profile="contact").policy == ("regex", "detector")
    assert SelectiveParameters(profile="everything").policy == "all"


def test_a_policy_or_types_without_a_profile_mark_all_they_name() -> None:
    assert SelectiveParameters(policy="regex").profile == ""
    named = SelectiveParameters(entities=("EMAIL_ADDRESS",))
    assert (named.profile, named.policy) == ("", ("regex", "detector"))
    assert SelectiveParameters(policy="regex", profile="people").profile == "people"


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"profile": "peple"}, "profile must be one of secrets, contact, people"),
        ({"profile": 3}, "profile must be one of"),
        ({"profile": "people", "entities": ("PERSON",)}, "entities must be left out"),
        ({"profile": "people", "policy": "digits"}, "profile must be left out"),
        ({"profile": "people", "policy": ("regex", "digits")}, "profile must be left out"),
        ({"profile": "everything", "policy": "regex"}, "policy must be left out"),
    ],
)
def test_what_does_not_fit_together_is_refused(parameters: dict[str, object], rule: str) -> None:
    with pytest.raises(ParameterError, match=rule):
        SelectiveParameters(**parameters)  # type: ignore[arg-type]


def test_an_operators_own_patterns_count_beside_a_profile() -> None:
    mechanism = get_mechanism("selective", TABLE, patterns={"PROJECT": "Zanzibar"})
    assert [span.type for span in mechanism.spans("the project Zanzibar") or ()] == ["PROJECT"]


def test_a_type_that_a_profile_leaves_has_no_action() -> None:
    """An action that nothing would come of is an error, not a promise that is not kept."""
    for actions in ({"DATE_TIME": "refuse"}, {"PROFESSION": "tag"}):
        with pytest.raises(ParameterError, match="actions must be for"):
            SelectiveParameters(actions=actions)
        with pytest.raises(ParameterError, match="actions must be for"):
            demand(SelectiveParameters(), Demands(actions=tuple(actions.items())))
    SelectiveParameters(actions={"NAME": "refuse", "PERSON": "tag", "CUSTOM": "refuse"})


def test_a_request_may_have_a_type_marked_that_the_profile_leaves() -> None:
    text = "the clinic is in Besançon, near Dijon"
    lowered = Demands(thresholds=(("LOCATION", 1e-6),), actions=(("LOCATION", "refuse"),))
    made = demand(SelectiveParameters(profile="people"), lowered)
    with pytest.raises(RefusedPart, match="LOCATION"):
        made.perturb(text)
    with pytest.raises(ParameterError, match="thresholds must be left out where"):
        demand(SelectiveParameters(profile="contact"), lowered)


def demand(parameters: SelectiveParameters, demands: Demands) -> Sanitizer:
    return Perturber(Selective(TABLE, parameters)).strengthen(demands)
