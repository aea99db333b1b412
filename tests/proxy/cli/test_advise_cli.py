"""`inferdpt advise` between two servers that follow a script: what it recommends, and what the
remote receives."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from proxy.advice.texts import read_tasks
from proxy.cli.advise import MOST
from proxy.cli.main import main
from tests.absence import find_leaks
from tests.servers import FakeServer
from tests.servers import answer as say

BAD = "Whoever asks is told nothing."
DOCUMENTS = [task.document for task in read_tasks()]
ASKED = {f"{task.instruction}\n\n{task.document}" for task in read_tasks()}
ALONE, GATEWAY = "local model alone", "gateway, selective"
SHOWN = "surrogate 12, demonstrate, best of 2"
# A name, which the gateway replaces, and a word that it leaves; no draw makes either.
NAME, WORD = "Quorvbeltzki", "zwickelflofft"
OWN = [
    f"Mr. John {NAME} {WORD} with the boat at {hour}:00, and nobody came." for hour in range(12)
]


def texts_of(body: dict[str, Any]) -> list[str]:
    return [message["content"] for message in body["messages"]]


async def speak(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Answer about the text in the roles that the server's own text names, else about nothing."""
    texts = texts_of(body)
    document = next((each for each in DOCUMENTS if each in texts[-1]), None)
    role = "other"  # reads no document, but one with stand-ins or a passage
    if document is not None:
        role = "shown" if len(texts) > 1 else "raw" if texts[-1] in ASKED else "material"
    text = BAD
    if role in server.text.split():
        about = document or texts[-1].rpartition("\n\n")[2]
        text = "In short: " + " ".join(reversed(about.split()))
    return await say(replace(server, text=text), request, body)


@asynccontextmanager
async def running(local: str, remote: str) -> AsyncIterator[tuple[FakeServer, FakeServer]]:
    servers = FakeServer(text=local, behaviour=speak), FakeServer(text=remote, behaviour=speak)
    for server in servers:
        await server.start()
    try:
        yield servers
    finally:
        for server in servers:
            await server.stop()


async def run(local: FakeServer, remote: FakeServer, *more: str) -> int:
    command = ["advise", "--local", local.base_url, "--remote", remote.base_url, *more]
    return await asyncio.to_thread(main, command)


