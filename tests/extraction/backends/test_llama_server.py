"""The embedded engine as a real child process over the bundled model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from proxy.local import find_free_port
from tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "extraction" / "bundled" / "model.gguf"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
SECRET = "Zanzibarite marmalade"
PROMPT = f"Write about the {SECRET}."


def command(port: int, *more: str) -> list[str]:
    program = [sys.executable, "-m", "extraction.backends.llama_server"]
    return [*program, "--model", str(MODEL), "--port", str(port), *more]


def wait_until(condition: Any) -> bool:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=LIMIT) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def running(*more: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    port = find_free_port()
    process = subprocess.Popen(
        command(port, *more),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert wait_until(lambda: healthy(port)), "the server did not come up"
        yield process, port
    finally:
        process.kill()
        process.wait()


def post(port: int, path: str, body: Any) -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data, {"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def chat(text: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 8, **more}


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with running() as (_, port):
        yield port


def test_answers_chat_and_completion(server: int) -> None:
    status, answer = post(server, "/v1/chat/completions", chat(PROMPT, ignore_eos=True))
    choice = json.loads(answer)["choices"][0]
    assert status == 200
    assert choice["message"]["content"]
    assert choice["finish_reason"] == "length"
    status, answer = post(server, "/v1/completions", {"prompt": "The river", "max_tokens": 8})
    assert status == 200
    assert isinstance(json.loads(answer)["choices"][0]["text"], str)


def test_same_seed_same_answer(server: int) -> None:
    body = chat(PROMPT, seed=11, temperature=1.0, max_tokens=24)
    answers = [json.loads(post(server, "/v1/chat/completions", body)[1]) for _ in range(2)]
    assert answers[0]["choices"][0]["message"] == answers[1]["choices"][0]["message"]


def test_streams_to_done(server: int) -> None:
    body = chat(PROMPT, stream=True, stream_options={"include_usage": True})
    _, stream = post(server, "/v1/chat/completions", body)
    events = [line[6:] for line in stream.split("\n") if line.startswith("data: ")]
    assert events.index("[DONE]") == len(events) - 1
    assert json.loads(events[-2])["usage"]["completion_tokens"] > 0


def test_follows_a_json_schema(server: int) -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["river", "mountain"]}},
        "required": ["kind"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    body = chat(PROMPT, response_format=form, max_tokens=64)
    answer = json.loads(post(server, "/v1/chat/completions", body)[1])
    content = json.loads(answer["choices"][0]["message"]["content"])
    assert content["kind"] in ("river", "mountain")


def test_every_slot_has_the_whole_context(server: int) -> None:
    meta = json.loads(
        urllib.request.urlopen(f"http://127.0.0.1:{server}/v1/models", timeout=LIMIT).read()
    )["data"][0]["meta"]
    assert meta["n_ctx"] == 1024


def test_too_long_prompt_is_a_400_with_its_own_type(server: int) -> None:
    status, answer = post(server, "/v1/chat/completions", chat("word " * 2000))
    assert status == 400
    assert json.loads(answer)["error"]["type"] == "exceed_context_size_error"


def test_sigterm_ends_it_cleanly_and_nothing_of_a_request_is_printed() -> None:
    with running("--context", "256", "--alias", "somebody") as (process, port):
        assert post(port, "/v1/chat/completions", chat(PROMPT))[0] == 200
        assert post(port, "/v1/chat/completions", chat(f"{SECRET} " * 300))[0] == 400
        assert post(port, "/v1/chat/completions", f'{{"messages": [{SECRET}'.encode())[0] == 400
        broken = chat(PROMPT, response_format={"type": SECRET}, grammar=SECRET)
        assert post(port, "/v1/chat/completions", broken)[0] >= 400
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=LIMIT)
        assert process.returncode == 0
        assert printed.startswith("listening on http://127.0.0.1:")
        for word in SECRET.split():
            assert word not in printed


def test_ends_when_its_parent_is_killed() -> None:
    port = find_free_port()
    program = f"import subprocess; subprocess.run({command(port)!r})"
    parent = subprocess.Popen([sys.executable, "-c", program], env=ENVIRONMENT)
    assert wait_until(lambda: healthy(port))
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not healthy(port))


def test_ends_when_the_parent_it_was_told_of_was_gone_before_it_could_look() -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    orphan = [*command(find_free_port()), "--parent", str(dead.pid)]
    done = subprocess.run(orphan, env=ENVIRONMENT, capture_output=True, timeout=LIMIT)
    assert done.returncode == 0


def test_a_missing_model_is_said_so() -> None:
    absent = [
        sys.executable,
        "-m",
        "extraction.backends.llama_server",
        "--port",
        "1",
        "--model",
        "no.gguf",
    ]
    done = subprocess.run(absent, env=ENVIRONMENT, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 1
    assert "no model file at no.gguf" in done.stderr
