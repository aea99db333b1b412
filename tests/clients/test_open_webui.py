"""The filter in the real Open WebUI, used with a real browser."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from webui import chat
from webui.site import NAME, Site

from tests.clients.assistant import answer
from tests.clients.install import find_program, find_reason
from tests.hostile.stage import Stage
from tests.hostile.upstream import Call, Upstream
from tests.proxy.conftest import MODEL

ENVIRONMENT = "open_webui"
CANARY = "vbnrtkwplsdm"
ADDRESS = f"{CANARY}@example.com"
QUESTION = f"Our contact is {ADDRESS}. Who is our contact?"
ON = ("--switch", NAME)
NOTE = "write_note"  # a tool of Open WebUI's own


async def take_a_note(call: Call, writer: asyncio.StreamWriter) -> bool:
    """Call Open WebUI's tool for notes, of all that it offers; then answer."""
    if call.method == "POST":
        body = call.json
        tools = [tool for tool in body["tools"] if tool["function"]["name"] == NOTE]
        call = Call(
            call.raw, call.method, call.path, json.dumps({**body, "tools": tools}).encode()
        )
    return await answer(call, writer)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    """Serve the model that Open WebUI asks: it is not trusted."""
    with Upstream() as made:
        made.script = made.models = take_a_note
        yield made


@pytest.fixture(scope="module")
def site(
    stage: Callable[[str], Stage], upstream: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    if (reason := find_reason(ENVIRONMENT)) is not None:
        pytest.skip(f"Open WebUI: {reason}")
    if not any(map(shutil.which, chat.BROWSERS)):
        pytest.skip("there is no Chromium: apt-get install -y chromium")
    base_url = stage("gateway").child.base_url
    folder = tmp_path_factory.mktemp("open-webui")
    with Site(find_program(ENVIRONMENT), folder, upstream.base_url) as made:
        made.add_filter({"base_url": base_url, "model": MODEL})
        yield made


@pytest.fixture
def ask(site: Site, upstream: Upstream) -> Callable[..., tuple[dict[str, str], bytes]]:
    """Ask in a browser; return what is shown, and what the upstream received."""

    def run(*options: str) -> tuple[dict[str, str], bytes]:
        before = len(upstream.received)
        seen = chat.ask(find_program(ENVIRONMENT), site.base_url, QUESTION, *options)
        return seen, b"\n".join(upstream.received[before:])

    return run


def test_with_the_switch_on_the_model_never_sees_the_value(ask: Any, site: Site) -> None:
    seen, received = ask(*ON, "--source")
    assert CANARY.encode() not in received.lower()
    assert received.count(b"POST ") == 2  # the call of a tool, and the answer after it
    assert f"The contact is {ADDRESS} as far as we know." in seen["shown"]
    assert re.search(r"InferDPT replaced .*\d × EMAIL_ADDRESS", seen["shown"])
    assert "Our contact is" in seen["source"]
    assert CANARY not in seen["source"]
    (note,) = site.call("/api/v1/notes/")  # the tool ran here, with the raw value
    assert note["title"] == ADDRESS


def test_with_the_switch_off_the_chat_leaves_as_it_is(ask: Any) -> None:
    """The user's choice, and the negative control: the search finds the value where it is."""
    seen, received = ask()
    assert CANARY.encode() in received
    assert f"The contact is {ADDRESS} as far as we know." in seen["shown"]
    assert "InferDPT" not in seen["shown"]


def test_nothing_is_sent_if_the_proxy_cannot_be_reached(ask: Any, site: Site) -> None:
    place = f"/api/v1/functions/id/{NAME.lower()}/valves"
    valves = site.call(place)
    site.call(f"{place}/update", {**valves, "base_url": "http://127.0.0.1:9/v1"})
    try:
        seen, received = ask(*ON)
    finally:
        site.call(f"{place}/update", valves)
    assert b"POST " not in received
    assert "nothing was sent" in seen["page"]


def test_a_chat_is_refused_while_titles_would_leave(ask: Any, site: Site) -> None:
    """Open WebUI sends requests for titles past its filters."""
    settings = site.call("/api/v1/tasks/config")
    site.call("/api/v1/tasks/config/update", {**settings, "ENABLE_TITLE_GENERATION": True})
    try:
        seen, received = ask(*ON)
    finally:
        site.call("/api/v1/tasks/config/update", settings)
    assert "sends titles past its filters" in seen["page"]
    assert NOTE.encode() not in received  # the chat itself, with its tools
