"""The contract of sanitizers that release passages of a codebook; a test class inherits it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from perturb import DocumentTooLong, ReleaseError, sanitizer_class, seeded_generator
from perturb.audit.accounting import compose, spend
from perturb.audit.certificate import certifiable_names, certify, check_certificate
from perturb.errors import CertificateError, CodebookError
from perturb.whole.passage_sanitizer import PassageSanitizer
from tests.perturb.whole.conftest import PASSAGES
from tests.tables import bundled_table

TEXT = "Anna Kowalska took the boat down the river on 3 May. The judge was there. Was he late?"
ODD = ["", " \n", "\ud800", "a" * 5000, "李" * 300, "\u202e abc", "0" * 4000, "judge. " * 900]
Make = Callable[..., PassageSanitizer]


class PassageContract:
    """Test a sanitizer that releases one passage.

    Attributes:
        kind: the class.
        changes: parameters that differ from the defaults, one by one.
    """

    kind: type[PassageSanitizer]
    changes: tuple[dict[str, Any], ...] = ()

    @pytest.fixture
    def make(self, codebook, encoder) -> Make:
        def made(limit: int | None = None, **parameters: Any) -> PassageSanitizer:
            chosen = self.kind.check_parameters(**parameters)
            vocabulary = bundled_table().vocabulary
            return self.kind(codebook, encoder, chosen, vocabulary, max_tokens=limit)

        return made

    @pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
    def test_any_string_gets_a_passage_that_passes_its_check(self, text: str, make: Make) -> None:
        for parameters in ({}, *self.changes):
            sanitizer = make(**parameters)
            released = sanitizer.perturb(text)
            sanitizer.verify(text, released)
            assert released.text in PASSAGES

    def test_equal_noise_gives_an_equal_release(self, make: Make) -> None:
        one, other = (make().perturb(TEXT, seeded_generator(3)) for _ in range(2))
        assert one == other

    def test_fresh_noise_is_not_always_equal(self, make: Make) -> None:
        first = make(epsilon=0.1).perturb(TEXT).text
        assert any(make(epsilon=0.1).perturb(TEXT).text != first for _ in range(20))

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text + " ",
            lambda text: text.upper(),
            lambda text: text + "\n\n" + PASSAGES[0],
            lambda text: "Anna Kowalska took the boat.",
            lambda text: "",
        ],
    )
    def test_anything_but_one_passage_is_refused(self, change, make: Make) -> None:
        sanitizer = make()
        released = sanitizer.perturb(TEXT)
        text = change(released.text)
        for words in ((text,), released.words, tuple(text.split("\n\n"))):
            broken = dataclasses.replace(released, text=text, words=words)
            with pytest.raises(ReleaseError):
                sanitizer.verify(TEXT, broken)

    def test_receipt_holds_the_guarantee_and_no_text(self, make: Make) -> None:
        sanitizer = make(epsilon=10)
        receipt = sanitizer.perturb(TEXT).receipt
        guarantee = sanitizer.guarantee
        assert (receipt.unit, receipt.statement) == (guarantee.unit, guarantee.statement)
        assert (receipt.guarantee, receipt.epsilon_nominal) == ("ldp", 10.0)
        assert receipt.epsilon_per_token == guarantee.epsilon == 10.0
        assert (receipt.released, receipt.unbounded, receipt.table) == (1, 0, "none")
        written = json.dumps(receipt.to_dict())
        assert not [word for word in TEXT.split() if len(word) > 5 and word in written]

    def test_identity_tells_parameters_apart(self, make: Make) -> None:
        variants = ({}, {"epsilon": 3.0}, *self.changes)
        found = [json.dumps(make(**p).identity(), sort_keys=True) for p in variants]
        assert len(set(found)) == len(variants)
        assert found[0] == json.dumps(make().identity(), sort_keys=True)

    def test_a_text_is_one_unit_whatever_its_paragraphs(self, make: Make) -> None:
        text = "First paragraph.\n\nSecond paragraph.\n\nThird."
        assert [unit.text for unit in make().units(text, 1)] == [text]

    def test_a_text_too_long_is_refused(self, make: Make) -> None:
        for ask in (make(limit=10).units, make(limit=10).perturb):
            with pytest.raises(DocumentTooLong):
                ask("word " * 20)

    def test_a_codebook_of_another_encoder_is_refused(self, codebook, encoder) -> None:
        other = dataclasses.replace(encoder, identity={"encoder": "other"})
        with pytest.raises(CodebookError, match="was made with the encoder"):
            self.kind(codebook, other, self.kind.check_parameters(), bundled_table().vocabulary)

    def test_registry_and_certificate_know_it(self, make: Make) -> None:
        assert sanitizer_class(self.kind.name) is self.kind
        assert (self.kind.name in certifiable_names()) == self.kind.certifiable
        sanitizer = make(epsilon=6)
        if not self.kind.certifiable:
            with pytest.raises(CertificateError, match="has no proof to certify"):
                certify(sanitizer)
            return
        certificate = certify(sanitizer)
        assert certificate.unit == sanitizer.guarantee.unit
        assert 5.99 < float(certificate.epsilon_proved) <= 6
        check_certificate(certificate, sanitizer)
        for change in ({"epsilon": 5.0}, *self.changes):
            with pytest.raises(CertificateError, match="is for parameters"):
                check_certificate(certificate, make(**{"epsilon": 6.0, **change}))

    def test_account_never_promises_less_than_one_release_costs(self, make: Make) -> None:
        basic, *others = compose([spend(make(epsilon=2), 3)], losses=False)
        assert basic.epsilon == 6.0
        assert all(bound.delta > 0 for bound in others)

    @pytest.mark.parametrize("epsilon", [0.01, 6.0, 200.0])
    def test_figures_are_numbers_within_epsilon(self, epsilon: float, make: Make) -> None:
        figures = make(epsilon=epsilon).figures()
        assert json.loads(json.dumps(figures)) == figures
        assert 0 <= figures["epsilon_proved"] <= epsilon
        assert figures["passages"] == len(PASSAGES)

    def test_no_honest_release_is_refused(self, make: Make, codebook) -> None:
        sanitizer = make()
        assert sanitizer.false_alarm == 0
        made = sanitizer.perturb(TEXT)
        for passage in PASSAGES:
            for raw in (TEXT, passage):
                honest = dataclasses.replace(made, text=passage, words=(passage,))
                sanitizer.verify(raw, honest)
