"""docs/clients.md: the matrix that is checked in is that of the result that is checked in."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from benchmarks.pages.clients_page import (
    BEGIN,
    END,
    KEPT,
    PAGE,
    place_matrix,
    render_matrix,
)
from tests.clients.catalogue import CLIENTS, MODES, SCENES
from tests.clients.install import PINS


@pytest.fixture
def found() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(KEPT.read_text("utf-8"))
    return kept


def test_the_page_holds_the_matrix_of_the_result(found: dict[str, Any]) -> None:
    page = PAGE.read_text("utf-8")
    assert place_matrix(page, render_matrix(found)) == page
    assert page.count(BEGIN) == page.count(END) == 1


def test_the_result_is_of_the_clients_here(found: dict[str, Any]) -> None:
    assert (found["scenes"], found["modes"]) == ([*SCENES], [*MODES])
    told = {client["name"]: client for client in found["clients"]}
    assert list(told) == [client.name for client in CLIENTS]
    pins = "\n".join(path.read_text("utf-8") for path in sorted(PINS.glob("*.*")))
    for client in CLIENTS:
        assert told[client.name]["lacks"] == client.lacks
        assert (PAGE.parents[1] / told[client.name]["script"]).is_file()
        assert told[client.name]["version"] in pins


def test_only_what_passed_is_ticked(found: dict[str, Any]) -> None:
    worse = copy.deepcopy(found)
    worse["clients"][0]["passed"]["gateway"].remove("stream")
    del worse["clients"][1]["passed"]["extraction"]
    missing = len(found["scenes"]) - len(found["clients"][1]["lacks"])
    assert render_matrix(worse).count("failed") == 1 + missing
