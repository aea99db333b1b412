"""Texts of a run: every arm takes its own way through a real proxy between two fakes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError
from benchmarks.harness.suite import Endpoint, Subject, Suite
from benchmarks.harness.texts import UNIFORM, Point, generate_texts
from extraction.prompts import Prompts
from perturb.mechanisms.exponential import level_weights
from tests.servers import FakeServer, completion

DEMO = Path(__file__).parents[3] / "benchmarks" / "demo_texts.jsonl"
SETS = ("first", "second")
HEAD = Prompts().remote_continuation.split("{document}")[0]
PIPELINE = Point("pipeline", "rantext_ldp random_k", 6.0)
ORACLE = Point("oracle", "rantext_ldp random_k", 6.0)


@contextmanager
def servers(*behaviours: Callable[[str], str]) -> Iterator[list[FakeServer]]:
    """Fakes on a thread of their own that answer the last message as told."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def call(job: Any) -> None:
        asyncio.run_coroutine_threadsafe(job, loop).result(30)

    found = [FakeServer(behaviour=answering(behaviour)) for behaviour in behaviours]
    try:
        for server in found:
            call(server.start())
        yield found
        for server in found:
            call(server.stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def answering(behaviour: Callable[[str], str]) -> Any:
    async def behave(
        server: FakeServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        return web.json_response(completion(behaviour(body["messages"][-1]["content"])))

    return behave


def echo(prompt: str) -> str:
    """A remote that says what it was shown."""
    return "Heard: " + prompt.removeprefix(HEAD)


def extracting(prompt: str) -> str:
    """A local model that says what the remote wrote, if there was one."""
    _, _, rest = prompt.partition("Perturbed Generation:\n")
    return rest.rpartition("\n\n")[0] or "alone"


def data(folder: Path, count: int = 3) -> Path:
    """Two sets from the project's own texts: half prefix, half continuation."""
    texts = [json.loads(line)["text"] for line in DEMO.read_text("utf-8").splitlines()]
    for number, name in enumerate(SETS):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for i, text in enumerate(texts[number * count : (number + 1) * count]):
                half = len(text) // 2
                sample = {
                    "id": f"{i}",
                    "prefix": text[:half],
                    "continuation": text[half:],
                    "document": text,
                }
                file.write(json.dumps(sample) + "\n")
    return folder


def suite(remote: FakeServer, local: FakeServer, **over: Any) -> Suite:
    return Suite(
        **{
            "name": "test",
            "datasets": SETS,
            "subjects": (
                Subject(mechanism="rantext_ldp", parameters={"shape": "random_k"}),
                Subject(mechanism="exponential"),
            ),
            "epsilons": (6.0,),
            "texts": 2,
            "answers": 3,
            "expected_texts": 2,
            "expected_draws": 2,
            "remote": Endpoint(
                base_url=remote.base_url, model="big", key_variable="TEST_REMOTE_KEY"
            ),
            "local": Endpoint(base_url=local.base_url, model="small"),
            **over,
        }
    )


@contextmanager
def context(tmp_path: Path, *behaviours: Callable[[str], str]) -> Iterator[Any]:
    """The context over both fakes, and the fakes."""
    (tmp_path / "data").mkdir(exist_ok=True)
    with servers(*(behaviours or (echo, extracting))) as (remote, local):
        made = Context(suite(remote, local), data(tmp_path / "data"), None, tmp_path / "run")
        yield made, remote, local


def prompts(server: FakeServer) -> list[str]:
    return [body["messages"][-1]["content"] for body in server.bodies]


def test_the_pipeline_shows_the_remote_perturbed_text_and_the_local_model_both(tmp_path):
    with context(tmp_path) as (made, remote, local):
        texts = generate_texts(made, PIPELINE, "first") + generate_texts(made, PIPELINE, "second")
        samples = [s for name in SETS for s in made.samples(name)]
        assert [(t.dataset, t.id) for t in texts] == [(n, f"{i}") for n in SETS for i in range(3)]
        assert len(remote.bodies) == len(local.bodies) == 6
        for text, sample in zip(texts, samples, strict=True):
            assert text.sent != sample.prefix
            assert HEAD + text.sent in prompts(remote)
            assert text.generation == f"Heard: {text.sent}"  # its own, of six at once
            assert text.answer == text.generation
            [prompt] = [p for p in prompts(local) if text.generation in p]
            assert sample.prefix in prompt
        for body in remote.bodies:
            assert body["model"] == "big"
            assert body["max_tokens"] == 100
            assert body["temperature"] == 0.5
        assert {body["model"] for body in local.bodies} == {"small"}
        assert len({body["seed"] for body in remote.bodies}) == 6
        assert {b["seed"] for b in remote.bodies} == {b["seed"] for b in local.bodies}


def test_the_local_arm_asks_no_remote(tmp_path):
    with context(tmp_path) as (made, remote, _):
        texts = generate_texts(made, Point("local"), "first")
        assert remote.received == []
        assert {(t.sent, t.generation, t.answer) for t in texts} == {(None, None, "alone")}


def test_the_raw_arm_asks_nothing_but_the_remote(tmp_path):
    with context(tmp_path) as (made, remote, local):
        texts = generate_texts(made, Point("raw"), "first")
        assert local.received == []
        for text, sample in zip(texts, made.samples("first"), strict=True):
            assert text.sent == sample.prefix
            assert HEAD + sample.prefix in prompts(remote)
            assert text.answer == text.generation == f"Heard: {sample.prefix}"


def test_the_expected_arm_is_the_raw_one_several_times_with_other_seeds(tmp_path):
    with context(tmp_path) as (made, remote, _):
        texts = generate_texts(made, Point("expected"), "second")
        assert [(t.id, t.draw) for t in texts] == [("0", 0), ("0", 1), ("1", 0), ("1", 1)]
        assert len({body["seed"] for body in remote.bodies}) == len(remote.bodies) == 8


def test_the_random_arm_draws_every_word_uniformly(tmp_path):
    assert len(set(level_weights(UNIFORM[1]))) == 1
    with context(tmp_path) as (made, _, _):
        for text, sample in zip(
            generate_texts(made, Point("random"), "first"), made.samples("first"), strict=True
        ):
            assert text.sent.count(",") == sample.prefix.count(",")
            assert set(text.sent.split()) != set(sample.prefix.split())
            assert text.answer == f"Heard: {text.sent}"


def test_the_oracle_says_the_true_continuation_perturbed(tmp_path):
    with context(tmp_path) as (made, remote, _):
        texts = generate_texts(made, ORACLE, "first")
        assert remote.received == []
        for text, sample in zip(texts, made.samples("first"), strict=True):
            assert text.sent != sample.prefix
            assert text.generation != sample.continuation
            assert text.generation.count(".") == sample.continuation.count(".")
            assert text.answer == text.generation.strip()
        mild = Point("oracle", "exponential", 6.0)
        assert generate_texts(made, mild, "first")[0].generation != texts[0].generation


def test_texts_are_asked_for_once(tmp_path):
    with context(tmp_path) as (made, remote, local):
        first = generate_texts(made, PIPELINE, "first")
        made = Context(made.suite, made.data, None, made.folder)
        assert generate_texts(made, PIPELINE, "first") == first
        assert len(remote.bodies) == len(local.bodies) == 6


def test_a_run_that_failed_goes_on_from_the_texts_it_has(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_REMOTE_KEY", "secret-of-the-test")
    broken = True
    asked: list[str] = []

    def failing(prompt: str) -> str:
        if broken and len(asked) == 4:
            raise web.HTTPBadRequest
        asked.append(prompt)
        return echo(prompt)

    with context(tmp_path, failing, extracting) as (made, remote, local):
        monkeypatch.setattr("benchmarks.harness.stack.IN_FLIGHT", 1)
        with pytest.raises(DataError, match="run the same command again"):
            generate_texts(made, PIPELINE, "first")
        [file] = (made.folder / "texts").rglob("*.jsonl")
        whole = file.read_bytes()
        assert whole.count(b"\n") == 4
        file.write_bytes(whole + b'{"dataset": "first", "i')  # killed while it wrote
        broken = False
        assert len(generate_texts(made, PIPELINE, "second")) == 3
        assert file.read_bytes().startswith(whole)
        assert file.read_bytes().count(b"\n") == 6
        assert len(asked) == len(local.bodies) == 6
        assert all(b"Bearer secret-of-the-test" in request for request in remote.received)
        assert b"secret-of-the-test" not in file.read_bytes()


def test_another_suite_has_texts_of_its_own(tmp_path):
    with context(tmp_path) as (made, remote, _):
        generate_texts(made, PIPELINE, "first")
        other = made.suite.model_copy(update={"seed": 2})
        generate_texts(Context(other, made.data, None, made.folder), PIPELINE, "first")
        assert len(remote.bodies) == 12
