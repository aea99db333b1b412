"""selective: an action for each type, terms of the operator, thresholds of the detector."""

from __future__ import annotations

import json
import re
from dataclasses import replace as changed
from itertools import product
from typing import Any

import numpy as np
import pytest

from perturb import (
    ParameterError,
    Perturber,
    RefusedPart,
    ReleaseError,
    Span,
    get_mechanism,
    seeded_generator,
)
from perturb.sanitizer import Demands, Policy
from perturb.selective.detector import DETECTED, DetectorPolicy
from perturb.selective.parts import Cover, ExceptTerms, Terms
from perturb.selective.profiles import ACTIONS, Actions, drop_claimed
from perturb.selective.sanitizer import Selective, SelectiveParameters
from perturb.testing import PolicyContract
from tests.perturb.marking import TABLE, WORDS, Fixed, selective

TEXT = "We met Anna Schmidt on 12 May 2024 about card 4095-2609-9393-4932."


def release(text: str = TEXT, seed: int = 1, **parameters: Any) -> Any:
    perturber = selective(
        **{**parameters, "actions": tuple(parameters.get("actions", {}).items())}
    )
    done = perturber.perturb(text, seeded_generator(seed))
    perturber.verify(text, done)
    return done


class TestKeep:
    def test_a_kept_type_is_left_and_counted(self) -> None:
        done = release(actions={"DATE_TIME": "keep"})
        assert "on 12 May 2024 about" in done.text
        assert "Schmidt" not in done.text
        assert done.receipt.entities == {"CREDIT_CARD": 1, "NAME": 1}
        assert done.receipt.actions == {"keep": {"DATE_TIME": 1}}
        assert any("kept by their type" in line for line in done.receipt.reveals)
        plain = release()
        assert plain.receipt.actions == {}
        assert plain.receipt.entities == {"CREDIT_CARD": 1, "DATE_TIME": 1, "NAME": 1}

    @pytest.mark.parametrize("date", ["2024-05-12", "12.05.2024", "5/12/2024", "2024-05-12 10:30"])
    def test_a_date_in_figures_is_no_telephone_number(self, date: str) -> None:
        done = release(f"due on {date} again", actions={"DATE_TIME": "keep"})
        assert done.text == f"due on {date} again"
        assert done.receipt.actions["keep"] == {"DATE_TIME": 1}

    def test_keep_never_wins_over_another_type_that_it_overlaps(self) -> None:
        patterns = {"SLOW": "Anna Schmidt", "FAST": "Schmidt Ltd"}
        own: dict[str, Any] = {"policy": "digits", "patterns": patterns}
        levels = [action for action in ACTIONS if action != "value"]  # words have none
        for first, second in product(levels, repeat=2):
            types = {"SLOW": first, "FAST": second}
            if "refuse" in types.values():
                with pytest.raises(RefusedPart):
                    release("so Anna Schmidt Ltd paid", **own, actions=types)
                continue
            done = release("so Anna Schmidt Ltd paid", **own, actions=types)
            if set(types.values()) == {"keep"}:
                assert done.text == "so Anna Schmidt Ltd paid"
                continue
            (part,) = done.replaced
            assert (part.start, part.end) == (3, 19)  # all of both, however long
            kept = [type_ for type_, action in types.items() if action == "keep"]
            assert part.type not in kept
            assert "keep" not in done.receipt.actions

    def test_a_part_that_is_known_is_replaced_inside_a_kept_one(self) -> None:
        text = "Anna Schmidt: mail schmidt@example.org"
        done = release(text, actions={"EMAIL_ADDRESS": "keep"})
        assert "schmidt" not in done.text.casefold()
        alone = release("mail schmidt@example.org", actions={"EMAIL_ADDRESS": "keep"})
        assert alone.text == "mail schmidt@example.org"
        perturber = selective(actions=(("EMAIL_ADDRESS", "keep"),))
        told = perturber.perturb("mail schmidt@example.org", known={"Schmidt": "NAME"})
        assert "schmidt" not in told.text

    def test_a_kept_part_is_not_sensitive_in_other_texts(self) -> None:
        perturber = selective(actions=(("NAME", "keep"),))
        assert perturber.findings(TEXT) == {
            "12 May 2024": "DATE_TIME",
            "4095-2609-9393-4932": "CREDIT_CARD",
        }

    def test_numbers_that_another_type_claims_do_not_count(self) -> None:
        found = [Span(0, 11, "DATE_TIME"), Span(7, 11, "NUMBER"), Span(20, 24, "NUMBER")]
        assert drop_claimed(found, ()) == [found[0], found[2]]
        assert drop_claimed(found, ("NUMBER",)) == found

    def test_every_other_type_may_be_kept(self) -> None:
        done = release(actions={"*": "keep", "CREDIT_CARD": "replace"}, deny=("card",))
        assert done.text.startswith("We met Anna Schmidt on 12 May 2024 about ")
        assert done.receipt.entities == {"CREDIT_CARD": 1, "CUSTOM": 1}

    def test_a_release_that_keeps_more_is_refused(self) -> None:
        kept = release(actions={"NAME": "keep"})
        with pytest.raises(ReleaseError, match="was not replaced"):
            selective().verify(TEXT, kept)
        part = kept.replaced[0]
        back = changed(kept, replaced=kept.replaced[1:], text=TEXT)
        assert TEXT[part.start : part.end] == "12 May 2024"
        with pytest.raises(ReleaseError):
            selective(actions=(("NAME", "keep"),)).verify(TEXT, back)


