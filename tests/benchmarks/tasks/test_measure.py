"""The whole benchmark between two servers that follow a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from benchmarks.__main__ import main
from benchmarks.tasks.measure import measure
from perturb import load_table
from perturb.whole.encoder import load_static
from proxy.advice.conditions import (
    ALONE,
    GATEWAY,
    IDEAL,
    ask_all,
    list_conditions,
    running_conditions,
    serve_model,
)
from proxy.advice.texts import read_tasks
from tests.servers import FakeServer
from tests.servers import answer as say

pytest.importorskip("rouge_score")
pytest.importorskip("onnxruntime")

GOOD = "The bakery now belongs to the baker."
SPOILT = "A volcano erupted in Patagonia."
MATERIAL, DEMONSTRATED = "surrogate 0, all", "surrogate 0, demonstrate"


async def speak(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Answer well whoever reads a document, and with a volcano whoever reads a passage or a reply
    to one as material."""
    messages = body["messages"]
    documents = [task.document for task in read_tasks()]
    read = any(document in messages[-1]["content"] for document in documents)
    spoilt = not read or SPOILT in messages[-1]["content"]
    return await say(replace(server, text=SPOILT if spoilt else GOOD), request, body)


@asynccontextmanager
async def running() -> AsyncIterator[tuple[FakeServer, FakeServer]]:
    local, remote = FakeServer(behaviour=speak), FakeServer(behaviour=speak)
    await local.start()
    await remote.start()
    try:
        yield local, remote
    finally:
        await local.stop()
        await remote.stop()


async def test_every_condition_is_measured_through_the_proxy() -> None:
    tasks = read_tasks(("continuation", "question"), 2)
    conditions = list_conditions([("surrogate", 0)], ["all", "demonstrate"])
    assert [each.name for each in conditions[3:]] == [
        "surrogate 0, all",
        "surrogate 0, demonstrate",
    ]
    (best,) = list_conditions([("surrogate", 0)], ["all"], [2])[3:]
    assert best.name == "surrogate 0, all, best of 2"
    assert best.options["candidates"] == 2
    async with (
        running() as (own, other),
        serve_model("local", own.base_url, "mine", "none") as local,
        serve_model("remote", other.base_url, None, "none") as remote,
        running_conditions(load_table(), local, remote, ["surrogate"]) as ask,
    ):
        assert remote.model == "fake"
        replies = await ask_all(tasks, conditions, ask)
        raw = [body for body in other.bodies if tasks[0].document in json.dumps(body)]
        assert len(raw) == 1  # of the ideal
        assert raw[0]["seed"] not in {body["seed"] for body in own.bodies}
        assert {body["model"] for body in other.bodies} == {"fake"}
        assert {body["model"] for body in own.bodies} == {"mine"}
        shapes = [len(body["messages"]) for body in own.bodies]
        assert sorted(shapes) == [1] * 8 + [3] * 4
        demonstrated = next(body for body in own.bodies if len(body["messages"]) == 3)
        user, assistant, last = (m["content"] for m in demonstrated["messages"])
        instruction, document = last.split("\n\n", 1)
        assert user.startswith(f"{instruction}\n\n")
        assert document in {task.document for task in tasks}
        assert assistant == SPOILT

    assert list(replies) == [ALONE, IDEAL, GATEWAY, MATERIAL, DEMONSTRATED]
    assert all(len(each) == len(tasks) for each in replies.values())
    assert {reply.answer for reply in replies[IDEAL]} == {GOOD}
    assert {reply.material for reply in replies[ALONE]} == {None}
    assert all(SPOILT in (reply.material or "") for reply in replies[DEMONSTRATED])
    found = measure(tasks, replies, load_static())
    assert list(found) == ["continuation", "question", "all tasks"]
    every = found["all tasks"]
    assert every[IDEAL].similarity.value == pytest.approx(1)
    assert every[IDEAL].bleed is None
    for good in (ALONE, DEMONSTRATED):
        assert (every[good].similarity.value, every[good].overlap.value) == (pytest.approx(1), 1)
        assert every[good].gain.value == 0
    assert every[DEMONSTRATED].bleed.value == 0
    spoilt = every[MATERIAL]
    assert spoilt.bleed.value == 1  # volcano, erupted, Patagonia
    assert spoilt.gain.high < 0
    assert spoilt.words.value == 5
    assert found["continuation"][ALONE].right is None
    assert found["question"][ALONE].right.value == 0


async def test_the_command_prints_the_figures_and_goes_on_from_kept_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    async with running() as (local, remote):
        given = ["--local", local.base_url, "--remote", remote.base_url, "--most", "2"]
        chosen = ["--only", "summary", "--mechanisms", "surrogate=12", "--extraction", "all"]
        chosen += ["--candidates", "1"]
        command = ["tasks", *given, *chosen, "--out", str(out)]
        assert await asyncio.to_thread(main, command) == 0
        told = capsys.readouterr().out
        asked = len(local.bodies), len(remote.bodies)
        kept = (out / "answers.jsonl").read_text().splitlines(keepends=True)
        (out / "answers.jsonl").write_text("".join(kept[:-1]))  # as if it had been stopped
        assert await asyncio.to_thread(main, command) == 0
        assert capsys.readouterr().out == told
        assert len(local.bodies) + len(remote.bodies) in {sum(asked) + 1, sum(asked) + 2}
        assert len((out / "answers.jsonl").read_text().splitlines()) == len(kept) == 8
        other = [*command, "--remote-model", "another"]
        assert await asyncio.to_thread(main, other) == 0
        assert len((out / "answers.jsonl").read_text().splitlines()) == 16
    lines = told.splitlines()
    head = ["summary", "cosine", "-", "alone", "ROUGE-L", "words", "bleed", "%"]
    assert lines[0].split() == head
    names = [line[:20].strip() for line in lines[1:]]
    assert names == [ALONE, IDEAL, GATEWAY, "surrogate 12, all"]
    first = next(line for line in map(json.loads, kept) if line["condition"] == ALONE)
    assert (first["answer"], first["material"]) == (GOOD, None)
    figures = json.loads((out / "figures.json").read_text())
    assert figures["summary"]["surrogate 12, all"]["bleed"]["value"] == 1


async def test_every_instruction_passes_as_public_text() -> None:
    tasks = read_tasks()
    (condition,) = list_conditions([("surrogate", 0)], ["demonstrate"])[3:]
    async with (
        running() as (own, other),
        serve_model("local", own.base_url, None, "none") as local,
        serve_model("remote", other.base_url, None, "none") as remote,
        running_conditions(load_table(), local, remote, ["surrogate"]) as ask,
    ):
        replies = await ask_all(tasks, [condition], ask)
        assert all(reply.material for reply in replies[condition.name])
        sent = json.dumps(other.bodies, ensure_ascii=False)
        assert not any(json.dumps(t.document, ensure_ascii=False)[1:-1] in sent for t in tasks)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--most", "1"], "--most must be >= 2, got 1"),
        (["--local", "smolm2-135m"], "no model file at smolm2-135m"),
        (
            ["--local", "http://127.0.0.1:9/v1"],
            "the local model's server failed with APIConnectionError",
        ),
    ],
)
def test_what_cannot_be_run_is_said(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    where = {"--local": "bundled", "--remote": "bundled"}
    where |= dict(zip(given[::2], given[1::2], strict=True))
    arguments = [part for pair in where.items() for part in pair]
    assert main(["tasks", *arguments]) == 2
    assert said in capsys.readouterr().err
