"""A mechanism that is added is there for everyone: only its own class says what it is."""

from __future__ import annotations

import pytest

from benchmarks.pages.mechanisms_table import EPSILONS, list_cases, render_section, run_audits
from perturb import (
    EmbeddingTable,
    Perturber,
    Vocabulary,
    get_mechanism,
    mechanism_names,
    register,
    registry,
    seeded_generator,
)
from perturb.audit.accounting import spend
from perturb.audit.certificate import certifiable_names
from perturb.mechanisms.rantext_ldp import RanTextLDP
from perturb.testing.tables import PROVENANCE, random_rows
from perturb.vocabulary.table_build import build_table
from perturb.vocabulary.vocabulary import load_encoding
from proxy.access.auth import Grant
from proxy.cli.options import list_mechanisms, list_served
from proxy.config.settings import load_config
from proxy.pipeline.policy import RequestPolicy
from proxy.requests.protocol import Options
from proxy.storage.ledger import price

ABOUT = "A mechanism of a test: rantext_ldp under another name."
TEXT = "The meeting is on Monday."


class Planted(RanTextLDP):
    name = "planted"
    summary = "a mechanism of a test"
    about = ABOUT
    variants = ()


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))
    register(Planted)


@pytest.fixture(scope="module")
def table() -> EmbeddingTable:
    vocabulary = Vocabulary(load_encoding(), 60)
    return build_table(vocabulary, random_rows(vocabulary, 4, 8), provenance=PROVENANCE)


def test_commands_and_keys_take_its_name() -> None:
    assert {"planted"} <= set(mechanism_names()) & set(certifiable_names())
    assert {"planted"} <= set(list_mechanisms()) & set(list_served())
    assert Grant(mechanisms=("planted",)).mechanisms == ("planted",)


def test_the_proxy_serves_it(table: EmbeddingTable) -> None:
    settings = {
        "privacy": {"mechanism": "planted", "epsilon": 3.0, "parameters": {"shape": "knn"}},
        "limits": {"mechanisms": ["planted"]},
    }
    sanitizer = RequestPolicy(load_config(None, settings), table).sanitizer(Options())
    mechanism = get_mechanism("planted", table, epsilon=3.0, shape="knn")
    assert sanitizer.identity() == Perturber(mechanism).identity()
    made = sanitizer.perturb(TEXT, seeded_generator(1))
    sanitizer.verify(TEXT, made)
    assert (made.receipt.mechanism, made.receipt.unit) == ("planted", "token")
    spent = price(sanitizer, made)
    assert spent.proved == 3.0 * made.receipt.released


def test_it_is_audited_accounted_and_on_the_page(table: EmbeddingTable) -> None:
    [case] = [case for case in list_cases() if case.name == "planted"]
    found = run_audits(case, table)
    assert [audit.epsilon_proved for audit in found] == list(EPSILONS)
    assert all(audit.epsilon.high <= audit.epsilon_proved + 1e-6 for audit in found)
    assert {audit.unit for audit in found} == {"token"}
    text = render_section(case, found)
    assert text.startswith(f"## planted\n\n{ABOUT}\n")
    assert text.count("\n| ") == len(EPSILONS) + 1
    spent = spend(get_mechanism("planted", table, epsilon=3.0), 10)
    assert (spent.epsilon, spent.pair is not None) == (3.0, True)