class TestRefuse:
    def test_a_refused_type_is_named_and_its_text_is_not(self) -> None:
        with pytest.raises(RefusedPart) as caught:
            release(actions={"CREDIT_CARD": "refuse"})
        assert str(caught.value).endswith("is refused: CREDIT_CARD")
        assert "4095" not in str(caught.value)
        assert release("no card", actions={"CREDIT_CARD": "refuse"}).text == "no card"

    def test_a_refused_type_inside_a_longer_part_is_refused(self) -> None:
        text = "see https://x.example/?mail=anna@example.org today"
        assert release(text).receipt.entities == {"PUBLIC_URL": 1}
        with pytest.raises(RefusedPart, match="EMAIL_ADDRESS"):
            release(text, actions={"EMAIL_ADDRESS": "refuse"})

    def test_a_refused_part_of_another_text_is_refused_here(self) -> None:
        perturber = selective(actions=(("NAME", "refuse"),))
        known = perturber.findings("so Anna Schmidt")
        assert known["Schmidt"] == "NAME"
        with pytest.raises(RefusedPart):
            perturber.perturb("mail schmidt now", known=known)

    def test_a_release_of_a_refused_part_does_not_pass(self) -> None:
        done = release()
        with pytest.raises(ReleaseError, match="refused"):
            selective(actions=(("NAME", "refuse"),)).verify(TEXT, done)


