"""Images, audio and files: refused, or a note stands in their place and the rest is served."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.requests.validation import note_attachments
from tests.perturb.marking import WORDS
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.messages import post

CANARY = "canary-zxqwvk"
CHAT: list[tuple[dict[str, Any], str]] = [
    ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{CANARY}"}}, "image"),
    ({"type": "input_audio", "input_audio": {"data": CANARY, "format": "wav"}}, "audio"),
    ({"type": "file", "file": {"filename": CANARY, "file_data": CANARY}}, "file"),
    ({"type": "video_url", "video_url": {"url": CANARY}}, "video"),
]
BLOCKS: list[tuple[dict[str, Any], str]] = [
    ({"type": "image", "source": {"type": "base64", "data": CANARY}}, "image"),
    ({"type": "document", "title": CANARY, "source": {"type": "text", "data": CANARY}}, "file"),
    ({"type": "container_upload", "file_id": CANARY}, "file"),
    ({"type": "search_result", "title": CANARY, "source": CANARY, "content": []}, "search result"),
    ({"type": "tool_reference", "tool_name": CANARY}, "reference to a tool"),
]
PARTS: list[tuple[dict[str, Any], str]] = [
    ({"type": "input_image", "image_url": CANARY}, "image"),
    ({"type": "input_file", "filename": CANARY, "file_data": CANARY}, "file"),
]


def chat(part: dict[str, Any]) -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return {
        "model": MODEL,
        "messages": [
            {"role": "user", "content": [part, {"type": "text", "text": "What is this?"}]},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": [part]},
            {"role": "user", "content": "Go on."},
        ],
    }


def messages(block: dict[str, Any]) -> dict[str, Any]:
    use = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": [block]}
    return {
        "model": MODEL,
        "max_tokens": 50,
        "messages": [
            {"role": "user", "content": [block, {"type": "text", "text": "What is this?"}]},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result, {"type": "text", "text": "Go on."}]},
        ],
    }


def responses(part: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": MODEL,
        "input": [
            {"role": "user", "content": [part, {"type": "input_text", "text": "And this?"}]},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": [part]},
            {"role": "user", "content": "Go on."},
        ],
    }


def keep_result(body: dict[str, Any]) -> dict[str, Any]:
    """A body in which only a tool's result holds the part: a screenshot, or a page that was read,
    which comes again with each later turn."""
    name = "input" if "input" in body else "messages"
    first, *others = body[name]
    text = next(part for part in first["content"] if "text" in part)
    return {**body, name: [{**first, "content": [text]}, *others]}


CASES = [
    *(("chat/completions", chat(part), kind) for part, kind in CHAT),
    *(("messages", messages(block), kind) for block, kind in BLOCKS),
    *(("responses", responses(part), kind) for part, kind in PARTS),
]
RESULTS = [(path, keep_result(body), kind) for path, body, kind in CASES]
MODES = {
    "local model": {},
    "gateway": {
        "privacy": {"mechanism": "selective", "parameters": WORDS},
        "local": {"mode": "none"},
    },
}


@pytest.mark.parametrize(("path", "body", "kind"), CASES)
async def test_they_are_refused(proxy: Proxy, path: str, body: dict[str, Any], kind: str) -> None:
    status, _, told = await post(proxy, body, path)
    assert status == 400
    assert CANARY not in told
    assert "server.attachments: note" in told
    assert not proxy.remote.received
    assert not proxy.local.received


@pytest.mark.parametrize(("path", "body", "kind"), RESULTS)
async def test_the_error_tells_how_a_result_is_served(
    proxy: Proxy, path: str, body: dict[str, Any], kind: str
) -> None:
    status, told, answer = await post(proxy, body, path)
    assert status == 400
    assert CANARY not in answer
    said = told["error"]["message"]
    assert "server.attachments: note" in said
    places = {"responses": "input[2].output[0]", "chat/completions": "messages[2].content[0]"}
    if path in places:
        assert told["error"]["param"] == places[path]
    assert not proxy.remote.received
    assert not proxy.local.received


class TestNoted:
    @pytest.fixture(params=MODES)
    def settings(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        return {**MODES[request.param], "server": {"attachments": "note"}}

    @pytest.mark.parametrize(("path", "body", "kind"), CASES)
    async def test_a_note_stands_in_their_place(
        self, proxy: Proxy, path: str, body: dict[str, Any], kind: str
    ) -> None:
        status, _, told = await post(proxy, body, path)
        assert status == 200, told
        reader = proxy.local if proxy.local.bodies else proxy.remote
        text = json.dumps(reader.bodies[-1]["messages"])
        assert text.count(f"[{kind} left out]") == 2
        for server in (proxy.remote, proxy.local):
            assert all(CANARY.encode() not in data for data in server.received)
        assert CANARY not in "\n".join(proxy.log)

    @pytest.mark.parametrize(("path", "body", "kind"), RESULTS)
    async def test_a_result_is_a_note_in_every_later_turn(
        self, proxy: Proxy, path: str, body: dict[str, Any], kind: str
    ) -> None:
        name = "input" if path == "responses" else "messages"
        for more in range(2):
            later = [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "So?"}]
            status, _, told = await post(proxy, {**body, name: [*body[name], *later * more]}, path)
            assert status == 200, told
            reader = proxy.local if proxy.local.bodies else proxy.remote
            sent = reader.bodies[-1]["messages"]
            (result,) = (message for message in sent if message["role"] == "tool")
            assert json.dumps(result).count(f"[{kind} left out]") == 1
            assert json.dumps(sent).count("left out]") == 1

    async def test_a_compaction_of_another_server_is_a_note(self, proxy: Proxy) -> None:
        item = {"type": "compaction", "id": "cmp", "encrypted_content": CANARY}
        body = {"model": MODEL, "input": [item, {"role": "user", "content": "Go on."}]}
        status, _, told = await post(proxy, body, "responses")
        assert status == 200, told
        reader = proxy.local if proxy.local.bodies else proxy.remote
        assert "[earlier conversation left out]" in json.dumps(reader.bodies[-1])
        assert all(CANARY.encode() not in data for data in reader.received)

    async def test_tokens_are_counted_beside_a_note(self, proxy: Proxy) -> None:
        body = {key: value for key, value in messages(BLOCKS[0][0]).items() if key != "max_tokens"}
        status, _, told = await post(proxy, body, "messages/count_tokens")
        assert status == 200
        assert json.loads(told)["input_tokens"] > 0

    async def test_an_unknown_type_is_still_refused(self, proxy: Proxy) -> None:
        status, _, _ = await post(proxy, chat({"type": "hologram"}), "chat/completions")
        assert status == 400
        assert not proxy.remote.received


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None},
        {"messages": "x"},
        {
            "messages": [
                3,
                {"content": 3},
                {"content": [3, None, {"type": 3}, {"type": ["image"]}]},
            ]
        },
        {"input": "image", "other": [{"content": [{"type": "image"}]}]},
        {"input": [{"role": "user", "content": "an image"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "image"}]}]},
    ],
)
def test_what_is_no_attachment_stays_as_it_is(body: dict[str, Any]) -> None:
    assert note_attachments(body) == body


def test_a_note_in_an_answer_is_a_text_of_an_answer() -> None:
    made = note_attachments({"input": [{"role": "assistant", "content": [PARTS[0][0]]}]})
    note = {"type": "output_text", "text": "[image left out]"}
    assert made == {"input": [{"role": "assistant", "content": [note]}]}
