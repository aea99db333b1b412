"""The load generator: what it sends, and how its result is read."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.load.processes import LoadError
from benchmarks.load.upstream import ANSWER, MODEL
from benchmarks.load.wrk import Case, parse_load, run_wrk
from tests.servers import FakeServer

OUTPUT = """\
Running 2s test @ http://127.0.0.1:1/v1/chat/completions
  123 requests in 2.00s, 1.00MB read
LOAD 123 2000000 3 4 5 0.900000 12345 67890 2100000
500 no
"""


def test_the_line_of_the_script_is_read() -> None:
    load = parse_load(OUTPUT, cpu_seconds=0.5)
    assert (load.requests, load.seconds) == (123, 2.0)
    assert (load.p50_ms, load.p99_ms, load.max_ms) == (12.345, 67.89, 2100.0)
    assert (load.late, load.wrong, load.failed) == (12, 5, 7)
    assert (load.example, load.cpu_seconds) == ("500 no", 0.5)


def test_output_without_the_line_is_an_error() -> None:
    with pytest.raises(LoadError, match="no result"):
        parse_load("unable to connect\n")


def test_names_of_cases() -> None:
    assert Case(1).name == "chat, 61 words, 1 connections"
    assert Case(16, True, 2000, True).name == "streamed, 2,000 words, repeated, 16 connections"


async def _send(case: Case, folder: Path, text: str = ANSWER) -> tuple[Any, list[dict[str, Any]]]:
    server = FakeServer(text=text)
    await server.start()
    try:
        url = f"{server.base_url}/chat/completions"
        load = await asyncio.to_thread(run_wrk, url, case, 1, folder, 7)
    finally:
        await server.stop()
    return load, server.bodies


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
class TestAgainstAServer:
    async def test_every_document_is_new_and_has_its_words(self, tmp_path: Path) -> None:
        load, bodies = await _send(Case(2), tmp_path)
        texts = [body["messages"][0]["content"] for body in bodies]
        assert len(texts) > 5
        assert len(set(texts)) == len(texts)
        assert {len(text.split()) for text in texts} == {61}
        assert {body["model"] for body in bodies} == {MODEL}
        assert {body["stream"] for body in bodies} == {False}
        assert (load.wrong, load.failed) == (0, 0)
        assert 0 < load.requests <= len(bodies)
        assert 0 < load.p50_ms <= load.p99_ms <= load.max_ms

    async def test_a_repeated_document_is_one(self, tmp_path: Path) -> None:
        _, bodies = await _send(Case(2, repeat=True), tmp_path)
        assert len({body["messages"][0]["content"] for body in bodies}) == 1

    async def test_a_long_document_has_paragraphs(self, tmp_path: Path) -> None:
        _, bodies = await _send(Case(1, words=2000), tmp_path)
        text = bodies[0]["messages"][0]["content"]
        assert len(text.split()) == 2000
        assert text.count("\n\n") == 19

    async def test_a_wrong_answer_is_counted_and_shown(self, tmp_path: Path) -> None:
        load, _ = await _send(Case(1), tmp_path, text="Something else.")
        assert load.wrong == load.requests > 0
        assert load.example.startswith("200 ")
