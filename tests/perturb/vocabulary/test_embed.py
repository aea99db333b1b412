"""Getting embeddings from an endpoint, and `inferdpt table build` from end to end."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from aiohttp import web
from numpy.typing import NDArray

from perturb import TableError, Vocabulary, get_mechanism, load_table, seeded_generator
from perturb.errors import CheckpointError
from perturb.vocabulary.embed import embed_words, endpoint_encoder, local_encoder
from perturb.vocabulary.words import load_vocabulary
from proxy.cli.main import main
from tests.limits import LIMIT

KEY = "sk-very-secret-key-0123456789"
DIMENSION = 4  # the client reads each number of an answer in 20 µs


def vector(word: str, dimension: int = DIMENSION) -> list[int]:
    """A fixed vector for a word."""
    digest = hashlib.blake2b(word.encode(), digest_size=dimension).digest()
    return [byte - 127 for byte in digest]


class EmbeddingServer:
    """`POST /v1/embeddings` on a port of its own, in a thread of its own.

    `reply` may be replaced to answer otherwise; `fail_from` refuses every request after that
    many were answered.
    """

    def __init__(self) -> None:
        self.words: list[list[str]] = []
        self.requests: list[dict[str, Any]] = []
        self.authorization: list[str | None] = []
        self.fail_from: int | None = None
        self.reply: Callable[[dict[str, Any]], Any] = self.answer
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        assert self._started.wait(LIMIT)
        self.url = f"http://127.0.0.1:{self.port}/v1"

    @staticmethod
    def answer(body: dict[str, Any]) -> Any:
        items = [
            {"object": "embedding", "index": i, "embedding": vector(word)}
            for i, word in enumerate(body["input"])
        ]
        return {
            "object": "list",
            "data": items,
            "model": body["model"],
            "usage": {"prompt_tokens": 0, "total_tokens": 0},
        }

    async def _handle(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.authorization.append(request.headers.get("Authorization"))
        if self.fail_from is not None and len(self.words) >= self.fail_from:
            error = {"error": {"message": "out of order", "type": "server_error"}}
            return web.json_response(error, status=503, headers={"x-should-retry": "false"})
        self.words.append(body["input"])
        self.requests.append({key: body[key] for key in body if key != "input"})
        reply = self.reply(body)
        if isinstance(reply, web.Response):
            return reply
        return web.Response(text=json.dumps(reply), content_type="application/json")

    def _serve(self) -> None:
        async def run() -> None:
            app = web.Application(client_max_size=1 << 26)
            app.router.add_post("/v1/embeddings", self._handle)
            runner = web.AppRunner(app)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.port = runner.addresses[0][1]
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            self._started.set()
            await self._stop.wait()
            await runner.cleanup()

        asyncio.run(run())

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(LIMIT)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    running = EmbeddingServer()
    yield running
    running.close()


WORDS = tuple(f"word{i}" for i in range(100))


def run(server: EmbeddingServer, partial: Path, **changes: Any) -> NDArray[np.float32]:
    settings: dict[str, Any] = {"source": "test", "partial": partial, "batch": 30} | changes
    words = settings.pop("words", WORDS)
    return embed_words(endpoint_encoder(server.url, "embedder", KEY), words, **settings)


def test_rows_come_in_the_order_of_the_words(server: EmbeddingServer, tmp_path: Path) -> None:
    done: list[tuple[str, int, int]] = []
    rows = run(server, tmp_path / "p", progress=lambda *step: done.append(step))
    assert rows.dtype == np.float32
    assert rows.tolist() == [vector(word) for word in WORDS]
    assert [len(words) for words in server.words] == [30, 30, 30, 10]
    assert done == [("embeddings", n, 100) for n in (30, 60, 90, 100)]
    assert server.requests[0] == {"model": "embedder", "encoding_format": "float"}


def test_shuffled_answer_is_put_in_order(server: EmbeddingServer, tmp_path: Path) -> None:
    def shuffled(body: dict[str, Any]) -> Any:
        answer = server.answer(body)
        answer["data"].reverse()
        return answer

    server.reply = shuffled
    assert run(server, tmp_path / "p").tolist() == [vector(word) for word in WORDS]


def test_key_is_sent_as_bearer(server: EmbeddingServer, tmp_path: Path) -> None:
    run(server, tmp_path / "p")
    assert set(server.authorization) == {f"Bearer {KEY}"}


def test_failed_run_goes_on_where_it_stopped(server: EmbeddingServer, tmp_path: Path) -> None:
    server.fail_from = 2
    with pytest.raises(TableError, match=r"endpoint failed \(InternalServerError\); run the same"):
        run(server, tmp_path / "p")
    assert [words[0] for words in server.words] == ["word0", "word30"]
    server.fail_from = None
    assert run(server, tmp_path / "p").tolist() == [vector(word) for word in WORDS]
    assert [words[0] for words in server.words] == ["word0", "word30", "word60", "word90"]
    assert run(server, tmp_path / "p").tolist() == [vector(word) for word in WORDS]
    assert len(server.words) == 4, "a finished folder asks for nothing"


@pytest.mark.parametrize(
    "change", [{"source": "another"}, {"batch": 31}, {"words": WORDS[:-1]}, {"words": WORDS[::-1]}]
)
def test_folder_of_another_run_is_refused(
    change: dict[str, Any], server: EmbeddingServer, tmp_path: Path
) -> None:
    run(server, tmp_path / "p")
    asked = len(server.words)
    with pytest.raises(
        CheckpointError, match="p holds an unfinished run with other settings; remove"
    ):
        run(server, tmp_path / "p", **change)
    assert len(server.words) == asked


@pytest.mark.parametrize("short", [1, 29])
def test_wrong_number_of_rows_is_refused(
    short: int, server: EmbeddingServer, tmp_path: Path
) -> None:
    def reply(body: dict[str, Any]) -> Any:
        answer = server.answer(body)
        answer["data"] = answer["data"][short:]
        return answer

    server.reply = reply
    with pytest.raises(TableError, match=r"returned shape \(\d+, 4\) for 30 words"):
        run(server, tmp_path / "p")
    server.reply = server.answer
    assert run(server, tmp_path / "p").shape == (100, DIMENSION), "the bad batch was not kept"


def test_changing_dimension_is_refused(server: EmbeddingServer, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Any:
        answer = server.answer(body)
        for item in answer["data"]:
            item["embedding"] = [1.0] * (DIMENSION + (body["input"][0] != "word0"))
        return answer

    server.reply = reply
    with pytest.raises(TableError, match="changed its dimension between two batches"):
        run(server, tmp_path / "p")


def spoil(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda body: EmbeddingServer.answer(body) | changes


@pytest.mark.parametrize(
    "reply",
    [
        spoil(data=[]),
        spoil(data=None),
        spoil(data=[{"object": "embedding", "index": 0, "embedding": "text"}]),
        spoil(data=[{"object": "embedding", "index": 0, "embedding": None}]),
        spoil(data=[{"object": "embedding", "index": 0}]),
        spoil(data=["a", "b"]),
        spoil(data=[
            {"object": "embedding", "index": 0, "embedding": [1.0]},
            {"object": "embedding", "index": 1, "embedding": [1.0, 2.0]},
        ]),
        lambda body: {"detail": "what?"},
        lambda body: [1, 2, 3],
        lambda body: web.Response(text="<html>", content_type="text/html"),
        lambda body: web.Response(text="{", content_type="application/json"),
        lambda body: web.Response(text="", content_type="application/json"),
    ],
    ids=[
        "no-rows", "null", "text", "null-row", "no-row", "strings", "ragged",
        "object", "list", "html", "cut", "empty",
    ],
)  # fmt: skip
def test_answer_of_another_form_is_refused(
    reply: Any, server: EmbeddingServer, tmp_path: Path
) -> None:
    server.reply = reply
    with pytest.raises(TableError) as caught:
        run(server, tmp_path / "p")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_refusal_names_its_kind_and_no_key(
    status: int, server: EmbeddingServer, tmp_path: Path
) -> None:
    server.reply = lambda body: web.json_response({"error": {"message": KEY}}, status=status)
    with pytest.raises(TableError, match=r"the embeddings endpoint failed \(\w+Error\)") as caught:
        run(server, tmp_path / "p")
    assert KEY not in str(caught.value)


def test_any_encoder_of_the_protocol_will_do(tmp_path: Path) -> None:
    def embed(words: Sequence[str]) -> NDArray[Any]:
        return np.array([vector(word) for word in words], dtype=np.float64)

    rows = embed_words(embed, WORDS, source="here", partial=tmp_path / "p", batch=7)
    assert rows.tolist() == [vector(word) for word in WORDS]


@pytest.mark.parametrize("rows", [np.ones(30), np.ones((30, 2, 2)), np.ones((29, 4)), 1.0])
def test_encoder_of_another_shape_is_refused(rows: Any, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="the encoder returned shape"):
        embed_words(lambda words: rows, WORDS, source="x", partial=tmp_path / "p", batch=30)


def test_local_encoder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"a local encoder needs|cannot load the encoder"):
        local_encoder(str(tmp_path / "no-such-model"))


# The command


def build(server: EmbeddingServer, out: Path, *more: str) -> int:
    return main(
        [
            *("embeddings", "build", "--out", str(out), "--model", "embedder"),
            *("--endpoint", server.url, "--size", "200", "--batch", "8192"),
            *("--api-key-env", "TEST_EMBEDDINGS_KEY", *more),
        ]
    )


def test_command_builds_resumes_and_serves(
    server: EmbeddingServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    encoding: tiktoken.Encoding,
) -> None:
    monkeypatch.setenv("TEST_EMBEDDINGS_KEY", KEY)
    vocabulary = Vocabulary(encoding, 200)
    everything = [*vocabulary.words, *vocabulary.others]
    out = tmp_path / "mine"
    server.fail_from = 3
    assert build(server, out) == 2
    failed = capsys.readouterr()
    assert f"the finished parts are kept in {out}.partial" in failed.err
    assert "inferdpt: the embeddings endpoint failed (InternalServerError)" in failed.err
    assert "Traceback" not in failed.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.partial"]

    server.fail_from = None
    assert build(server, out, "--name", "my embedder", "--licence", "CC0") == 0
    done = capsys.readouterr()
    assert [word for words in server.words for word in words] == everything
    assert len(server.words) == -(-len(everything) // 8192)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.json", "mine.npz"]
    assert f"{out}.npz: 200 words, {DIMENSION} dimensions, " in done.out
    assert "calibrated z: ε=2: " in done.out
    assert set(server.authorization) == {f"Bearer {KEY}"}
    for shown in (
        failed.out,
        failed.err,
        done.out,
        done.err,
        (tmp_path / "mine.json").read_text(),
    ):
        assert KEY not in shown

    table = load_table(out)
    assert table.provenance["model"] == "my embedder"
    assert table.provenance["licence"] == "CC0"
    raw = np.array([vector(word) for word in vocabulary.words], dtype=np.float64)
    unit = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    assert np.abs(table.vectors.astype(np.float64) - unit).max() < 1e-3
    for name in ("rantext", "rantext_ldp"):
        drawn = get_mechanism(name, table, epsilon=6).draw(np.arange(200), seeded_generator(1))
        assert drawn.words.shape == (200,)

    text = tmp_path / "letter.txt"
    text.write_text("The Alice of 12 May.\n")
    for name in ("rantext", "rantext_ldp"):
        arguments = ("--table", str(out), "--mechanism", name, "--epsilon", "6")
        assert main(["perturb", str(text), *arguments, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["receipt"]["table"] == table.sha256
        assert said["receipt"]["mechanism"] == name
        assert said["receipt"]["released"] == 4
    assert main(["perturb", str(text), *arguments, "--receipt"]) == 0
    shown = capsys.readouterr()
    assert shown.out.endswith(".\n")
    assert json.loads(shown.err)["mechanism"] == "rantext_ldp"


def test_command_refuses_a_folder_of_another_run(
    server: EmbeddingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    server.fail_from = 1
    assert build(server, out) == 2
    assert build(server, out, "--model", "another") == 2
    assert "holds an unfinished run with other settings" in capsys.readouterr().err
    assert len(server.words) == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--size", "1"), "vocabulary size must be from 2 to 54122, got 1"),
        (("--batch", "0"), "batch must be"),
        (("--batch", "-5"), "batch must be"),
    ],
)
def test_command_refuses_bad_settings(
    more: tuple[str, ...],
    said: str,
    server: EmbeddingServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert build(server, tmp_path / "mine", *more) == 2
    assert f"inferdpt: {said}" in capsys.readouterr().err
    assert server.words == []


def test_perturb_refuses_a_missing_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "letter.txt"
    text.write_text("The secret.")
    assert main(["perturb", str(text), "--table", str(tmp_path / "none")]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "inferdpt: no embedding table at" in shown.err
    assert "secret" not in shown.err


@pytest.mark.statistical
def test_command_builds_a_table_of_whole_words(
    server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_EMBEDDINGS_KEY", KEY)
    out = tmp_path / "mine"
    assert build(server, out, "--vocabulary", "words") == 0
    vocabulary = load_vocabulary("words", 200)
    everything = [*vocabulary.words, *vocabulary.others]
    assert [word for words in server.words for word in words] == everything
    assert load_table(out, "words").vocabulary.words == vocabulary.words
    with pytest.raises(TableError, match="set `vocabulary: words`"):
        load_table(out)
