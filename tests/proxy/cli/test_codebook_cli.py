"""`inferdpt codebook build`, `info` and `check`."""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from perturb.whole.codebook import load_codebook
from perturb.whole.encoder import load_static
from proxy.cli.main import main
from proxy.cli.progress import show_progress
from tests.embedding_server import NAME, embedding
from tests.extraction.local_servers import unused_port
from tests.limits import LIMIT
from tests.servers import fake_server

PROSE = (
    "The river rose in the night and the boats were tied to the bridge. By noon the water had "
    "gone down again.\n\nThe baker mixed flour and water. The oven was hot before the sun rose."
)
ARTICLE = "The court heard the case on Monday. The judge asked both sides about the law."


def build(out: Path, *texts: Path) -> int:
    argv = ["codebook", "build", *map(str, texts), "--out", str(out), "--licence", "CC0"]
    return main([*argv, "--words", "10"])


def test_a_codebook_of_texts_and_compressed_lines_is_built_shown_and_sound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prose, lines, out = tmp_path / "a.txt", tmp_path / "b.jsonl.gz", tmp_path / "x.codebook"
    prose.write_text(PROSE, "utf-8")
    lines.write_bytes(gzip.compress(json.dumps({"text": ARTICLE}).encode()))
    assert build(out, prose, lines) == 0
    book = load_codebook(str(out))
    words = [word for i in range(len(book)) for word in book.passage(i).split()]
    assert sorted(words) == sorted([*PROSE.split(), *ARTICLE.split()])
    assert book.facts["provenance"] == "a.txt, b.jsonl.gz"
    capsys.readouterr()
    assert main(["codebook", "info", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passages"] == len(book)
    assert main(["codebook", "check", str(out)]) == 0
    assert f"sound: {len(book)} passages" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        *("no JSON", "[]", "3", "null", '"text"', "{}"),
        *('{"text": 3}', '{"text": null}', '{"text": ["a"]}', '{"body": "secret words"}'),
    ],
)
def test_a_line_without_a_text_is_named_and_not_repeated(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps({'text': ARTICLE})}\n{line}\n", "utf-8")
    assert build(tmp_path / "x.codebook", path) == 2
    said = capsys.readouterr().err
    assert "a.jsonl, line 2: must be an object with a string `text`" in said
    assert "secret" not in said
    assert not (tmp_path / "x.codebook").exists()


def test_each_stage_of_a_work_has_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_progress() as progress:
        for done in (1, 3):
            progress("first", done, 3)
        progress("second", 4, 4, "a note")
    shown = capsys.readouterr().err
    assert "first" in shown
    assert "3/3" in shown
    assert "4/4" in shown
    assert "a note" in shown


# -- by a server's embedding model ----------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[str]:
    """A real server with an embedding model, in a thread of its own."""
    ready, done = threading.Event(), threading.Event()
    url: list[str] = []

    async def serve() -> None:
        async with fake_server(behaviour=embedding) as running:
            url.append(running.base_url)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(LIMIT)
        yield url[0]
    finally:
        done.set()
        thread.join()


def test_a_codebook_by_a_servers_model_is_built_shown_and_sound(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prose, out = tmp_path / "a.txt", tmp_path / "x.codebook"
    prose.write_text(PROSE, "utf-8")
    asked = ["--endpoint", server, "--model", NAME]
    argv = ["codebook", "build", str(prose), "--out", str(out), "--licence", "CC0"]
    assert main([*argv, "--words", "10", *asked]) == 0
    book = load_codebook(str(out))
    assert book.facts["encoder"] == {"encoder": "server", "model": NAME}
    assert book.facts["dimension"] == load_static().vectors.shape[1]
    assert server not in json.dumps(book.facts)
    assert f"server {NAME}" in capsys.readouterr().out
    assert main(["codebook", "check", str(out), *asked]) == 0
    assert f"sound: {len(book)} passages" in capsys.readouterr().out
    assert main(["codebook", "check", str(out)]) == 2
    assert "a model of a server" in capsys.readouterr().err
    assert main(["codebook", "check", str(out), "--endpoint", server, "--model", "other"]) == 2
    assert "was made with the encoder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--endpoint", "http://127.0.0.1:9/v1"], "give both or none"),
        (["--model", "m"], "give both or none"),
        (
            ["--encoder", "e", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m"],
            "give one of the two",
        ),
    ],
)
def test_a_server_has_to_be_named_in_full(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["codebook", "build", "a.txt", "--out", str(tmp_path / "x"), "--licence", "CC0"]
    with pytest.raises(SystemExit) as raised:
        main([*argv, *more])
    assert raised.value.code == 2
    assert said in capsys.readouterr().err


def test_a_server_that_is_not_there_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prose, out = tmp_path / "a.txt", tmp_path / "x.codebook"
    prose.write_text(PROSE, "utf-8")
    asked = ["--endpoint", f"http://127.0.0.1:{unused_port()}/v1", "--model", "m"]
    argv = ["codebook", "build", str(prose), "--out", str(out), "--licence", "CC0"]
    assert main([*argv, "--words", "10", *asked]) == 2
    said = capsys.readouterr().err
    assert "the local server failed" in said
    assert f"{out}.partial" not in said, "nothing was finished"
    assert not out.exists()