class TestTerms:
    @pytest.mark.parametrize("term", ["blue bird", "BLUE BIRD", " Blue\tbird "])
    def test_a_denied_term_is_always_marked(self, term: str) -> None:
        text = "the Blue\nBird, bluebird, blue birds, BLUE  BIRD and B&#108;ue bird"
        done = release(text, deny=(term,), policy="digits")
        assert done.receipt.entities == {"CUSTOM": 3}
        assert "bluebird, blue birds" in done.text

    def test_an_allowed_term_is_never_marked(self) -> None:
        text = "so Paris Hilton flew to Paris, and PARIS it was"
        assert release(text).receipt.entities == {"NAME": 3}
        done = release(text, allow=("paris",))
        assert done.text.endswith(" flew to Paris, and PARIS it was")
        assert done.receipt.entities == {"NAME": 1}  # the longer part is marked

    def test_deny_wins_over_allow(self) -> None:
        text = "so Acme Corp and acme"
        done = release(text, allow=("Acme Corp", "acme"), deny=("Acme",))
        assert "acme" not in done.text.casefold()
        assert "Corp and" in done.text
        known = {"Acme Corp": "NAME"}
        perturber = selective(allow=("Acme Corp", "acme"), deny=("Acme",))
        assert "acme" not in perturber.perturb(text, known=known).text.casefold()

    def test_a_known_part_is_not_marked_where_it_is_allowed(self) -> None:
        perturber = selective(allow=("Zephyr",))
        assert perturber.perturb("so zephyr", known={"Zephyr": "NAME"}).text == "so zephyr"

    def test_terms_are_private(self) -> None:
        perturber = selective(allow=("falcon",), deny=("bluebird",))
        told = json.dumps(perturber.identity())
        assert "falcon" not in told
        assert "bluebird" not in told
        receipt = json.dumps(perturber.perturb("bluebird").receipt.to_dict())
        assert "falcon" not in receipt
        assert "bluebird" not in receipt
        identities = {
            json.dumps(selective(**make).identity())
            for make in ({}, {"allow": ("a",)}, {"deny": ("a",)}, {"deny": ("b",)})
        }
        assert len(identities) == 4

    def test_they_hold_for_a_policy_object_too(self) -> None:
        own = Fixed([Span(0, 3, "X"), Span(4, 7, "X")])
        parameters = SelectiveParameters(allow=("tea",), deny=("mug",))
        done = Perturber(Selective(TABLE, parameters, policy=own)).perturb("tea for a mug")
        assert done.receipt.entities == {"CUSTOM": 1, "X": 1}
        assert done.text.startswith("tea ")

    def test_cover_agrees_with_a_plain_reading(self) -> None:
        rng = np.random.default_rng(1)
        for _ in range(300):
            marks = [
                Span(int(a), int(a + n), "X")
                for a, n in zip(rng.integers(0, 20, 4), rng.integers(1, 8, 4), strict=True)
            ]
            cover = Cover(marks)
            for start, end in product(range(28), repeat=2):
                if start < end:
                    assert cover.holds(start, end) == any(
                        m.start <= start and end <= m.end for m in marks
                    )
                    assert cover.meets(start, end) == any(
                        m.start < end and start < m.end for m in marks
                    )


# Terms are looked up word by word: what matters is where a text has borders of words.
HOSTILE = (
    "a",
    "1",
    ".",
    " ",
    "- ",
    "A1",
    "a.",
    "X9 ",
    "blue ",
    "Blue\n",
    "&#65;",
    "é\u0301",
    "\u202e",
)


class TestDenied(PolicyContract):
    marks = (("a Blue  bird flew", (("Blue  bird", "CUSTOM"),)),)
    hostile = HOSTILE
    leaves = ("bluebird, X90",)

    def build(self) -> Policy:
        return Terms(("blue bird", "X9"))


class TestExcept(PolicyContract):
    marks = (("a Blue  bird flew", (("Blue  bird", "CUSTOM"),)),)
    hostile = HOSTILE
    leaves = ("bluebird, x9",)

    def build(self) -> Policy:
        return ExceptTerms(Terms(("blue bird", "X9")), Terms(("x9",)))


class TestThresholds:
    TEXT = "the clerk saw Oliver Thwaite of Norwich on 4 March 1971, a nurse of forty"

    def marks(self, **thresholds: float) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {type_: set() for type_ in DETECTED}
        for span in DetectorPolicy(thresholds=thresholds).find(self.TEXT):
            found[span.type].add(self.TEXT[span.start : span.end])
        return found

    def test_a_lower_threshold_marks_more_and_a_higher_one_less(self) -> None:
        usual = self.marks()
        assert usual["PERSON"]
        none = self.marks(PERSON=0.9999999)
        assert not none["PERSON"]
        assert none["LOCATION"] == usual["LOCATION"]
        words = [
            sum(len(part.split()) for part in self.marks(DEMOGRAPHIC=least)["DEMOGRAPHIC"])
            for least in (0.99, 0.5, 0.05, 0.001)
        ]
        assert words == sorted(words)
        assert words[0] < words[-1]

    def test_thresholds_are_part_of_the_policys_version(self) -> None:
        versions = {
            DetectorPolicy(thresholds=t).version
            for t in ({}, {"PERSON": 0.5}, {"PERSON": 0.6}, {"ID": 0.5})
        }
        assert len(versions) == 4
        made = SelectiveParameters(policy=("regex", "detector"), thresholds={"PERSON": 0.3})
        assert "0.3" in json.dumps(Selective(TABLE, made).identity()["thresholds"])


