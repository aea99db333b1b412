"""The whole stack: two users sign in to the real Open WebUI, which asks a proxy on PostgreSQL."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from webui import chat
from webui.site import UNSEEN, Person, Site

from proxy.cli.main import main
from tests.clients.assistant import answer
from tests.clients.catalogue import SCRIPTS
from tests.clients.install import find_program, find_reason
from tests.databases import postgres_url
from tests.hostile.child import Child
from tests.hostile.upstream import Upstream
from tests.proxy.conftest import MODEL

__all__ = ["postgres_url"]

ENVIRONMENT = "open_webui"
# Words that no request has otherwise, to be looked for in what the remote gets.
ANN, BEN = "annqxvwrt", "benkzhdfp"
CANARY = {ANN: "vbnrtkwplsdm@example.com", BEN: "zkxqjhgfwpld@example.com"}
SAID = "The contact is {} as far as we know."
LONG = "The board met on Monday and decided nothing. " * 350  # in tokens, 9 times as many
BUDGET = 4000  # more than a question or LONG costs, and less than both for Ann
SETTINGS: dict[str, Any] = {
    "server": {"operators": ["ops"]},
    "privacy": {"mechanism": "selective"},
    "local": {"mode": "none", "embeddings_model": None},
}
SECONDS = 60.0  # only a hang reaches it


@pytest.fixture
def run(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> Callable[..., str]:
    """Run a command on the database of the proxy; return what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    monkeypatch.setenv("INFERDPT_STORE__URL", postgres_url)

    def command(*words: str) -> str:
        capsys.readouterr()
        assert main(list(words)) == 0
        return str(capsys.readouterr().out)

    return command


@pytest.fixture
def remote() -> Iterator[Upstream]:
    with Upstream() as made:
        made.script = answer
        yield made


@pytest.fixture
def proxy(
    run: Callable[..., str], remote: Upstream, postgres_url: str, tmp_path: Path
) -> Iterator[Child]:
    settings = {**SETTINGS, "store": {"url": postgres_url}}
    nowhere = "http://127.0.0.1:9/v1"
    child = Child(tmp_path / "proxy", remote=remote.base_url, local=nowhere, settings=settings)
    child.start()
    try:
        yield child
    finally:
        child.kill()


@pytest.fixture
def site(run: Callable[..., str], proxy: Child, tmp_path: Path) -> Iterator[Site]:
    if (reason := find_reason(ENVIRONMENT)) is not None:
        pytest.skip(f"Open WebUI: {reason}")
    if not any(map(shutil.which, chat.BROWSERS)):
        pytest.skip("there is no Chromium: apt-get install -y chromium")
    key = make_key(run, "webui", "--on-behalf", "--budget-unbounded", f"total={BUDGET}")
    settings = {
        "OPENAI_API_KEY": key,
        "ENABLE_FORWARD_USER_INFO_HEADERS": "True",
        "BYPASS_MODEL_ACCESS_CONTROL": "True",
        **dict.fromkeys(UNSEEN, "True"),  # titles and tags, as it is installed
    }
    python, folder = find_program(ENVIRONMENT), tmp_path / "open-webui"
    with Site(python, folder, proxy.base_url, settings, signing_in=True) as made:
        yield made


def make_key(run: Callable[..., str], *options: str) -> str:
    found = re.search(r"sk-inferdpt-\S+", run("keys", "create", *options))
    assert found is not None
    return found[0]


def ask_in_browser(site: Site, user: Person, text: str) -> dict[str, str]:
    sign_in = ("--sign-in", user.email, user.password)
    return chat.ask(find_program(ENVIRONMENT), site.base_url, text, *sign_in)


def ask_by_api(site: Site, user: Person, text: str) -> str:
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}]}
    made = site.call("/api/chat/completions", body, user.token)
    return str(made["choices"][0]["message"]["content"])


def ask_for(name: str) -> str:
    return f"Our contact is {CANARY[name]}. Who is our contact?"


def wait_for_records(run: Callable[..., str], count: int, tenant: str) -> dict[str, Counter[int]]:
    """Return how the requests of each tenant ended, once so many of one tenant's have."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        lines = [json.loads(line) for line in run("records", "export").splitlines()]
        ended: dict[str, Counter[int]] = {line["tenant"]: Counter() for line in lines}
        for line in lines:
            if line["status"] is not None:
                ended[line["tenant"]][line["status"]] += 1
        if ended[tenant].total() >= count:
            return ended
        time.sleep(0.5)
    raise AssertionError(f"fewer than {count} requests of {tenant} have ended")


def test_two_users_share_no_budget_and_no_record(
    run: Callable[..., str], proxy: Child, remote: Upstream, site: Site
) -> None:
    ann, ben = site.add_user(ANN), site.add_user(BEN)
    of_ann, of_ben = (f"webui::{user.id}" for user in (ann, ben))

    # Each gets the own address back; Ann reads hers in the browser.
    assert SAID.format(CANARY[ANN]) in ask_in_browser(site, ann, ask_for(ANN))["shown"]
    assert ask_by_api(site, ben, ask_for(BEN)) == SAID.format(CANARY[BEN])
    # The page's tools went with Ann's question, and left no room for what Ben may still ask.
    shown = ask_in_browser(site, ann, LONG)["shown"]
    assert "The privacy budget in all is exceeded" in shown
    assert "Nothing was sent." in shown
    assert ask_by_api(site, ben, LONG) == SAID.format("?")

    # The remote learns neither the addresses nor who asks.
    received = b"\n".join(remote.received).lower()
    assert received.count(b"our contact is") >= 2
    assert b"generate a concise title" in received  # Open WebUI's own request is sanitized, too
    for word in (*CANARY.values(), ANN, BEN, ann.id, ben.id, "x-openwebui", "webui::"):
        assert word.partition("@")[0].encode() not in received

    # Each account and each record is of one user; the front end itself has none.
    accounts = {account["tenant"] for account in json.loads(run("ledger", "--json"))}
    ended = wait_for_records(run, 2, of_ben)
    assert accounts == set(ended) == {of_ann, of_ben}
    assert ended[of_ben] == {200: 2}
    assert set(ended[of_ann]) == {200, 403}

    # The operator sees both apart, each with the limit of the key.
    python, script = find_program(ENVIRONMENT), SCRIPTS / "read_console.py"
    seen = chat.drive(python, script, proxy.root, make_key(run, "ops"), of_ann, of_ben)
    rows = seen["table"]
    assert set(rows) == {of_ann, of_ben, "ops"}
    assert rows[of_ben]["Charged requests"] == "2"
    assert rows[of_ben]["Refused"] == "0"
    assert rows[of_ben]["Replaced parts without ε"] == "EMAIL_ADDRESS 1"
    assert int(rows[of_ann]["Charged requests"]) > 2
    assert int(rows[of_ann]["Refused"]) >= 1
    for tenant in (of_ann, of_ben):
        assert tenant in seen["accounts"][tenant]
        assert f"{BUDGET:,}" in seen["accounts"][tenant]
