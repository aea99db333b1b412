"""The console's pages: what is previewed is what is sent, what is charged, and what is escaped."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from perturb.registry import sanitizer_names
from proxy.access.auth import Grant, new_key
from proxy.api.app_keys import KEYRING, LEDGER, RECORDER, REMOTES, STORE
from proxy.console.charts import draw_stacks
from proxy.console.views import keys, records
from proxy.console.views.trying import MOST, compare_words, find_figures
from proxy.errors import store_unavailable
from proxy.records.lines import read_latest, read_lines
from tests.limits import LIMIT
from tests.perturb.marking import WORDS
from tests.proxy.canaries import Canaries
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.console.browser import Browser, browsing

TEXT = "Mary Ellis <mary.ellis@example.com> asked on 12 May & called 020 7946 0123."
FORM = {"text": TEXT, "model": MODEL, "mode": "remote"}
BYTES = re.compile(r'<pre tabindex="0" class="bytes">(.*?)</pre>', re.DOTALL)
PIPELINE: dict[str, Any] = {
    "privacy": {"mechanism": "selective", "parameters": WORDS},
    "limits": {"mechanisms": ["rantext_ldp"], "budget": {"day": 1000}},
}
BATCHES: dict[str, Any] = {"batches": {"enabled": True}}
GATEWAY: dict[str, Any] = {
    "privacy": {"mechanism": "selective", "parameters": WORDS},
    "local": {"mode": "none"},
}


@pytest.fixture(params=[PIPELINE, GATEWAY], ids=["pipeline", "gateway"])
async def either(request: Any, table: EmbeddingTable) -> AsyncIterator[Proxy]:
    async with running_proxy(table, request.param) as running:
        yield running


@pytest.fixture
def settings() -> dict[str, Any]:
    return PIPELINE


@pytest.fixture
async def browser(proxy: Proxy) -> AsyncIterator[Browser]:
    async with browsing(proxy.root) as made:
        await made.get()
        yield made


class TestTrying:
    async def test_a_preview_shows_the_bytes_and_spends_nothing(self, either: Proxy) -> None:
        async with browsing(either.root) as browser:
            await browser.get()
            page = await browser.post("/try", FORM)
            (shown,) = (html.unescape(each) for each in BYTES.findall(page.text))
            assert "mary.ellis" not in shown
            assert "Costs 0 ε" in page.text
            assert not either.remote.bodies
            assert (await either.app[LEDGER].figures("anonymous"))["total"]["requests"] == 0
            assert html.escape(TEXT).replace("&#x27;", "&#39;").split()[0] in page.text
            answer = await browser.post("/try/send", FORM)
            assert answer.status == 200
            assert either.remote.received[-1].endswith(shown.encode())
            assert "One two three." in answer.text
            assert "Receipt" in answer.text
            account = (await either.app[LEDGER].figures("anonymous"))["total"]
            assert account["requests"] == 1
            charge = re.search(r"Charges at most ([\d.]+) ε", page.text)
            assert charge is not None
            assert float(charge[1]) == account["epsilon"]["charged"] > 0

    async def test_a_preview_says_what_was_replaced_and_why(
        self, browser: Browser, proxy: Proxy
    ) -> None:
        page = await browser.post("/try", FORM)
        about = "EMAIL_ADDRESS, by a pattern: "
        marked = re.findall(r'<(?:ins|del) tabindex="0" title="([^"]*)">', page.text)
        assert len([title for title in marked if about in title]) >= 2  # in both texts
        shown = html.unescape(page.text)
        assert 'privacy: {parameters: {allow: ["mary.ellis@example.com"]}}' in shown
        assert 'privacy: {parameters: {deny: ["mary.ellis@example.com"]}}' in shown
        page = await browser.post("/try", {**FORM, "deny_1": "asked on, appointment"})
        assert "<strong>asked on</strong>" in page.text
        assert "CUSTOM, on a list" in page.text
        assert 'name="deny_1" value="asked on, appointment"' in page.text
        page = await browser.post("/try", {**FORM, "mechanism_1": "rantext_ldp"})
        assert "What was replaced" not in page.text
        assert 'title="' not in page.text.split('id="result"')[1]

    async def test_the_actions_that_are_suggested_are_taken(self, browser: Browser) -> None:
        (field,) = re.findall(r'<input name="actions_1"[^>]*>', (await browser.get("/try")).text)
        suggested = re.search(r'placeholder="([^"]+)"', field)
        assert suggested is not None
        text = "Mary Ellis called."
        page = await browser.post("/try", {**FORM, "text": text, "actions_1": suggested[1]})
        assert page.status == 200
        assert BYTES.search(page.text) is not None
        wrong = suggested[1].replace("_ADDRESS", "")
        assert (await browser.post("/try", {**FORM, "actions_1": wrong})).status == 400

    async def test_a_guarantee_is_one_sentence_and_its_wording_is_folded(
        self, either: Proxy
    ) -> None:
        async with browsing(either.root) as browser:
            await browser.get()
            for path in ("/try", "/try/send"):
                page = await browser.post(path, FORM)
                shown, _, rest = page.text.partition('<details class="exact">')
                assert "No bound is proved: the parts that were found are replaced" in shown
                assert "is not an LDP bound of the text" not in shown.partition("Guarantee")[2]
                assert "is not an LDP bound of the text" in rest.partition("</details>")[0]

    async def test_two_settings_stand_side_by_side(self, browser: Browser, proxy: Proxy) -> None:
        second = {"compare": "on", "mechanism_2": "rantext_ldp", "epsilon_2": "6"}
        page = await browser.post("/try", {**FORM, **second})
        assert len(BYTES.findall(page.text)) == 2
        assert "each released token is 6-LDP" in page.text
        assert "the nominal ε is not an LDP bound" in page.text
        assert "of the words" in page.text  # what attackers read

    async def test_a_text_for_the_local_model_goes_nowhere(
        self, browser: Browser, proxy: Proxy
    ) -> None:
        page = await browser.post("/try", {**FORM, "mode": "local"})
        assert "nothing left this machine" in page.text
        page = await browser.post("/try/send", {**FORM, "mode": "local"})
        assert "One two three." in page.text
        assert not proxy.remote.bodies

    async def test_scripts_get_the_part_that_changes(self, browser: Browser) -> None:
        part = await browser.post("/try", FORM, **{"HX-Request": "true"})
        assert part.status == 200
        assert "<html" not in part.text
        assert "Released" in part.text

    @pytest.mark.parametrize(
        ("field", "value", "status"),
        [
            ("text", " ", 400),
            ("epsilon_1", "six", 400),
            ("epsilon_1", "-1", 400),
            ("epsilon_1", "nan", 400),
            ("mechanism_1", "canarymechanism", 403),
            ("mechanism_1", "santext_plus", 403),
            ("actions_1", "NAME=canaryaction", 400),
            ("model", "canarymodel", 404),
        ],
    )
    async def test_a_wrong_field_is_named_and_not_repeated(
        self, browser: Browser, proxy: Proxy, field: str, value: str, status: int
    ) -> None:
        for path in ("/try", "/try/send"):
            page = await browser.post(path, {**FORM, field: value})
            assert page.status == status
            assert "mary.ellis" not in page.text
            assert 'role="alert"' in page.text
        assert not proxy.remote.bodies

    async def test_a_failure_within_the_answer_ends_the_page(
        self, browser: Browser, proxy: Proxy
    ) -> None:
        async def fail(server: Any, request: Any, body: Any) -> Any:
            raise ConnectionResetError

        proxy.local.behaviour = fail
        page = await browser.post("/try/send", FORM)
        assert 'role="alert"' in page.text
        assert "</html>" in page.text

    async def test_what_upstreams_write_is_escaped(self, either: Proxy) -> None:
        bad = "<script>alert(1)</script><img src=x onerror=alert(2)>"
        either.remote.text = either.local.text = bad
        async with browsing(either.root) as browser:
            await browser.get()
            page = await browser.post("/try/send", FORM | {"text": f"{TEXT} {bad}"})
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
        assert "&lt;script&gt;" in page.text


class TestRecords:
    async def test_lines_are_filtered_paged_and_exported(
        self, browser: Browser, proxy: Proxy
    ) -> None:
        for n in range(3):
            await browser.post("/try/send", {**FORM, "text": f"{TEXT} {n}"})
        await browser.post("/try", {**FORM, "epsilon_1": "-1"})
        await proxy.app[RECORDER].flush()
        page = await browser.get("/records")
        assert page.text.count('<td class="name">/console/try/send') == 3
        assert (await browser.get("/records?outcome=refused")).text.count("req_") == 1
        assert "No request matches" in (await browser.get("/records?model=other")).text
        assert "No request matches" in (await browser.get("/records?until=2020-01-01")).text
        for wrong in ("since=monday", "outcome=maybe", "before=x"):
            assert (await browser.get(f"/records?{wrong}")).status == 400
        export = await browser.get("/records/export?format=csv&mechanism=selective")
        assert len(list(csv.DictReader(io.StringIO(export.text)))) == 3
        lines = (await browser.get("/records/export?format=jsonl")).text.splitlines()
        assert len(lines) == 4
        assert {json.loads(line)["status"] for line in lines} == {200, 400}
        assert (await browser.get("/records/export?format=xls")).status == 400

    async def test_filters_offer_what_there_is(self, browser: Browser, proxy: Proxy) -> None:
        page = await browser.get("/records?model=gone")
        offered = {
            name: re.findall(r'<option value="([^"]+)"', choices)
            for name, choices in re.findall(
                r'<select name="(\w+)">(.*?)</select>', page.text, re.DOTALL
            )
        }
        assert offered["model"] == sorted([*proxy.app[REMOTES].models, "gone"])
        assert offered["mechanism"] == sorted(sanitizer_names())
        assert {"/v1/chat/completions", "/console/try/send"} <= {*offered["endpoint"]}
        assert '<option value="gone" selected>' in page.text
        assert "key" in offered

    async def test_proved_and_nominal_charges_stand_apart(self, browser: Browser) -> None:
        await browser.post("/try/send", FORM)
        await browser.post("/try/send", FORM | {"mechanism_1": "rantext_ldp"})
        page = await browser.get("/records")
        titles = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', page.text)
        proved, nominal = (titles.index(f"Charged, {name} ε") for name in ("proved", "nominal"))
        found = []
        for row in page.text.split("<tbody>")[1].split("<tr>")[1:]:
            cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
            found.append((cells[proved] != "0", cells[nominal] != "0"))
        assert found == [(True, False), (False, True)]

    @pytest.mark.parametrize("written", [True, False])
    async def test_an_export_that_fails_is_not_taken_for_a_whole_one(
        self, browser: Browser, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, written: bool
    ) -> None:
        async def fail(*given: Any, **more: Any) -> AsyncIterator[dict[str, Any]]:
            async for line in read_lines(*given, **more):
                if written:
                    yield line
            raise store_unavailable()

        await browser.post("/try/send", FORM)
        await proxy.app[RECORDER].flush()
        monkeypatch.setattr(records, "BLOCK", 0)  # each line is written at once
        monkeypatch.setattr(records, "read_lines", fail)
        async with asyncio.timeout(LIMIT):
            if written:
                with pytest.raises(aiohttp.ClientPayloadError):
                    await browser.get("/records/export?format=jsonl")
            else:
                assert (await browser.get("/records/export?format=jsonl")).status == 503

    async def test_pages_together_hold_each_request_once(
        self, browser: Browser, proxy: Proxy
    ) -> None:
        for n in range(4):
            await browser.post("/try/send", {**FORM, "text": f"{TEXT} {n}"})
        await proxy.app[RECORDER].flush()
        found: list[str] = []
        place: dict[str, int] = {}
        for _ in range(4):
            lines, more = await read_latest(proxy.app[STORE], "anonymous", most=1, **place)
            found += [line["request"] for line in lines]
            assert all(line["mechanism"] == "selective" for line in lines)
            assert all(line["status"] == 200 for line in lines)
            if more is not None:
                place = {"before": more}
        assert len(set(found)) == 4

    async def test_hostile_names_are_escaped(self, table: EmbeddingTable) -> None:
        bad = "<script>alert(1)</script>"
        key, digest = new_key()
        server = {"operators": [bad], "keys": [{"tenant": bad, "sha256": digest}]}
        remote = {"models": {bad: "m", MODEL: "m"}}
        async with (
            running_proxy(table, {"server": server, "remote": remote, **BATCHES}) as proxy,
            browsing(proxy.root) as browser,
        ):
            await browser.log_in(key)
            await browser.post("/try/send", {**FORM, "model": bad})
            for path in ("", "/batches", "/budgets", "/records", "/health", "/keys"):
                page = await browser.get(path)
                assert page.status == 200
                assert "<script>alert" not in page.text
                assert "&lt;script&gt;" in page.text


class TestKeys:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"keys": [{"tenant": "root", "sha256": OPERATOR[1]}]} | ROOT}

    async def test_a_key_is_made_restricted_and_revoked(self, proxy: Proxy) -> None:
        async with browsing(proxy.root) as browser:
            await browser.log_in(OPERATOR[0])
            form = {"tenant": "alice", "epsilon_max": "8", "models": MODEL, "budget": "day=50"}
            page = await browser.post("/keys", form)
            found = re.search(r'value="(sk-inferdpt-([0-9a-f]{12})-[^"]+)"', page.text)
            assert found is not None
            key, id_ = found.groups()
            assert key not in (await browser.get("/keys")).text
            holder = await proxy.app[KEYRING].match(key)
            assert holder is not None
            assert holder.client.grant.epsilon_max == 8
            assert holder.client.grant.budget.day == 50
            await browser.post("/keys/restrict", {"id": id_, "epsilon_max": "3"})
            holder = await proxy.app[KEYRING].match(key)
            assert holder is not None
            assert holder.client.grant.epsilon_max == 3
            assert holder.client.grant.models is None
            await browser.post("/keys/revoke", {"id": id_})
            assert await proxy.app[KEYRING].match(key) is None
            for path in ("/keys/revoke", "/keys/restrict"):
                assert (await browser.post(path, {"id": id_})).status == 400

    async def test_the_form_holds_every_limit_as_it_is(self, proxy: Proxy) -> None:
        """A limit that the form left out would be lifted by the next change."""
        assert {*keys.LISTS, *keys.NUMBERS, *keys.PAIRS, *keys.LINES} == {*Grant.model_fields}
        grant = Grant(deny=("Smith, John", "Oslo"), thresholds={"PERSON": 0.25}, epsilon_max=8)
        _, key = await proxy.app[KEYRING].create("alice", grant)
        async with browsing(proxy.root) as browser:
            await browser.log_in(OPERATOR[0])
            page = await browser.get("/keys")
            form = page.text.partition("/keys/restrict")[2].partition("</form>")[0]
            pairs = re.findall(r'name="(\w+)" value="([^"]*)"', form)
            pairs += re.findall(r'<textarea name="(\w+)"[^>]*>([^<]*)<', form)
            await browser.post("/keys/restrict", {k: html.unescape(v) for k, v in pairs})
        holder = await proxy.app[KEYRING].match(key)
        assert holder is not None
        assert holder.client.grant == grant

    @pytest.mark.parametrize(
        "wrong",
        [{"tenant": ""}, {"epsilon_max": "x"}, {"burst": "3"}, {"budget": "week=3"}],
    )
    async def test_a_wrong_limit_makes_no_key(self, proxy: Proxy, wrong: dict[str, str]) -> None:
        async with browsing(proxy.root) as browser:
            await browser.log_in(OPERATOR[0])
            assert (await browser.post("/keys", {"tenant": "alice", **wrong})).status == 400
            assert await proxy.app[KEYRING].list_keys() == []


@pytest.mark.parametrize("written", ["\x00answer\x00", "\x00", "answer"])
async def test_no_text_moves_the_place_of_the_answer(
    browser: Browser, proxy: Proxy, written: str
) -> None:
    proxy.remote.text = proxy.local.text = f"before {written} after"
    page = await browser.post("/try/send", FORM | {"text": f"{TEXT} {written}"})
    assert page.status == 200
    parts = page.text.split('class="text answer"')
    assert [part.count("What the remote wrote</h2>") for part in parts] == [1, 0]
    assert "after</div>" in parts[1]
    assert page.text.count("<h2>Receipt</h2>") == page.text.count("</html>") == 1


OPERATOR = new_key()
ROOT = {"operators": ["root"]}


async def test_canaries_stay_in_the_page_that_they_were_typed_into(table: EmbeddingTable) -> None:
    canaries = Canaries(20261123)
    made = {name: new_key() for name in ("alice", "bob")}
    listed = [{"tenant": name, "sha256": digest} for name, (_, digest) in made.items()]
    server = {"keys": listed, "operators": ["bob"]}
    text = f"{canaries.word()} met {canaries.word()}@{canaries.word()}.com"
    async with (
        running_proxy(table, PIPELINE | {"server": server}) as proxy,
        browsing(proxy.root) as alice,
        browsing(proxy.root) as bob,
    ):
        await alice.log_in(made["alice"][0])
        first = await alice.post("/try", FORM | {"text": text})
        assert canaries.found_in(first.text.encode()) == canaries.all
        await alice.post("/try/send", FORM | {"text": text})
        await alice.post("/try", FORM | {"text": text, "epsilon_1": canaries.word()})
        await bob.log_in(made["bob"][0])
        for path in ("", "/budgets?tenant=alice", "/records?tenant=alice", "/health", "/keys"):
            for browser in (alice, bob):
                page = await browser.get(path)
                assert not canaries.found_in(page.text.encode()), path
        export = await bob.get("/records/export?tenant=alice&format=jsonl")
        assert export.text
        assert not canaries.found_in(export.text.encode())
        assert not canaries.found_in("".join(proxy.log).encode())


async def test_the_figures_of_budgets_and_health_are_those_of_the_proxy(
    browser: Browser, proxy: Proxy
) -> None:
    await browser.post("/try/send", FORM | {"mechanism_1": "rantext_ldp", "epsilon_1": "6"})
    account = (await proxy.app[LEDGER].figures("anonymous"))["total"]
    assert account["mechanisms"]["rantext_ldp"]["epsilon"] == account["epsilon"]["charged"]
    page = await browser.get("/budgets")
    assert f"{account['epsilon']['charged']:g}" in page.text
    assert 'class="series-0"' in page.text
    page = await browser.get("/health")
    assert "remote" in page.text
    assert "not asked" in page.text
    asked = await browser.post("/health", {})
    assert "not asked" not in asked.text


def test_words_are_compared_up_to_a_limit() -> None:
    one, other = "a b  c\nd", "a x  c\nd e"
    cut = compare_words(one, other)
    assert cut is not None
    assert "".join(piece.text for piece in cut[0]) == one
    assert "".join(piece.text for piece in cut[1]) == other
    assert [piece.text for piece in cut[0] if piece.changed] == ["b"]
    assert [piece.text for piece in cut[1] if piece.changed] == ["x", "e"]
    assert compare_words("a " * (MOST + 1), "b") is None


def test_a_chart_keeps_proportions() -> None:
    charts = draw_stacks([("1", {"a": 1.0, "b": 3.0}), ("2", {"a": 2.0})], ["a", "b"])
    assert charts is not None
    for chart in charts:
        heights = [bar.height for bar in chart.bars]
        assert heights[1] == pytest.approx(3 * heights[0], rel=0.01)
        assert all(bar.x >= 0 and bar.x + bar.width <= chart.width for bar in chart.bars)
        assert all(bar.y >= 0 and bar.y + bar.height <= chart.height for bar in chart.bars)
    assert draw_stacks([("1", {})], []) is None


def test_figures_are_those_at_the_setting_or_beside_it() -> None:
    (same,) = find_figures("rantext_ldp", 6.0)
    assert same["epsilon"] == 6
    assert [each["epsilon"] for each in find_figures("rantext_ldp", 7.0)] == [6, 8]
    assert find_figures("madlib", 6.0) == []