class TestMarkingMore:
    """A key or a request may have more marked, never less."""

    TEXT = "the clerk saw Oliver Thwaite of Norwich on 4 March 1971, a nurse of forty"

    def words(self, sanitizer: Any, text: str = TEXT) -> set[str]:
        spans = sanitizer.mechanism.spans(text)
        return {word for span in spans for word in text[span.start : span.end].split()}

    def test_denied_terms_are_marked_also_where_the_operator_allows_them(self) -> None:
        text = "the clerk saw it in Norwich on 4 March 1971"
        ours = selective(allow=("Norwich",), deny=("clerk",))
        more = ours.strengthen(Demands(deny=("norwich", "saw")))
        assert self.words(more, text) == self.words(ours, text) | {"Norwich", "saw"}
        assert "Norwich" not in self.words(ours, text)
        assert more.identity() != ours.identity()
        assert more.strengthen(Demands(deny=("saw",))).identity() == more.identity()
        release = more.perturb(text)
        more.verify(text, release)
        assert "Norwich" not in release.text
        assert "orwich" not in json.dumps(release.receipt.to_dict())

    @pytest.mark.parametrize("present", [{}, {"DEMOGRAPHIC": 0.9, "PERSON": 0.5}])
    @pytest.mark.parametrize("asked", [0.999999, 0.5, 0.05, 0.0001])
    def test_a_threshold_never_marks_less(self, present: dict[str, float], asked: float) -> None:
        ours = selective(policy=("regex", "detector"), thresholds=present)
        types = ("DEMOGRAPHIC", "PERSON", "LOCATION")
        more = ours.strengthen(Demands(thresholds=tuple((type_, asked) for type_ in types)))
        assert self.words(ours) <= self.words(more)
        assert asked > 0.01 or self.words(ours) < self.words(more)
        assert more.identity() != ours.identity()
        again = more.strengthen(Demands(thresholds=(("PERSON", 0.9),)))
        assert self.words(again) == self.words(more)

    def test_thresholds_need_the_detector(self) -> None:
        with pytest.raises(ParameterError, match=r"^thresholds must be left out unless"):
            selective().strengthen(Demands(thresholds=(("PERSON", 0.5),)))

    @pytest.mark.parametrize("name", ["actions", "deny", "thresholds"])
    def test_what_marks_no_parts_is_refused_by_name(self, name: str) -> None:
        demands = Demands(actions=(("AGE", "refuse"),), deny=("x",), thresholds=(("ID", 0.5),))
        for made in (get_mechanism("rantext_ldp", TABLE), selective(policy="all")):
            with pytest.raises(ParameterError, match=f"^{name} must be left out unless the mech"):
                made.strengthen(demands.only(name))


def acting(actions: dict[str, str]) -> Demands:
    return Demands(actions=tuple(actions.items()))


