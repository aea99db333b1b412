"""The overview of all tenants: who may see it, what it states, and how it is sorted and saved."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest

from perturb import EmbeddingTable
from proxy.access.auth import new_key
from proxy.api.app_keys import LEDGER, METRICS, RECORDER
from proxy.console.numbers import format_epsilon, format_number
from proxy.console.views import overview
from tests.perturb.marking import WORDS
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.console.browser import Browser, Page, browsing

KEYS = {name: new_key() for name in ("alice", "bob", "=1+1<script>", "root")}
SETTINGS: dict[str, Any] = {
    "server": {
        "operators": ["root"],
        "keys": [{"tenant": name, "sha256": digest} for name, (_, digest) in KEYS.items()],
    },
    "privacy": {"mechanism": "selective", "parameters": WORDS},
    "limits": {"mechanisms": ["rantext_ldp"]},
    "telemetry": {"prices": {MODEL: {"prompt": 2.5, "completion": 10}}},
}
TEXT = "Mary Ellis <mary.ellis@example.com> called."


async def chat(proxy: Proxy, tenant: str, text: str = TEXT, **options: Any) -> None:
    await proxy.client(api_key=KEYS[tenant][0]).chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": text}],
        extra_body={"inferdpt": options},
    )


@pytest.fixture
async def proxy(table: EmbeddingTable) -> AsyncIterator[Proxy]:
    """Alice has proved and nominal ε, Bob nominal ε alone and two refusals, the third nothing but
    a refusal."""
    async with running_proxy(table, SETTINGS) as running:
        await chat(running, "alice", "The board met.", mechanism="rantext_ldp", epsilon=6)
        await chat(running, "alice")
        await chat(running, "bob")
        for tenant in ("bob", "bob", "=1+1<script>"):
            with pytest.raises(openai.BadRequestError):
                await chat(running, tenant, epsilon=-1)
        await running.app[RECORDER].flush()
        yield running


@pytest.fixture
async def operator(proxy: Proxy) -> AsyncIterator[Browser]:
    async with browsing(proxy.root) as browser:
        await browser.log_in(KEYS["root"][0])
        yield browser


def read_table(page: Page) -> list[dict[str, str]]:
    """Return the cells of the tenants' table by the titles of its columns."""
    assert page.status == 200, page.text
    table = page.text.partition('aria-label="Tenants"')[2].partition("</table>")[0]
    rows = [
        [html.unescape(re.sub(r"<[^>]*>", "", cell)).strip(" ▲▼") for cell in cells]
        for row in table.split("<tr>")[1:]
        if (cells := re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.DOTALL))
    ]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def read_names(page: Page) -> list[str]:
    return [row["Tenant"] for row in read_table(page)]


def find_link(page: Page, text: str) -> str:
    """Return where the link with a text leads."""
    found = re.search(rf'href="/console(/budgets[^"]*)">{re.escape(text)}', page.text)
    assert found is not None, text
    return html.unescape(found[1])


async def save(browser: Browser, query: str = "") -> dict[str, dict[str, str]]:
    page = await browser.get(f"/budgets/export?{query}")
    assert page.status == 200
    return {row["tenant"]: row for row in csv.DictReader(io.StringIO(page.text))}


async def test_a_member_gets_its_own_account_and_no_other(proxy: Proxy) -> None:
    async with browsing(proxy.root) as browser:
        await browser.log_in(KEYS["alice"][0])
        for query in ("", "?sort=requests&period=all", "?tenant=alice"):
            page = await browser.get(f"/budgets{query}")
            assert page.status == 200
            assert "<strong>alice</strong>" in page.text
            assert "bob" not in page.text
            assert "All tenants" not in page.text
        for query in ("", "?name=alice", "?tenant=alice"):
            page = await browser.get(f"/budgets/export{query}")
            assert page.status == 403
            assert "bob" not in page.text
        assert (await browser.get("/budgets?tenant=bob")).status == 403
        assert "Cost" not in (await browser.get("/health")).text


async def test_without_a_session_there_is_no_overview(proxy: Proxy) -> None:
    async with browsing(proxy.root) as browser:
        for path in ("/budgets", "/budgets/export"):
            page = await browser.get(path)
            assert page.status == 401
            assert "alice" not in page.text


