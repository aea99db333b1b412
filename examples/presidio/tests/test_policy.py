"""The policy keeps the contract, and stays on the machine."""

import logging
import socket
from pathlib import Path
from typing import Any

import pytest
import spacy
import tldextract.tldextract
from inferdpt_presidio.policy import MODEL, PresidioPolicy
from presidio_analyzer import pattern_recognizer

from perturb import ParameterError
from perturb.selective.policies import settle
from perturb.testing import PolicyContract

TEXT = (
    "Mail anna.b@example.com or see https://shop.example.com, card 4095 2609 9393 4932, "
    "account GB82WEST12345698765432, from 192.168.17.4, ssn 536-90-4399."
)
PARTS = (
    ("anna.b@example.com", "EMAIL_ADDRESS"),
    ("4095 2609 9393 4932", "CREDIT_CARD"),
    ("GB82WEST12345698765432", "IBAN_CODE"),
    ("192.168.17.4", "IP_ADDRESS"),
    ("536-90-4399", "US_SSN"),
)


def find_parts(policy: PresidioPolicy, text: str) -> set[tuple[str, str]]:
    return {(text[s.start : s.end], s.type) for s in settle(text, policy.find(text))}


class TestPresidio(PolicyContract):
    marks = (
        (TEXT, PARTS),
        (
            "ssn 536\u201190\u20114399, card 4095\u00a02609\u00a09393\u00a04932.",
            (
                ("536\u201190\u20114399", "US_SSN"),
                ("4095\u00a02609\u00a09393\u00a04932", "CREDIT_CARD"),
            ),
        ),
    )
    leaves = ("The parcel is on its way.",)
    # On others, such as dots, expressions of Presidio grow with the square of the length.
    hostile = ("a", "1", "A ", "Aa ")

    def build(self) -> PresidioPolicy:
        return PresidioPolicy("")


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


def test_nothing_is_downloaded_kept_or_logged(
    offline: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    text = TEXT + " IBAN GB82WEST1234569876543é, DE00!"
    with caplog.at_level(logging.DEBUG):
        assert set(PARTS) <= find_parts(PresidioPolicy(""), text)
    assert offline == []
    assert list(tmp_path.iterdir()) == []
    assert not [line for line in caplog.messages if "anna" in line or "WEST" in line]


def test_no_other_library_is_changed() -> None:
    before = tldextract.tldextract.TLD_EXTRACTOR, pattern_recognizer.REGEX_TIMEOUT_SECONDS
    loggers = [logging.getLogger(name) for name in ("presidio-analyzer", "tldextract")]
    levels = [(logger.level, logger.propagate) for logger in loggers]
    find_parts(PresidioPolicy(""), TEXT)
    after = tldextract.tldextract.TLD_EXTRACTOR, pattern_recognizer.REGEX_TIMEOUT_SECONDS
    assert before == after
    assert levels == [(logger.level, logger.propagate) for logger in loggers]


def test_a_text_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inferdpt_presidio.policy.REGEX_TIMEOUT_SECONDS", 0)
    with pytest.raises(TimeoutError):
        find_parts(PresidioPolicy(""), TEXT)


def test_a_model_that_is_not_installed_is_refused_and_not_fetched(
    offline: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODEL, "en_core_web_none")
    with pytest.raises(ParameterError, match="must be an installed spaCy model"):
        PresidioPolicy()
    assert offline == []


def test_a_model_finds_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = spacy.blank("en")
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "lempi"}])
    pipeline.to_disk(tmp_path / "model")
    monkeypatch.setenv(MODEL, str(tmp_path / "model"))
    found = find_parts(PresidioPolicy(), "then lempi wrote from a@example.com")
    assert found == {("lempi", "PERSON"), ("a@example.com", "EMAIL_ADDRESS")}
