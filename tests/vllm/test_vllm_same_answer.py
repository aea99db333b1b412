"""Local options through the proxy do what they do at vLLM itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
import pytest_asyncio
from openai import AsyncOpenAI

from tests.proxy.conftest import Proxy, running_proxy
from tests.same_answer import FORM, TOOLS, called, formed, said, same_answer, weighed
from tests.servers import forward
from tests.tables import bundled_table
from tests.vllm.stack import GENERATION, MODEL, Stack

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

USER = {"role": "user", "content": "What did the committee decide about the bridge in the winter?"}
OPTIONS = {"temperature": 0, "seed": 7, "max_tokens": 400}
# A random model writes no call by itself.
WRITTEN = {
    "structured_outputs": {
        "regex": r'(<tool_call>\n\{"name": "(freeze|thaw)", "arguments": '
        r'\{"frozen": (true|false), "kind": "(ice|snow)"\}\}\n</tool_call>\n){2}'
    }
}
NAMED = {"type": "function", "function": {"name": "freeze"}}


@pytest_asyncio.fixture(loop_scope="session")
async def direct(stack: Stack) -> AsyncIterator[AsyncOpenAI]:
    url = f"{stack.vllm.root}/v1"
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def proxy(stack: Stack) -> AsyncIterator[Proxy]:
    async with running_proxy(bundled_table(), {"local": {"model": MODEL}}) as running:
        running.remote.text = GENERATION
        running.local.behaviour = forward(stack.vllm.root)
        yield running


@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({"max_tokens": 48}, said),
        ({"stop": ["er", "a"]}, partial(said, without="er", finish="stop")),
        ({"logprobs": True, "top_logprobs": 3, "max_tokens": 24}, weighed),
        ({"response_format": FORM}, formed),
        ({"response_format": FORM, "logprobs": True, "top_logprobs": 3}, formed),
        ({"tools": TOOLS, "tool_choice": "none", "max_tokens": 48}, said),
    ],
    ids=["plain", "stop", "logprobs", "schema", "schema and logprobs", "tools unused"],
)
async def test_words(
    proxy: Proxy, direct: AsyncOpenAI, options: dict[str, Any], check: Any
) -> None:
    check(await same_answer(proxy, direct, [USER], {**OPTIONS, **options}))


@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({"tool_choice": "required"}, partial(called, many=True)),
        ({"tool_choice": "required", "parallel_tool_calls": False}, called),
        ({"tool_choice": "auto", "extra_body": WRITTEN}, partial(called, many=True)),
        ({"tool_choice": NAMED}, partial(called, finish="stop")),
        ({"tool_choice": NAMED, "logprobs": True}, partial(called, finish="stop")),
    ],
    ids=["required", "one", "auto", "named", "named and logprobs"],
)
async def test_calls(
    proxy: Proxy, direct: AsyncOpenAI, options: dict[str, Any], check: Any
) -> None:
    check(await same_answer(proxy, direct, [USER], {**OPTIONS, "tools": TOOLS, **options}))