async def test_an_operator_sees_the_figures_of_the_ledger_and_the_record(
    operator: Browser, proxy: Proxy
) -> None:
    page = await operator.get("/budgets")
    rows = {row["Tenant"]: row for row in read_table(page)}
    assert [*rows] == ["=1+1<script>", "alice", "bob", "root"]
    assert "<script>" not in page.text.replace('<script src="/console', "")
    for tenant in ("alice", "bob"):
        total = (await proxy.app[LEDGER].figures(tenant))["total"]
        row = rows[tenant]
        proved, nominal = total["epsilon"]["proved_part"]["basic"], total["epsilon"]["nominal"]
        assert nominal > 0
        assert row["Proved ε, by token"] == format_epsilon(proved)
        assert row["Nominal ε, no bound"] == format_epsilon(nominal)
        if proved:
            assert format_epsilon(proved + nominal) not in row.values()
        assert row["Tokens without a bound"] == format_number(total["unbounded"])
        assert row["Charged requests"] == format_number(total["requests"])
        assert row["Replaced parts without ε"] == "EMAIL_ADDRESS 1, PERSON 1"
    assert rows["alice"]["Proved ε, by token"] != "0"
    assert "Proved ε, by document" not in rows["alice"]
    read = {name: (row["Requests read"], row["Refused"]) for name, row in rows.items()}
    assert (read["alice"], read["bob"]) == (("2", "0"), ("3", "2"))
    assert read["=1+1<script>"] == ("1", "1")
    linked = re.search(r'href="(/console/records\?[^"]*tenant=bob[^"]*)"', page.text)
    assert linked is not None
    records = await operator.get(html.unescape(linked[1]).removeprefix("/console"))
    assert records.text.count('<span class="status bad">400</span>') == 2


async def test_costs_and_stages_are_those_of_the_metrics(operator: Browser, proxy: Proxy) -> None:
    (cost,) = [
        s.value for s in proxy.app[METRICS].read("inferdpt_remote_cost") if "_total" in s.name
    ]
    assert cost > 0
    for path in ("/budgets", "/health"):
        page = await operator.get(path)
        assert f'<td class="n">{format_number(cost)}</td>' in page.text, path
    assert "95 % within" in (await operator.get("/budgets")).text


async def test_titles_sort_and_forms_filter(operator: Browser) -> None:
    page = await operator.get("/budgets")
    for title, names in (
        ("Refused", ["bob", "=1+1<script>", "alice", "root"]),
        ("Charged requests", ["alice", "bob"]),
        ("Proved ε, by token", ["alice"]),
        ("Replaced parts without ε", ["alice", "bob"]),
    ):
        link = re.search(rf'<a href="/console(/budgets[^"]*)">{re.escape(title)}', page.text)
        assert link is not None, title
        sorted_page = await operator.get(html.unescape(link[1]))
        assert read_names(sorted_page)[: len(names)] == names
        assert 'aria-sort="descending"' in sorted_page.text
        again = re.search(
            rf'<a href="/console(/budgets[^"]*)">{re.escape(title)}', sorted_page.text
        )
        assert again is not None
        turned = await operator.get(html.unescape(again[1]))
        assert sorted(read_names(turned)) == sorted(read_names(page))
        assert 'aria-sort="ascending"' in turned.text
    unknown = await operator.get("/budgets?sort=proved_of another period")
    assert read_names(unknown) == read_names(page)
    assert read_names(await operator.get("/budgets?only=refused")) == ["=1+1<script>", "bob"]
    assert read_names(await operator.get("/budgets?name=BO")) == ["bob"]
    assert "No tenant matches" in (await operator.get("/budgets?only=failed")).text


async def test_pages_hold_each_tenant_once(
    operator: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "SHOWN", 3)
    first = await operator.get("/budgets?sort=tenant&order=down")
    second = await operator.get(find_link(first, "Next page"))
    assert read_names(first) + read_names(second) == ["root", "bob", "alice", "=1+1<script>"]
    assert "Next page" not in second.text
    assert "Earlier page" in second.text
    assert read_names(await operator.get("/budgets?page=99")) == ["root"]


async def test_a_saved_overview_holds_no_formula_and_adds_nothing_up(
    operator: Browser, proxy: Proxy
) -> None:
    rows = await save(operator, "period=all")
    assert [*rows] == ["'=1+1<script>", "alice", "bob", "root"]
    total = (await proxy.app[LEDGER].figures("alice"))["total"]["epsilon"]
    alice = rows["alice"]
    assert float(alice["proved_token"]) == total["proved_part"]["basic"]
    assert float(alice["nominal"]) == total["nominal"]
    assert total["charged"] not in [
        float(value) for value in (alice["proved_token"], alice["nominal"])
    ]
    assert json.loads(alice["parts"]) == {"EMAIL_ADDRESS": 1, "PERSON": 1}
    assert [*await save(operator, "only=refused&sort=refused&order=down")] == [
        "bob",
        "'=1+1<script>",
    ]


@pytest.mark.parametrize("name", ["period", "only", "sort", "order", "page"])
async def test_a_wrong_choice_is_named_and_not_repeated(operator: Browser, name: str) -> None:
    for path in ("/budgets", "/budgets/export")[: 1 if name == "page" else 2]:
        page = await operator.get(f"{path}?{name}=canaryvalue")
        assert page.status == 400
        assert f"{name} must be" in page.text
        assert "canaryvalue" not in page.text
