"""The comparison of answers: what it counts, by hand-made models, and its command."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from benchmarks.__main__ import main
from benchmarks.fidelity import answers
from benchmarks.fidelity.answers import Reply, ask_gateway, choose_prompts, compare, render
from benchmarks.fidelity.gateway import serving
from benchmarks.fidelity.measure import Case, read_cases
from perturb import load_table

PRIVATE = Case(
    "named", "named", "Write to Mira Holzapfel.", private=(("PERSON", "Mira Holzapfel"),)
)
SUM = Case("questions", "mathematics", "What is 12 * 12?")
PROMPTS = [("named", PRIVATE, PRIVATE.text), ("arithmetic", SUM, SUM.text)]


async def repeat(prompt: str, seed: int) -> Reply:
    """A model that repeats what it is asked, and adds a word of its own."""
    return Reply(f"{prompt} {('one', 'two')[seed - 1]}", prompt)


async def blank(prompt: str, seed: int) -> Reply:
    """A tool that hides everything."""
    return Reply("no idea whatever", "***")


async def test_what_a_tool_does_to_answers_is_counted() -> None:
    pytest.importorskip("rouge_score")
    found = await compare(PROMPTS, repeat, {"none": repeat, "blank": blank})
    none, hidden = found["none"], found["blank"]
    assert none["named"].same == none["arithmetic"].same == [True]
    assert none["named"].similar == none["named"].possible == [pytest.approx(0.8)]
    assert none["named"].ratio == 1
    assert hidden["named"].same == [False]
    assert hidden["named"].ratio == 0
    assert none["named"].counts.shares["named: values left"].hits == 1
    assert hidden["named"].counts.shares["named: values left"].hits == 0
    lines = render(found).splitlines()
    assert any(
        line.split() == ["named:", "same", "answer", "100.0", "%", "0.0", "%"] for line in lines
    )
    assert any(line.startswith("arithmetic: unchanged") for line in lines)


async def test_a_gateway_brings_the_answer_back() -> None:
    pytest.importorskip("rouge_score")
    pytest.importorskip("onnxruntime")
    async with ask_gateway(load_table(), {}, repeat) as ask:
        found = await compare(PROMPTS, repeat, {"gateway": ask})
    for each in found["gateway"].values():
        assert each.same == [True]
    shares = found["gateway"]["named"].counts.shares
    assert shares["named: values left"].hits == 0


def test_prompts_are_of_every_set_and_from_all_over_it() -> None:
    cases = read_cases()
    chosen = choose_prompts(cases, 8)
    sets = [name for name, _, _ in chosen]
    assert {name: sets.count(name) for name in sets} == dict.fromkeys(
        ("arithmetic", "code", "private", "named"), 8
    )
    assert len({case.kind for name, case, _ in chosen if name == "code"}) == 8
    assert all(prompt.endswith(case.text) for _, case, prompt in chosen)
    assert len(choose_prompts(cases)) == 40 + 200 + 72 + 200


@asynccontextmanager
async def running_model() -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        assert body["model"] == "real"
        text = (await repeat(body["messages"][-1]["content"], body["seed"])).answer
        return web.json_response({"choices": [{"message": {"content": text}}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    async with serving(app) as url:
        yield url


async def test_a_model_at_a_url_is_asked() -> None:
    async with running_model() as url, answers.serve_model(url, "real") as ask:
        assert await ask("Who?", 2) == Reply("Who? two", "Who?")


def test_answers_need_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fidelity", "--only", "answers"]) == 2
    assert main(["fidelity", "--only", "answers", "--remote", str(tmp_path / "none.gguf")]) == 2
    told = capsys.readouterr().err
    assert told.count("--remote") == told.count("GGUF") == 2
