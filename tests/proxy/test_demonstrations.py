"""Public examples stand in front of what is sent, and nothing else is added."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from extraction.prompts import Prompts
from perturb import EmbeddingTable
from perturb.synthetic.synthesis import Example
from proxy.config.settings import load_config
from proxy.demonstrations import BYTES, EXAMPLES, read_demonstrations
from proxy.errors import ConfigError, GuardRefused
from proxy.remote.guard import Clearance, check
from proxy.synthetic import write_examples
from tests.perturb.marking import WORDS
from tests.proxy.canaries import Canaries, check_none_left, fire
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.pipeline.test_canaries import request
from tests.proxy.pipeline.test_messages_remote import REMOTE, say

LINES = [
    {"text": "The heating has been cold since Friday.", "label": "repairs"},
    {"text": "Two lines\nof one message."},
]
SPELLED = (
    "Example 1:\nThe heating has been cold since Friday.\nLabel: repairs\n\n"
    "Example 2:\nTwo lines\nof one message."
)
SHIPPED = Prompts()
BLOCK = SHIPPED.remote_demonstrations.replace("{demonstrations}", SPELLED)
TEXT = "Anna Schmidt reports that the boiler in her flat leaks; write to anna@example.org."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "demonstrations.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)) + "\n", "utf-8")
    return path


def settings(file: Path, mechanism: str = "rantext_ldp", **others: Any) -> dict[str, Any]:
    privacy = {"mechanism": mechanism, "epsilon": 6, "demonstrations": str(file)}
    return {"privacy": privacy, **others}


async def released(proxy: Proxy, text: str) -> str:
    """Return what memory releases for a text."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{proxy.base_url}/privacy/perturb", json={"text": text}) as response,
    ):
        found: str = (await response.json())["text"]
        return found


async def ask(proxy: Proxy, **options: Any) -> Any:
    return await proxy.client().chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": TEXT}],
        extra_body={"inferdpt": options},
    )


@pytest.mark.parametrize("mechanism", ["rantext_ldp", "surrogate", "selective"])
async def test_a_chat_has_them_and_the_release_and_nothing_else(
    file: Path, table: EmbeddingTable, mechanism: str
) -> None:
    async with running_proxy(table, settings(file, mechanism)) as proxy:
        expected = await released(proxy, TEXT)
        done = await ask(proxy)
        assert proxy.sent() == [
            {"role": "system", "content": BLOCK},
            {"role": "user", "content": expected},
        ]
        assert done.inferdpt["demonstrations"] == 2
        assert "heating" not in json.dumps(proxy.local.bodies)  # they are for the remote


async def test_a_continuation_has_them(file: Path, table: EmbeddingTable) -> None:
    async with running_proxy(table, settings(file)) as proxy:
        expected = await released(proxy, TEXT)
        done = await proxy.client().completions.create(model=MODEL, prompt=TEXT)
        document = SHIPPED.remote_continuation.replace("{document}", expected)
        assert proxy.sent() == [
            {"role": "system", "content": BLOCK},
            {"role": "user", "content": document},
        ]
        assert done.inferdpt["demonstrations"] == 2  # type: ignore[attr-defined]


async def test_an_instruction_follows_them(file: Path, table: EmbeddingTable) -> None:
    over = settings(file, prompts={"remote_words": "Scrambled."})
    async with running_proxy(table, over) as proxy:
        expected = await released(proxy, TEXT)
        await ask(proxy, task="instruct", instruction="Name the label.")
        assert proxy.sent() == [
            {"role": "system", "content": f"Scrambled.\n\n{BLOCK}"},
            {"role": "user", "content": f"Name the label.\n\n{expected}"},
        ]


async def test_a_remote_of_the_messages_api_has_them(file: Path, table: EmbeddingTable) -> None:
    async with running_proxy(table, settings(file, remote=REMOTE)) as proxy:
        proxy.remote.behaviour = say
        expected = await released(proxy, TEXT)
        await ask(proxy)
        (body,) = proxy.remote.bodies
        assert body["system"] == [{"type": "text", "text": BLOCK}]
        text = {"type": "text", "text": expected}
        assert body["messages"] == [{"role": "user", "content": [text]}]


async def test_they_cost_nothing_and_are_not_counted_where_nothing_leaves(
    file: Path, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(file)) as proxy, running_proxy(table, {}) as plain:
        told = (await ask(proxy)).inferdpt
        without = (await ask(plain, mechanism="rantext_ldp")).inferdpt
        assert without["demonstrations"] == 0
        assert told["released"] == without["released"]
        local = (await ask(proxy, local_only=True)).inferdpt
        assert local["demonstrations"] == 0
        assert len(proxy.remote.bodies) == 1


async def test_no_canary_leaves_beside_them(file: Path, table: EmbeddingTable) -> None:
    async with running_proxy(table, settings(file, "rantext")) as proxy:
        canaries = Canaries(seed=3)
        seen = await fire(proxy, canaries, 100, partial(request, canaries))
        assert seen[200] > 50
        check_none_left(proxy, canaries, 100)
        assert all(body["messages"][0]["content"].endswith(BLOCK) for body in proxy.remote.bodies)