class TestStrengthen:
    @pytest.mark.parametrize(
        ("of", "to"), [("PHONE_NUMBER", "PHONE_NUMBER"), ("*", "*"), ("*", "PHONE_NUMBER")]
    )
    def test_every_pair(self, of: str, to: str) -> None:
        for present, asked in product(ACTIONS, repeat=2):
            if "value" in (present, asked):
                pair = (name.replace("PHONE_NUMBER", "AGE") for name in (of, to))
                self.check_pair(present, asked, *pair)
            else:
                self.check_pair(present, asked, of, to)

    def check_pair(self, present: str, asked: str, of: str, to: str) -> None:
        both = {present, asked} == {"value", "surrogate"}
        if both and "AGE" in (of, to):
            return  # no type has both
        kind = "AGE" if "value" in (present, asked) else "PHONE_NUMBER"
        perturber = selective(actions=((of, present),))
        if ACTIONS.index(asked) < ACTIONS.index(present):
            with pytest.raises(ParameterError, match=rf"^actions\.{re.escape(to)} must not be"):
                perturber.strengthen(acting({to: asked}))
            if both:
                return
            weak = perturber.strengthen(acting({to: asked}), pass_weaker=True)
            assert weak.mechanism.action(kind) == present  # type: ignore[attr-defined]
            return
        stronger = perturber.strengthen(acting({to: asked}))
        if not both:
            assert stronger.mechanism.action(kind) == asked  # type: ignore[attr-defined]
            assert perturber.mechanism.action(kind) == present  # type: ignore[attr-defined]
        same = perturber.identity() == stronger.identity()
        assert same == (asked == present and of == to), (present, asked)

    @pytest.mark.parametrize(
        ("kind", "other", "without"),
        [("PHONE_NUMBER", "ID", "value"), ("AGE", "MONEY", "surrogate")],
    )
    def test_a_request_for_every_type_weakens_none(
        self, kind: str, other: str, without: str
    ) -> None:
        instead = {"value": "surrogate", "surrogate": "tag"}
        for present, asked in product([a for a in ACTIONS if a != without], ACTIONS):
            perturber = selective(actions=((kind, present), ("*", "keep")))
            stronger = perturber.strengthen(acting({"*": asked}))
            given = instead[without] if asked == without else asked
            least = max(present, given, key=ACTIONS.index)
            found = [stronger.mechanism.action(name) for name in (kind, other)]  # type: ignore
            assert found == [least, given], (present, asked)

    @pytest.mark.parametrize("kinds", list(product(("NAME", "PERSON", "*"), repeat=2)))
    def test_no_type_is_ever_weaker_than_either(self, kinds: tuple[str, str]) -> None:
        for levels in product(ACTIONS, repeat=2):
            ours, theirs = (Actions(((k, a),)) for k, a in zip(kinds, levels, strict=True))
            both = ours.strengthen(theirs.pairs)
            for type_ in ("NAME", "PERSON", "LOCATION", "PHONE_NUMBER", "CUSTOM"):
                rank = ACTIONS.index(both.of(type_))
                assert rank >= ACTIONS.index(ours.of(type_)), levels
                named = (
                    type_ == kinds[1]
                    or kinds[1] == "*"
                    or (kinds[1] == "NAME" and type_ in ("PERSON", "LOCATION"))
                )
                if named and not (type_ == "LOCATION" and levels[1] == "surrogate"):  # it has none
                    assert rank >= ACTIONS.index(levels[1]), levels


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"actions": 3}, "actions must map types, or *, to actions"),
        (
            {"actions": {"EMAIL": "keep"}},
            "actions must be for *, or for types among ACCOUNT_NUMBER",
        ),
        ({"actions": {"AGE": "hide"}}, "actions.AGE must be one of keep"),
        ({"actions": {"AGE": None}}, "actions.AGE must be one of keep"),
        ({"actions": {"AGE": "surrogate"}}, "actions.AGE must not be surrogate"),
        ({"actions": {"*": "surrogate"}, "consistent": False}, "consistent must be true"),
        ({"actions": {"CUSTOM": "keep"}}, "actions.CUSTOM must not be keep"),
        ({"policy": "all", "actions": {"AGE": "keep"}}, "actions, allow and deny must be left"),
        ({"policy": "all", "deny": ["x"]}, "actions, allow and deny must be left"),
        ({"allow": "tea"}, "allow must be a list of terms"),
        ({"deny": [3]}, "deny must be a list of terms"),
        ({"deny": ["--"]}, "deny must hold terms with a letter"),
        ({"deny": ["a " * 40]}, "deny must hold terms of <= 64 words"),
        ({"thresholds": {"PERSON": 0.5}}, "thresholds must be left out unless"),
        ({"thresholds": 3}, "thresholds must map types to probabilities"),
        ({"policy": "detector", "thresholds": {"AGE": 0.5}}, "thresholds must be for types"),
        ({"policy": "detector", "thresholds": {"PERSON": 1}}, "thresholds.PERSON must be a"),
        ({"policy": "detector", "thresholds": {"PERSON": True}}, "thresholds.PERSON must be a"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters: dict[str, Any], said: str) -> None:
    words = {} if parameters.get("policy") == "all" else WORDS
    with pytest.raises(ParameterError, match=f"^{re.escape(said)}"):
        get_mechanism("selective", TABLE, **{**words, **parameters})