@pytest.mark.parametrize(
    ("local", "remote", "mode", "reason"),
    [
        ("", "raw other", GATEWAY, "nearer to the remote's own"),
        ("shown", "raw", SHOWN, "nearer to the remote's own"),
        ("raw shown material", "raw", ALONE, f"Shown to be worse: “{GATEWAY}”."),
        ("raw shown material", "raw other", ALONE, "nothing shows that the remote would help"),
        ("", "raw", ALONE, "no other mode is shown to be better"),
    ],
    ids=["the gateway helps", "an example helps", "hurts", "all are equal", "none is near"],
)
async def test_the_right_mode_is_recommended(
    local: str, remote: str, mode: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(local, remote) as servers:
        assert await run(*servers, "--most", "12", "--json") == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["advice"]["mode"] == mode
    assert reason in found["advice"]["reason"]
    assert (found["texts"], found["reference"]) == (12, "remote")
    assert "12 texts that ship with the project, with made-up persons" in err
    assert "84 answers of the local model and 60 of the remote" in err


async def test_the_table_and_the_recommendation_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with running("", "raw other") as (local, remote):
        assert await run(local, remote, "--most", "12") == 0
        assert len(local.bodies) == 7 * 12
        assert len(remote.bodies) == 5 * 12
    lines = capsys.readouterr().out.splitlines()
    head = "mode cosine - local same % right % bleed %"
    assert lines[0].split() == head.split()
    names = [line.partition("  ")[0] for line in lines[1:8]]
    assert names == [
        ALONE,
        f"{ALONE}, best of 2",
        "surrogate 12, relevant, best of 2",
        SHOWN,
        GATEWAY,
        "remote, raw text",
        "remote, raw text, again",
    ]
    assert lines[-2].startswith(f"Take “{GATEWAY}”. Its answers are nearer to")
    assert lines[-1] == "Use it with privacy.mechanism: selective and local.mode: none."


@pytest.mark.parametrize("form", ["lines", "plain"])
async def test_of_own_texts_the_remote_reads_nothing_unless_it_may(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "own"
    more = ["--data", str(data)]
    if form == "lines":
        pairs = ({"instruction": "Sum up.", "document": text} for text in OWN)
        data.write_text("\n".join(map(json.dumps, pairs)))
    else:
        data.write_text("\n\n".join(OWN))
        more += ["--instruction", "Sum up."]
    async with running("", "") as (local, remote):
        assert await run(local, remote, *more) == 0
        sent = [body for body in remote.bodies if body]
        assert len(sent) == 2 * len(OWN)  # of the mechanism's two modes
        assert find_leaks([NAME, WORD], *remote.received) == []
        assert all(any("Sum up." in text for text in texts_of(body)) for body in sent)
        assert find_leaks([NAME, WORD], *local.received) == [NAME, WORD]
    out, err = capsys.readouterr()
    assert find_leaks([NAME, WORD], out, err) == []
    assert "remote, raw text" not in out
    assert GATEWAY not in out
    assert "Nearer is no proof of better" in out
    assert "what the mechanisms release in place of the texts" in err
    assert "and no more (--remote-may-read replaced or raw allows it)." in err


@pytest.fixture
def own_data(tmp_path: Path) -> list[str]:
    """The options that name a file with the own texts."""
    data = tmp_path / "own.txt"
    data.write_text("\n\n".join(OWN))
    return ["--data", str(data), "--instruction"]


async def test_the_remote_reads_replaced_texts_if_it_may(
    own_data: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    more = [*own_data, "Sum up.", "--remote-may-read", "replaced"]
    async with running("", "") as (local, remote):
        assert await run(local, remote, *more) == 0
        assert find_leaks([NAME], *remote.received) == []
        assert sum(WORD.encode() in each for each in remote.received) == len(OWN)
    out, err = capsys.readouterr()
    assert GATEWAY in out
    assert "remote, raw text" not in out
    assert "the texts with their sensitive parts replaced" in err
    assert "the texts as they are" not in err


async def test_the_remote_reads_raw_texts_if_it_may(
    own_data: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    more = [*own_data, "Sum up.", "--remote-may-read", "raw"]
    async with running("", "") as (local, remote):
        assert await run(local, remote, *more) == 0
        raw = [text for body in remote.bodies for text in texts_of(body) if NAME in text]
    assert sorted(raw) == sorted(2 * [f"Sum up.\n\n{text}" for text in OWN])
    out, err = capsys.readouterr()
    assert "remote, raw text, again" in out
    assert "the texts as they are, for the comparison" in err


async def test_a_name_in_an_instruction_is_refused_by_the_proxy(
    own_data: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    async with running("", "") as (local, remote):
        more = [*own_data, f"Write to Mr. John {NAME}."]
        assert await run(local, remote, *more) == 2
        assert find_leaks([NAME, WORD], *remote.received) == []
    err = capsys.readouterr().err
    assert "failed with BadRequestError 400" in err
    assert find_leaks([NAME, WORD], err) == []


async def test_settings_of_the_environment_change_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("INFERDPT_LIMITS__CHOICES", "1")  # would refuse two candidates
    async with running("shown", "raw") as servers:
        assert await run(*servers, "--most", "12", "--json") == 0
    assert json.loads(capsys.readouterr().out)["advice"]["mode"] == SHOWN


async def test_nothing_is_asked_about_data_that_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "own.txt"
    async with running("", "") as servers:
        for texts, said in (
            ([*OWN, f"<public>{NAME}</public>"], "text 13 holds <public>"),
            (OWN[:11], "must hold 12 texts or more, got 11"),
        ):
            data.write_text("\n\n".join(texts))
            assert await run(*servers, "--data", str(data), "--instruction", "Sum up.") == 2
            err = capsys.readouterr().err
            assert said in err
            assert find_leaks([NAME, WORD], err) == []
        assert [server.received for server in servers] == [[], []]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--most", "11"], "must be >= 12, got 11"),
        (["--instruction", "Sum up."], "needs --data"),
        (["--remote-may-read", "raw"], "needs --data"),
        (["--mechanism", "surrogate"], "must be NAME=ε"),
        (["--mechanism", "dp_prompt=3"], "choose from custext"),
        (["--mechanism", "selective=6", "--data", "own.txt"], "which needs --remote-may-read"),
        (["--mechanism", "surrogate=-1"], "epsilon must be"),
    ],
)
def test_options_that_cannot_be_used_are_refused(
    more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["advise", "--local", "bundled", "--remote", "bundled", *more]
    try:
        status = main(command)
    except SystemExit as exc:
        status = int(str(exc.code))
    assert status == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("role", "named"), [("local", False), ("remote", False), ("local", True), ("remote", True)]
)
async def test_a_model_that_does_not_answer_is_named(
    role: str, named: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running("", "") as (local, remote):
        gone = local if role == "local" else remote
        await gone.stop()
        more = [f"--{role}-model", "m"] if named else []
        assert await run(local, remote, "--most", "12", *more) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("inferdpt: ")
    if not named:
        assert last == f"inferdpt: the {role} model's server failed with APIConnectionError"
    elif role == "local":
        assert "failed with InternalServerError 503 local_model_unavailable" in last
    else:
        assert re.search(r": failed with (APIConnection|InternalServer)Error", last)


@pytest.mark.parametrize(("more", "key"), [([], "none"), (["--api-key-env", "MY_KEY"], "my-key")])
async def test_the_key_of_openai_goes_to_no_other_server(
    more: list[str], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    monkeypatch.setenv("MY_KEY", "my-key")
    monkeypatch.setenv("INFERDPT_LOCAL_API_KEY", "key-of-mine")
    async with running("", "") as (local, remote):
        assert await run(local, remote, "--most", "12", *more) == 0
        assert all(f"Bearer {key}".encode() in each for each in remote.received)
        assert all(b"Bearer key-of-mine" in each for each in local.received)


def test_by_default_there_are_as_many_texts_of_each_kind() -> None:
    assert MOST % len({task.task for task in read_tasks()}) == 0