async def test_a_text_that_equals_one_is_released(file: Path, table: EmbeddingTable) -> None:
    """Five private words stand in the body then: those of the example."""
    text = str(LINES[0]["text"])
    async with running_proxy(table, settings(file)) as proxy:
        await proxy.client().completions.create(model=MODEL, prompt=text)
        assert text not in proxy.sent()[1]["content"]


@pytest.mark.parametrize("private", [LINES[0]["text"], "The boiler is loud at night again."])
def test_private_words_leave_only_within_them(private: str) -> None:
    """A private text may be equal to an example; elsewhere it is still found."""
    cleared = Clearance((SPELLED,), (private,), (SHIPPED.remote_demonstrations,))

    def body(*contents: str) -> bytes:
        return json.dumps({"messages": [{"content": each} for each in contents]}).encode()

    check(body(BLOCK), cleared)
    with pytest.raises(GuardRefused, match="repeats"):
        check(body(BLOCK, private), cleared)
    with pytest.raises(GuardRefused, match="not what"):
        check(body(BLOCK.replace("Friday", "Monday")), cleared)


def test_a_gateway_refuses_them(file: Path) -> None:
    with pytest.raises(ConfigError, match="privacy.demonstrations needs a local model"):
        load_config(
            None,
            {
                "privacy": {
                    "mechanism": "selective",
                    "parameters": WORDS,
                    "demonstrations": str(file),
                },
                "local": {"mode": "none"},
            },
        )


def bad_files() -> Iterator[Any]:
    secret = "PRIVATE"
    good = json.dumps({"text": "good"})
    for name, data, rule in [
        ("empty", "", f"must hold 1 to {EXAMPLES} demonstrations, got 0"),
        ("blank lines", "\n \n", "got 0"),
        ("many", f"{good}\n" * (EXAMPLES + 1), f"got {EXAMPLES + 1}"),
        ("large", " " * (BYTES + 1), f"must have at most {BYTES} bytes"),
        ("no json", f"{good}\n{{'text': '{secret}'}}", "line 2: is not valid JSON"),
        ("no object", f'["{secret}"]', "line 1: must be an object"),
        ("other key", json.dumps({"text": "x", secret: 1}), "no key but 'text' and 'label'"),
        ("no text", json.dumps({"label": secret}), "'text' is required"),
        ("number", '{"text": 12}', "'text' must be a string, got int"),
        ("null", '{"text": null}', "'text' must be a string, got NoneType"),
        ("blank", '{"text": " \\n"}', "'text' must hold a text"),
        ("surrogate", '{"text": "\\ud800"}', "'text' must hold a text in Unicode"),
        ("label", '{"text": "x", "label": ["PRIVATE"]}', "'label' must be a string, got list"),
        ("twice", '{"text": "x", "text": "PRIVATE"}', "line 1: has a duplicate key"),
        ("NaN", '{"text": NaN}', "line 1: numbers must be finite"),
        ("deep", '{"text": ' + "[" * 100_000, "line 1: is not valid JSON"),
    ]:
        yield pytest.param(data.encode(), rule, id=name)
    yield pytest.param(b'{"text": "\xff"}', "line 1: is not valid JSON in UTF-8", id="utf-8")


@pytest.mark.parametrize(("data", "rule"), [*bad_files()])
def test_a_bad_file_is_refused_without_its_text(
    tmp_path: Path, table: EmbeddingTable, data: bytes, rule: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(data)
    with pytest.raises(ConfigError) as raised:
        read_demonstrations(str(path), table.vocabulary, at_most=1000)
    assert str(raised.value).startswith(f"privacy.demonstrations: {path}: ")
    assert rule in str(raised.value)
    assert "PRIVATE" not in str(raised.value)


def test_they_count_against_the_limit_of_tokens(file: Path, table: EmbeddingTable) -> None:
    tokens = len(table.vocabulary.encode(SPELLED))
    found = read_demonstrations(str(file), table.vocabulary, at_most=tokens)
    assert (len(found), found.spell()) == (2, SPELLED)
    with pytest.raises(ConfigError, match=rf"must have <= {tokens - 1} tokens in all"):
        read_demonstrations(str(file), table.vocabulary, at_most=tokens - 1)


async def test_the_proxy_does_not_start_without_its_file(
    tmp_path: Path, table: EmbeddingTable
) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        async with running_proxy(table, settings(tmp_path / "missing")):
            pass


async def test_they_change_with_a_restart_only(file: Path, table: EmbeddingTable) -> None:
    async with running_proxy(table, settings(file)) as proxy:
        await asyncio.to_thread(file.write_text, '{"text": "Something else."}')
        await ask(proxy)
        assert proxy.sent()[0]["content"] == BLOCK


def test_what_synthesize_writes_can_be_read(tmp_path: Path, table: EmbeddingTable) -> None:
    path = tmp_path / "demos.jsonl"
    examples = [Example("A text.\nOf two lines.", "a label"), Example("Größe: 5 µm", None)]
    write_examples(path, examples, {})
    found = read_demonstrations(str(path), table.vocabulary, at_most=1000)
    assert list(found.examples) == examples
