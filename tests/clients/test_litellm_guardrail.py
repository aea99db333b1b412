"""The guardrail in the real proxy of LiteLLM, between a client, our proxy and a remote."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
import requests
import yaml

from scripts.release.integrations import write_integration
from tests.clients.assistant import answer
from tests.clients.install import find_program, find_reason
from tests.clients.runs import ALONE
from tests.hostile.stage import Stage
from tests.hostile.upstream import Upstream
from tests.proxy.conftest import MODEL

FILE = Path(__file__).parents[2] / "integrations" / "litellm" / "inferdpt_guardrail.py"
ENVIRONMENT = "openai2"
OTHER = "claude"  # LiteLLM sends it Anthropic's form, with other fields
KEY = "sk-litellm-master-key-of-a-test-0123456789"
CANARY = "kvbnmwrtpsdf"
ADDRESS = f"{CANARY}@example.com"
QUESTION = f"Our contact is {ADDRESS}. Who is our contact?"
SAID = f"The contact is {ADDRESS} as far as we know."
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": f"Look up {ADDRESS}.",
        "parameters": {"type": "object", "properties": {"address": {"type": "string"}}},
    },
}
SECONDS = 180.0
LITELLM = "import sys; from litellm import run_server; sys.exit(run_server())"


@contextmanager
def serve(folder: Path, upstream: str, guardrail: dict[str, Any] | None) -> Iterator[str]:
    """Run LiteLLM's proxy with one model, and with the guardrail unless it is None."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    where = {"api_base": upstream, "api_key": "none"}
    other = {"model": "anthropic/claude-x", **where, "api_base": upstream.removesuffix("/v1")}
    config: dict[str, Any] = {
        "model_list": [
            {"model_name": "remote", "litellm_params": {"model": "openai/remote-model", **where}},
            {"model_name": OTHER, "litellm_params": other},
        ],
        "general_settings": {"master_key": KEY},
    }
    if guardrail is not None:
        write_integration(FILE, folder)
        ours = {"guardrail": f"{FILE.stem}.InferDPTGuardrail", "mode": ["pre_call", "post_call"]}
        entry = {"guardrail_name": "inferdpt", "litellm_params": {**ours, **guardrail}}
        config["guardrails"] = [entry]
    (folder / "config.yaml").write_text(yaml.safe_dump(config), "utf-8")
    env = {**os.environ, **ALONE, "LITELLM_MODE": "PRODUCTION", "PYTHONUNBUFFERED": "1"}
    command = [find_program(ENVIRONMENT), "-c", LITELLM, "--config", "config.yaml"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder,
            env={**env, "HOME": str(folder), "OPENAI_API_BASE": upstream},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield _wait(f"http://127.0.0.1:{port}", process, folder / "log")
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if requests.get(f"{url}/health/liveliness", timeout=5).ok:
                return url
        except requests.RequestException:
            time.sleep(0.5)
    raise AssertionError(log.read_text("utf-8", "replace")[-4000:])


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as made:
        made.script = answer
        yield made


@pytest.fixture(scope="module")
def guarded(
    stage: Callable[[str], Stage], upstream: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Run LiteLLM with the guardrail, configured carelessly: off by default."""
    if (reason := find_reason(ENVIRONMENT)) is not None:
        pytest.skip(f"LiteLLM: {reason}")
    ours = {"api_base": stage("gateway").child.base_url, "model": MODEL, "default_on": False}
    with serve(tmp_path_factory.mktemp("litellm"), upstream.base_url, ours) as url:
        yield url


@pytest.fixture
def received(upstream: Upstream) -> Callable[[], bytes]:
    """Return what the remote received since the test began."""
    before = len(upstream.received)
    return lambda: b"\n".join(upstream.received[before:])


@pytest.fixture
def client(guarded: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{guarded}/v1", api_key=KEY, max_retries=0)


def ask(client: openai.OpenAI, **more: Any) -> Any:
    messages = more.pop("messages", [{"role": "user", "content": QUESTION}])
    return client.chat.completions.create(model="remote", messages=messages, **more)


def test_a_chat_is_sanitized_and_restored(client: openai.OpenAI, received: Any) -> None:
    made = ask(client, user=ADDRESS, temperature=0.5)
    assert made.choices[0].message.content == SAID
    assert b"POST " in received()
    assert CANARY.encode() not in received().lower()


@pytest.mark.parametrize("usage", [True, False])
def test_a_stream_is_restored(client: openai.OpenAI, received: Any, usage: bool) -> None:
    more = {"stream_options": {"include_usage": True}} if usage else {}
    pieces = [
        choice.delta.content
        for chunk in ask(client, stream=True, **more)
        for choice in chunk.choices
        if choice.delta.content
    ]
    assert "".join(pieces) == SAID
    assert len(pieces) > 3
    assert CANARY.encode() not in received().lower()


@pytest.mark.parametrize("stream", [True, False])
def test_calls_get_raw_values_and_results_leave_sanitized(
    client: openai.OpenAI, received: Any, stream: bool
) -> None:
    name, arguments = "", ""
    if stream:
        for chunk in ask(client, tools=[TOOL], stream=True):
            for choice in chunk.choices:
                for call in choice.delta.tool_calls or ():
                    name += call.function.name or ""
                    arguments += call.function.arguments or ""
    else:
        (call,) = ask(client, tools=[TOOL]).choices[0].message.tool_calls
        name, arguments = call.function.name, call.function.arguments
    assert (name, json.loads(arguments)) == ("look_up", {"address": ADDRESS})
    function = {"name": name, "arguments": arguments}
    history = [
        {"role": "user", "content": QUESTION},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "x", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "x", "content": f"{ADDRESS} is known"},
    ]
    made = ask(client, tools=[TOOL], messages=history)
    assert made.choices[0].message.content == SAID
    assert CANARY.encode() not in received().lower()


# Fields of requests that LiteLLM knows, or adds itself; some of them could reach the remote.
FIELDS: dict[str, Any] = {
    "metadata": {"user_id": CANARY, "tags": [ADDRESS], "requester_metadata": {"a": ADDRESS}},
    "litellm_metadata": {"user_id": CANARY},
    "litellm_call_id": ADDRESS,
    "litellm_trace_id": ADDRESS,
    "litellm_session_id": ADDRESS,
    "litellm_note": ADDRESS,
    "litellm_logging_obj": ADDRESS,
    "secret_fields": {"raw_headers": {"x": ADDRESS}},
    "proxy_server_request": {"body": {"x": ADDRESS}},
    "_litellm_strip_stream_usage": ADDRESS,
    "_litellm_note": ADDRESS,
    "extra_body": {"note": ADDRESS},
    "extra_headers": {"x-note": ADDRESS},
    "headers": {"x-note": ADDRESS},
    "tags": [ADDRESS],
    "note": ADDRESS,
    "user": ADDRESS,
    "fallbacks": [{"model": "remote", "messages": [{"role": "user", "content": ADDRESS}]}],
    "guardrails": [],
    "disable_global_guardrails": True,
    "cache": {"no-cache": True, "namespace": ADDRESS},
    "mock_response": ADDRESS,
    "organization": ADDRESS,
    "stop": [ADDRESS],
    "web_search_options": {"user_location": {"city": ADDRESS}},
    "prompt_id": ADDRESS,
    "num_retries": 1,
    "timeout": 30,
}


@pytest.mark.parametrize(
    ("model", "stream"), [("remote", False), ("remote", True), (OTHER, False)]
)
@pytest.mark.parametrize("field", FIELDS)
def test_no_field_carries_a_value_to_the_remote(
    guarded: str, received: Any, field: str, model: str, stream: bool
) -> None:
    body = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
    headers = {"Authorization": f"Bearer {KEY}"}
    done = requests.post(
        f"{guarded}/v1/chat/completions",
        json={**body, "stream": stream, field: FIELDS[field]},
        headers=headers,
        timeout=SECONDS,
    )
    assert done.status_code in (200, 400, 500)
    assert CANARY.encode() not in received().lower()


ROUTES: dict[str, dict[str, Any]] = {
    "v1/completions": {"prompt": QUESTION},
    "v1/embeddings": {"input": QUESTION},
    "v1/responses": {"input": QUESTION},
    "v1/messages": {"max_tokens": 9, "messages": [{"role": "user", "content": QUESTION}]},
    "v1/moderations": {"input": QUESTION},
    "v1/images/generations": {"prompt": QUESTION},
    "v1/audio/speech": {"input": QUESTION, "voice": "alloy"},
    "v1/rerank": {"query": QUESTION, "documents": [QUESTION]},
    "openai/v1/chat/completions": {"messages": [{"role": "user", "content": QUESTION}]},
    "openai_passthrough/v1/chat/completions": {
        "messages": [{"role": "user", "content": QUESTION}]
    },
    "v1beta/models/remote:generateContent": {"contents": [{"parts": [{"text": QUESTION}]}]},
    "v1/assistants": {"name": QUESTION},
    "v1/threads": {"messages": [{"role": "user", "content": QUESTION}]},
    "v1/batches": {"input_file_id": QUESTION, "endpoint": "/v1/chat/completions"},
    "v1/videos": {"prompt": QUESTION},
    "v1/vector_stores": {"name": QUESTION},
}


@pytest.mark.parametrize("route", ROUTES)
def test_other_routes_are_refused(guarded: str, received: Any, route: str) -> None:
    done = requests.post(
        f"{guarded}/{route}",
        json={"model": "remote", **ROUTES[route]},
        headers={"Authorization": f"Bearer {KEY}"},
        timeout=SECONDS,
    )
    assert CANARY.encode() not in received().lower(), route
    assert done.status_code >= 400


def test_nothing_is_sent_if_our_proxy_cannot_be_reached(
    upstream: Upstream, received: Any, tmp_path: Path
) -> None:
    if (reason := find_reason(ENVIRONMENT)) is not None:
        pytest.skip(f"LiteLLM: {reason}")
    with serve(tmp_path, upstream.base_url, {"api_base": "http://127.0.0.1:9/v1"}) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)
        for stream in (True, False):
            with pytest.raises(openai.APIStatusError, match="nothing was sent") as info:
                ask(client, stream=stream)
            assert info.value.status_code == 503
            assert CANARY not in str(info.value)
    assert b"POST " not in received()


def test_without_the_guardrail_the_remote_sees_it(
    upstream: Upstream, received: Any, tmp_path: Path
) -> None:
    """The negative control."""
    if (reason := find_reason(ENVIRONMENT)) is not None:
        pytest.skip(f"LiteLLM: {reason}")
    with serve(tmp_path, upstream.base_url, None) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0)
        assert ask(client).choices[0].message.content == SAID
    assert CANARY.encode() in received()
