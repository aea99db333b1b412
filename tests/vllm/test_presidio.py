"""The policy `presidio` with the real package: what it finds, and that it stays on the machine.

It runs in the vLLM tier's environment: spaCy and its kin are too large for the everyday one.
"""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import Any

import pytest

from perturb import ParameterError, Perturber, get_mechanism, seeded_generator
from perturb.selective.policies import PresidioPolicy, settle
from tests.tables import bundled_table

pytestmark = pytest.mark.vllm
TEXT = (
    "Mail anna.b@example.com or see https://shop.example.com, card 4095 2609 9393 4932, "
    "account GB82WEST12345698765432, from 192.168.17.4, ssn 536-90-4399."
)


def marks(policy: PresidioPolicy, text: str) -> set[tuple[str, str]]:
    return {(text[s.start : s.end], s.type) for s in settle(text, policy.find(text))}


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every attempt to reach another machine, refused."""
    tried: list[Any] = []

    def refuse(*arguments: Any, **more: Any) -> Any:
        tried.append(arguments)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tried


def test_pattern_recognizers_mark_without_network_or_log(
    offline: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    monkeypatch.setenv("HOME", str(tmp_path))
    root, handler = logging.getLogger(), Keep()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        found = marks(PresidioPolicy(), TEXT + " IBAN GB82WEST1234569876543é, DE00!")
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert {
        ("anna.b@example.com", "EMAIL_ADDRESS"),
        ("4095 2609 9393 4932", "CREDIT_CARD"),
        ("GB82WEST12345698765432", "IBAN_CODE"),
        ("192.168.17.4", "IP_ADDRESS"),
        ("536-90-4399", "US_SSN"),
    } <= found
    assert offline == []
    assert list(tmp_path.iterdir()) == []
    assert not [line for line in lines if "anna" in line or "WEST" in line or "4095" in line]


def test_it_reads_the_folded_text() -> None:
    text = "ssn 536\u201190\u20114399, card 4095\u00a02609\u00a09393\u00a04932."
    assert marks(PresidioPolicy(), text) >= {
        ("536\u201190\u20114399", "US_SSN"),
        ("4095\u00a02609\u00a09393\u00a04932", "CREDIT_CARD"),
    }


def test_entities_choose_and_unknown_ones_are_refused() -> None:
    assert marks(PresidioPolicy(entities=["EMAIL_ADDRESS"]), TEXT) == {
        ("anna.b@example.com", "EMAIL_ADDRESS")
    }
    with pytest.raises(ParameterError, match="^entities must be among .*EMAIL_ADDRESS"):
        PresidioPolicy(entities=["EMAIL"])


def test_a_model_that_is_not_installed_is_refused_and_not_fetched(offline: list[Any]) -> None:
    with pytest.raises(ParameterError, match="^model must be an installed spaCy model"):
        PresidioPolicy("en_core_web_none")
    assert offline == []


def test_a_spacy_model_finds_names(tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("en")
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "lempi"}])
    pipeline.to_disk(tmp_path / "model")
    found = marks(PresidioPolicy(str(tmp_path / "model")), "then lempi wrote from a@example.com")
    assert found == {("lempi", "PERSON"), ("a@example.com", "EMAIL_ADDRESS")}


def test_the_mechanism_takes_the_policy_by_name() -> None:
    perturber = Perturber(
        get_mechanism(
            "selective",
            bundled_table(),
            policy="presidio",
            patterns={"CASE": r"AB-\d+"},
            actions={"*": "replace"},
        )
    )
    done = perturber.perturb(TEXT + " case AB-12", seeded_generator(1))
    perturber.verify(TEXT + " case AB-12", done)
    assert done.receipt.entities["CASE"] == 1
    assert done.receipt.entities["CREDIT_CARD"] == 1
    assert "4095" not in done.text
