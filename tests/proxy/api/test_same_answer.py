"""Local options do through the proxy what they do at the embedded engine itself.

The bundled model's chat template knows no tools, and llama.cpp then leaves them out of account.
So the engine serves a copy with a template in which a call begins with one token, `~`; a bias
makes sure of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import openai
import pytest

from perturb import EmbeddingTable
from tests.extraction.backends.test_llama_server import MODEL as BUNDLED
from tests.extraction.backends.test_llama_server import post, running
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.same_answer import FORM, TOOLS, called, formed, said, same_answer, weighed
from tests.servers import forward

TEMPLATE = """\
{%- if tools %}<|system|>{% for tool in tools %}{{ tool | tojson }}{% endfor %}<|end|>{% endif %}
{%- for message in messages %}
  {%- set role = 'user' if message.role == 'tool' else message.role %}
  {{- '<|' + role + '|>' + (message.content or '') }}
  {%- if message.tool_calls %}
    {{- '~' }}
    {%- for call in message.tool_calls %}
      {{- '{"name": "' + call.function.name + '", "arguments": ' }}
      {{- (call.function.arguments | tojson) + ('}' if loop.last else '}, ') }}
    {%- endfor %}
    {{- '^' }}
  {%- endif %}
  {{- '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""
USER = {"role": "user", "content": "What did the council decide about the bridge in the winter?"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "freeze", "arguments": '{"frozen": true, "kind": "ice"}'},
        }
    ],
}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "The river is frozen now."}
OPTIONS = {"temperature": 0, "seed": 7, "max_tokens": 120}
NAMED = {"type": "function", "function": {"name": "freeze"}}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """An engine that calls tools listens here."""
    model = tmp_path_factory.mktemp("model") / "model.gguf"
    copy = [sys.executable, "-m", "gguf.scripts.gguf_new_metadata", "--chat-template", TEMPLATE]
    subprocess.run([*copy, str(BUNDLED), str(model)], check=True, capture_output=True)
    with running("--model", str(model)) as (_, listening):
        yield listening


@pytest.fixture(scope="module")
def begin(port: int) -> dict[str, float]:
    """The bias that begins a call."""
    (token,) = json.loads(post(port, "/tokenize", {"content": "~"})[1])["tokens"]
    return {str(token): 100.0}


@pytest.fixture
async def direct(port: int) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=f"http://127.0.0.1:{port}/v1", api_key="none"
    ) as client:
        yield client


@pytest.fixture
async def proxy(table: EmbeddingTable, port: int) -> AsyncIterator[Proxy]:
    async with running_proxy(table, {}) as running:
        running.local.behaviour = forward(f"http://127.0.0.1:{port}")
        yield running


@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({}, said),
        ({"stop": ["er", "ar"]}, partial(said, without="er", finish="stop")),
        ({"logprobs": True, "top_logprobs": 3}, weighed),
        ({"response_format": FORM}, formed),
        ({"response_format": FORM, "logprobs": True, "top_logprobs": 3}, formed),
        ({"tools": TOOLS, "tool_choice": "none"}, said),
    ],
    ids=["plain", "stop", "logprobs", "schema", "schema and logprobs", "tools unused"],
)
async def test_words(
    proxy: Proxy, direct: openai.AsyncOpenAI, options: dict[str, Any], check: Any
) -> None:
    check(await same_answer(proxy, direct, [USER], {**OPTIONS, **options}))


@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({"tool_choice": "required"}, called),
        ({"tool_choice": "auto"}, called),
        ({"tool_choice": NAMED}, called),
        (
            {"tool_choice": "required", "parallel_tool_calls": True},
            partial(called, many=True, finish="length"),
        ),
    ],
    ids=["required", "auto", "named", "parallel"],
)
@pytest.mark.parametrize("turns", [[USER], [USER, CALL, RESULT]], ids=["first", "with a result"])
async def test_calls(
    proxy: Proxy,
    direct: openai.AsyncOpenAI,
    begin: dict[str, float],
    turns: list[Any],
    options: dict[str, Any],
    check: Any,
) -> None:
    tools = {"tools": TOOLS, "parallel_tool_calls": False, "logit_bias": begin}
    check(await same_answer(proxy, direct, turns, {**OPTIONS, **tools, **options}))


async def test_what_the_engine_refuses(proxy: Proxy, direct: openai.AsyncOpenAI) -> None:
    options: dict[str, Any] = {"tools": TOOLS, "logprobs": True, "stream": True}
    for client in (direct, proxy.client()):
        with pytest.raises(openai.BadRequestError):
            await client.chat.completions.create(model=MODEL, messages=[USER], **options)
