"""`inferdpt synthesize`: what it reads, what it writes, and what the remote sees."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from perturb.whole.codebook import load_codebook
from proxy.cli.main import main
from tests.limits import LIMIT
from tests.servers import Behaviour, FakeServer, completion, fake_server, status

CANARY = "Zebulon Quartermain"
TEXTS = {
    "health": f"{CANARY} has had a cough and a fever since Monday. The doctor saw him.",
    "law": f"The court ordered {CANARY} to pay the rent. The judge read the contract aloud.",
}
SMALL = ("--population", "12", "--rounds", "2", "--examples", "3")


@pytest.fixture
def private(tmp_path: Path) -> Path:
    path = tmp_path / "private.jsonl"
    rows = [
        {"text": f"{text} {i}", "kind": kind, "id": i}
        for i in range(8)
        for kind, text in TEXTS.items()
    ]
    path.write_text("\n\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    return path


def synthesize(private: Path, *more: str) -> int:
    out = private.parent / "demos.jsonl"
    return main(["synthesize", str(private), "--out", str(out), *SMALL, *more])


def read(private: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    out = private.parent / "demos.jsonl"
    report = json.loads((private.parent / "demos.jsonl.report.json").read_text("utf-8"))
    assert report["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()], report


@contextmanager
def remote(tmp_path: Path, behaviour: Behaviour) -> Iterator[tuple[FakeServer, str]]:
    """Serve a remote in a thread; yield it and a configuration that names it."""
    found: list[Any] = []
    ready = threading.Event()

    async def serve() -> None:
        async with fake_server(behaviour=behaviour) as server:
            stop = asyncio.Event()
            found.extend([server, asyncio.get_running_loop(), stop])
            ready.set()
            await asyncio.wait_for(stop.wait(), LIMIT)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(LIMIT)
    server, loop, stop = found
    config = tmp_path / "remote.yaml"
    config.write_text(
        f"remote: {{base_url: '{server.base_url}', retries: 0, models: [gpt-x]}}\n",
        "utf-8",
    )
    try:
        yield server, str(config)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(LIMIT)


async def write_letters(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Answer every request with another letter."""
    subject = ("doctor and fever", "judge and contract")[len(server.bodies) % 2]
    return web.json_response(completion(f" Letter {len(server.bodies)} on a {subject}. "))


def test_examples_are_passages_of_the_codebook(
    private: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize(private) == 0
    examples, report = read(private)
    book = load_codebook()
    assert len(examples) == report["examples"] == 3
    assert all(book.find(example["text"]) is not None for example in examples)
    assert all(example.keys() == {"text"} for example in examples)
    assert report["codebook"] == book.sha256
    assert report["epsilon"] <= 4
    assert report["delta"] <= 1e-6
    assert "adding or removing one private text" in capsys.readouterr().out


def test_labels_are_kept_apart_and_in_their_order(private: Path) -> None:
    assert synthesize(private, "--label", "kind", "--labels", "law, health,none") == 0
    examples, report = read(private)
    assert [example["label"] for example in examples] == ["law"] * 3 + ["health"] * 3 + [
        "none"
    ] * 3
    assert report["labels"] == ["law", "health", "none"]


def test_report_holds_nothing_that_depends_on_the_private_texts(private: Path) -> None:
    """But for the digest of what was released: two sets give the same report."""
    assert synthesize(private) == 0
    _, report = read(private)
    for path in private.parent.glob("demos*"):
        path.unlink()
    private.write_text('{"text": "Something else."}\n', "utf-8")
    assert synthesize(private) == 0
    _, other = read(private)
    assert {**report, "sha256": ""} == {**other, "sha256": ""}


def test_json_prints_the_report(private: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize(private, "--json") == 0
    assert json.loads(capsys.readouterr().out) == read(private)[1]


def test_remote_writes_and_sees_no_private_text(private: Path, tmp_path: Path) -> None:
    with remote(tmp_path, write_letters) as (server, config):
        labels = ("--label", "kind", "--labels", "health,law")
        about = ("--remote", "gpt-x", "--about", "letters to a clinic", "--config", config)
        assert synthesize(private, *labels, *about) == 0
        received = b"\n".join(server.received)
        bodies = server.bodies
    examples, report = read(private)
    assert report["remote"] == "gpt-x"
    assert len(examples) == 6
    assert all(example["text"].startswith("Letter") for example in examples)
    assert len(bodies) == 2 * (12 + 9)
    for word in (*CANARY.split(), "cough", "rent", "private.jsonl"):
        assert word.encode() not in received
    told = [body["messages"][0]["content"] for body in bodies]
    assert all("letters to a clinic" in text for text in told)
    assert sum("Letter" in text for text in told) == 2 * 9  # variations show a candidate
    assert {key for body in bodies for key in body} == {"model", "messages", "max_tokens", "store"}


def test_remote_that_fails_is_named_and_nothing_is_written(
    private: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with remote(tmp_path, status(401)) as (_, config):
        more = ("--remote", "gpt-x", "--about", "letters", "--config", config)
        assert synthesize(private, *more) == 2
    said = capsys.readouterr().err
    assert "remote" in said
    assert CANARY not in said
    assert not list(tmp_path.glob("demos*"))


def test_an_unknown_model_is_named(
    private: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        remote(tmp_path, write_letters) as (server, config),
        pytest.raises(SystemExit, match="2"),
    ):
        synthesize(private, "--remote", "other", "--about", "letters", "--config", config)
    assert "is no model of the configuration's remotes" in capsys.readouterr().err
    assert not server.bodies


def test_another_release_does_not_take_the_place_of_one(
    private: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize(private) == 0
    before = read(private)
    assert synthesize(private) == 2
    assert "another run is another release" in capsys.readouterr().err
    assert read(private) == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f'{{"text": "{CANARY}"', "line 2: must be an object of JSON"),
        (f'["{CANARY}"]', "line 2: must be an object with a string text"),
        (f'{{"body": "{CANARY}"}}', "line 2: must be an object with a string text"),
        ('{"text": 3}', "line 2: must be an object with a string text"),
        (f'{{"text": "a", "kind": "{CANARY}"}}', "line 2: kind must be one of the labels"),
        ('{"text": "a"}', "line 2: kind must be one of the labels"),
        ('{"text": "a", "kind": ["law"]}', "line 2: kind must be one of the labels"),
    ],
)
def test_a_bad_line_is_named_and_not_repeated(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "private.jsonl"
    path.write_text(f'{{"text": "a", "kind": "law"}}\n{line}\n', "utf-8")
    assert synthesize(path, "--label", "kind", "--labels", "law") == 2
    said = capsys.readouterr().err
    assert message in said
    assert CANARY not in said


def test_a_file_without_texts_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "private.jsonl"
    path.write_text("\n", "utf-8")
    assert synthesize(path) == 2
    assert "must hold at least one text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--label", "kind"), "give both or none"),
        (("--labels", "a"), "give both or none"),
        (("--label", "kind", "--labels", " ,"), "must name at least one label"),
        (("--remote", "m"), "give both or none"),
        (("--remote", "m", "--about", "x", "--codebook", "y"), "give one of the two"),
        (("--domain", "2"), "domain must be from 3, the picks, to 12"),
        (("--population", "3"), "population must be > picks"),
        (("--epsilon", "0"), "epsilon must be > 0"),
        (("--smoothing", "1"), "smoothing must be >= 0 and < 1"),
    ],
)
def test_bad_options_are_named(
    private: Path, more: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(SystemExit):  # of the parser
        assert synthesize(private, *more) == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not list(private.parent.glob("demos*"))
