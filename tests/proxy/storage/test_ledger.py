"""The ledger: what is charged, that no limit is passed, that a crash never under-charges."""

from __future__ import annotations

import asyncio
import math
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from extraction.dp_prompt.sanitizer import DPPrompt, PromptParameters
from perturb import EmbeddingTable, Perturber, get_mechanism
from proxy.api.app_keys import METRICS, STORE
from proxy.config.store import Budget
from proxy.config.store import Store as Settings
from proxy.errors import ApiError
from proxy.storage.ledger import BudgetExceeded, Ledger
from proxy.storage.prices import Charge, Price, price
from proxy.storage.store import Store, open_store
from tests.databases import database, postgres_url
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.test_serve import serve

__all__ = ["database", "postgres_url"]

WORDS = 8
KILLS = int(os.environ.get("INFERDPT_TEST_KILLS", "2"))


def report(number: int) -> str:
    """A text of eight words, another for each number."""
    return f"Report {number} the board met on Monday to decide"


async def ask(proxy: Proxy, text: str, **inferdpt: Any) -> Any:
    turns: Any = [{"role": "user", "content": text}]
    done = await proxy.client().chat.completions.create(
        model=MODEL, messages=turns, extra_body={"inferdpt": inferdpt}
    )
    return (done.model_extra or {})["inferdpt"]


async def account(proxy: Proxy) -> Any:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{proxy.base_url}/privacy/ledger") as response,
    ):
        assert response.status == 200
        return await response.json()


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"privacy": {"mechanism": "rantext_ldp", "epsilon": 6}}


class TestPrices:
    def cost(self, table: EmbeddingTable, name: str, text: str = report(1)) -> Price:
        sanitizer = Perturber(get_mechanism(name, table, epsilon=6))
        return price(sanitizer, sanitizer.perturb(text))

    def test_a_proved_bound_is_charged_as_such(self, table: EmbeddingTable) -> None:
        found = self.cost(table, "rantext_ldp")
        assert found == Price(8, 48.0, 0.0, ("rantext_ldp", 6.0, False), 8)
        assert self.cost(table, "exponential").channel == ("exponential", 6.0, True)

    def test_what_is_no_bound_is_nominal(self, table: EmbeddingTable) -> None:
        assert self.cost(table, "rantext") == Price(8, 0.0, 48.0, unbounded=8)
        assert self.cost(table, "selective", "Mr. Bartholomew met me.").nominal == 6.0

    def test_tokens_without_a_bound_are_counted(self, table: EmbeddingTable) -> None:
        plain = "the nurse who was on call that night wrote the wrong dose on the chart and nobody"
        text = f"{plain} saw it until the morning"
        assert len(text.split()) == 22
        found = self.cost(table, "selective", text)
        assert found == Price(0, unbounded=22)
        part = self.cost(table, "selective", f"{text}, said Mr. Kowalewski: \u2026 \n!")
        assert (part.tokens, part.unbounded) == (1, 24)
        assert self.cost(table, "selective", "这个病人昨天死了😀").unbounded >= 6
        for name in ("santext_plus", "custext", "custext_plus"):
            assert self.cost(table, name).unbounded == 8
        for name in ("rantext_ldp", "exponential", "santext", "tem", "madlib", "mahalanobis"):
            assert self.cost(table, name).unbounded == 0

    def test_replaced_words_have_the_bound_of_the_inner_mechanism(
        self, table: EmbeddingTable
    ) -> None:
        text = "Mr. Bartholomew Kowalewski met me."
        for inner, more in (("rantext_ldp", 0), ("rantext", 2)):
            mechanism = get_mechanism("selective", table, epsilon=6, inner=inner)
            sanitizer = Perturber(mechanism)
            found = price(sanitizer, sanitizer.perturb(text))
            assert (found.tokens, found.unbounded) == (2, 3 + more)

    def test_a_metric_bound_is_that_of_the_farthest_words(self, table: EmbeddingTable) -> None:
        found = self.cost(table, "santext")
        assert found.channel is not None
        assert found.proved == pytest.approx(8 * found.channel[1])
        assert found.proved > 48
        assert found.count == 8

    def test_a_text_without_words_costs_nothing(self, table: EmbeddingTable) -> None:
        for name in ("rantext", "rantext_ldp", "selective"):
            assert self.cost(table, name, "2031 ...").epsilon == 0

    def test_a_paraphrase_costs_its_cap(self, table: EmbeddingTable) -> None:
        class Made:
            async def generate(self, *_: Any) -> Any:
                from extraction.dp_prompt.paraphrase import Paraphrase

                return Paraphrase(text="two words", tokens=3)

            def identity(self) -> dict[str, Any]:
                return {}

        def cost(**more: Any) -> Price:
            parameters = PromptParameters(epsilon=2.0, max_tokens=20, **more)
            sanitizer = DPPrompt(Made(), parameters, table.vocabulary)  # type: ignore[arg-type]
            return price(sanitizer, sanitizer.perturb("a text"))

        found = cost(clip=(-1.0, 1.0))
        assert (found.tokens, found.proved, found.count, found.unbounded) == (3, 40.0, 20, 0)
        for nominal in (cost(mode="quasi", clip=(-1.0, 1.0)), cost(mode="topk", top_k=5)):
            assert nominal == Price(3, nominal=6.0, unbounded=3)


@pytest.fixture
async def store(database: dict[str, Any]) -> AsyncIterator[Store]:
    async with open_store(Settings(**database)) as opened:
        yield opened


class TestAccounts:
    async def charge(
        self, store: Store, tenant: str, *costs: Price, conversation: str = "c", **limits: Any
    ) -> Charge:
        ledger = Ledger(store, delta=1e-6)
        async with store.writing() as connection:
            await ledger.lock(connection, tenant)
            return await ledger.charge(
                connection,
                tenant,
                [(conversation, cost) for cost in costs],
                conversations=[conversation],
                budgets=limits,
            )

    async def test_sums_by_tenant_day_and_conversation(self, store: Store) -> None:
        ldp = Price(10, 60.0, 0.0, ("rantext_ldp", 6.0, False), 10)
        narrow = Price(400, 200.0, 0.0, ("exponential", 0.5, True), 400)
        await self.charge(store, "a", ldp, Price(5, 0.0, 30.0))
        await self.charge(store, "a", narrow, conversation="d")
        await self.charge(store, "a")
        await self.charge(store, "b", ldp)
        ledger = Ledger(store, delta=1e-6)
        figures = await ledger.figures("a")
        total = figures["total"]
        assert (total["requests"], total["tokens"]) == (3, 415)
        epsilon = total["epsilon"]
        proved = epsilon["proved_part"]
        assert (epsilon["charged"], proved["basic"], epsilon["nominal"]) == (290.0, 260.0, 30.0)
        rho = 10 * 36 / 2 + 400 * 0.25 / 8
        zcdp = rho + 2 * math.sqrt(rho * math.log(1e6))
        assert proved["best"]["epsilon"] == pytest.approx(min(260.0, zcdp))
        (day,) = figures["days"].values()
        assert day == total
        conversations = figures["conversations"]
        assert {name: c["tokens"] for name, c in conversations.items()} == {"c": 15, "d": 400}
        best = conversations["d"]["epsilon"]["best"]
        assert (best["bound"], best["delta"]) == ("zCDP", 1e-6)
        assert (await ledger.figures("b"))["total"]["tokens"] == 10
        assert (await ledger.figures("nobody"))["total"]["tokens"] == 0
        assert list(await ledger.totals()) == ["a", "b"]

    async def test_the_operator_gets_the_best_composition_there_is(self, store: Store) -> None:
        await self.charge(store, "a", Price(400, 200.0, 0.0, ("rantext_ldp", 0.5, False), 400))
        ledger = Ledger(store, delta=1e-6)
        quick, exact = [
            (await ledger.figures("a", exact=exact))["total"]["epsilon"]["best"]
            for exact in (False, True)
        ]
        assert (quick["bound"], exact["bound"]) == ("zCDP", "privacy loss distribution")
        assert exact["epsilon"] < quick["epsilon"] < 200

    async def test_an_account_with_unbounded_tokens_has_no_bound(self, store: Store) -> None:
        ldp = Price(10, 60.0, 0.0, ("rantext_ldp", 6.0, False), 10)
        await self.charge(store, "a", ldp)
        await self.charge(store, "a", ldp, Price(0, unbounded=22), conversation="d")
        await self.charge(store, "nominal", Price(1, nominal=6.0))
        figures = await Ledger(store, delta=1e-6).figures("a", exact=True)
        none = {"bound": "none", "epsilon": "infinity", "delta": 0.0}
        (day,) = figures["days"].values()
        for whole, proved in (
            (figures["total"], 120.0),
            (day, 120.0),
            (figures["conversations"]["d"], 60.0),
        ):
            epsilon = whole["epsilon"]
            assert whole["unbounded"] == 22
            assert (epsilon["basic"], epsilon["best"]) == ("infinity", none)
            assert epsilon["proved_part"]["basic"] == proved
            assert epsilon["proved_part"]["best"]["epsilon"] <= proved
        bounded = figures["conversations"]["c"]
        assert (bounded["unbounded"], bounded["epsilon"]["basic"]) == (0, 60.0)
        assert bounded["epsilon"]["best"]["bound"] in ("basic", "zCDP")
        nominal = (await Ledger(store, delta=1e-6).figures("nominal"))["total"]
        assert nominal["epsilon"]["best"] == none
        assert (await Ledger(store, delta=1e-6).totals())["a"]["unbounded"] == 22

    @pytest.mark.parametrize("scope", ["request", "conversation", "day", "total"])
    async def test_each_limit_holds_by_itself(self, store: Store, scope: str) -> None:
        cost = Price(10, 60.0, unbounded=5)
        for unit, one, two in (
            ("epsilon", 60.0, 130.0),
            ("tokens", 12, 22),
            ("unbounded", 5, 10),
        ):
            limits = {unit: Budget(**{scope: one if scope == "request" else two})}
            charged = await self.charge(store, unit, cost, **limits)
            left = {unit: list(rest) for unit, rest in charged.left.items() if rest}
            assert left == {unit: [scope]}
            await self.charge(store, unit, cost, **limits)
            with pytest.raises(BudgetExceeded) as info:
                await self.charge(store, unit, cost, Price(3, 12.0, unbounded=1), **limits)
            assert info.value.scope == scope
            await self.charge(store, unit, **limits)  # what costs nothing goes through
            total = (await Ledger(store, delta=1e-6).figures(unit))["total"]
            assert (total["tokens"], total["requests"]) == (20, 3)

    async def test_rounding_refuses_nobody(self, store: Store) -> None:
        for _ in range(10):
            await self.charge(store, "a", Price(1, 0.1), epsilon=Budget(total=1.0))
        with pytest.raises(ApiError):
            await self.charge(store, "a", Price(1, 0.1), epsilon=Budget(total=1.0))


async def test_only_the_first_release_is_charged(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    over = {"limits": {"budget": {"day": 500}}}
    async with running_proxy(table, merge(settings, over)) as proxy:
        first = await ask(proxy, report(1))
        again = await ask(proxy, report(1))
        other = await ask(proxy, report(2))
        figures = await account(proxy)
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{proxy.root}/metrics") as response,
        ):
            metrics = await response.text()
    epsilon = 6.0 * WORDS
    cost = {"tokens": 8, "unbounded": 0, "epsilon": epsilon, "epsilon_nominal": 0.0}
    assert first["budget"]["charged"] == first["budget"]["disclosed"] == cost
    assert first["budget"]["remaining"]["epsilon"] == {"day": 500 - epsilon}
    assert again["budget"]["charged"]["epsilon"] == 0
    assert again["budget"]["disclosed"] == cost
    assert again["released_before"] == again["released"]
    assert other["budget"]["remaining"]["epsilon"] == {"day": 500 - 2 * epsilon}
    assert figures["object"] == "privacy.ledger"
    assert figures["total"]["requests"] == 3
    assert figures["total"]["epsilon"]["charged"] == 2 * epsilon
    assert sorted(c["requests"] for c in figures["conversations"].values()) == [1, 2]
    assert f'inferdpt_ledger_proved{{tenant="anonymous"}} {2 * epsilon}' in metrics


async def test_the_gauges_know_what_was_charged_before_a_restart(
    table: EmbeddingTable, settings: dict[str, Any], tmp_path: Path
) -> None:
    over = merge(settings, {"store": {"folder": str(tmp_path / "state")}})
    async with running_proxy(table, over) as proxy:
        await ask(proxy, report(1))
    async with running_proxy(table, over) as proxy:
        metrics = proxy.app[METRICS].render().decode()
    assert f'inferdpt_ledger_tokens{{tenant="anonymous"}} {WORDS}.0' in metrics


async def test_over_the_limit_nothing_leaves_and_nothing_is_kept(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    over = {"limits": {"budget": {"total": 6.0 * WORDS}}}
    async with running_proxy(table, merge(settings, over)) as proxy:
        await ask(proxy, report(1))
        with pytest.raises(openai.PermissionDeniedError) as info:
            await ask(proxy, report(2))
        assert info.value.code == "privacy_budget_exceeded"
        assert info.value.response.headers["x-should-retry"] == "false"
        assert "Report" not in info.value.response.text
        await ask(proxy, report(1))  # an earlier release costs nothing
        await ask(proxy, report(3), local_only=True)
        assert len(proxy.remote.bodies) == 2
        assert (await account(proxy))["total"]["tokens"] == 8
        figures = await proxy.app[STORE].info()
        assert figures["releases"] == 1


async def test_the_local_model_may_go_on_alone(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    over = {"limits": {"budget": {"request": 10}, "on_budget": "local_only"}}
    async with running_proxy(table, merge(settings, over)) as proxy:
        receipt = await ask(proxy, report(1))
        assert receipt["budget"]["exceeded"] == "request"
        assert "not called" in receipt["remote"][0]
        assert receipt["released"] == 0
        assert proxy.remote.received == []
        assert (await account(proxy))["total"]["tokens"] == 0


async def test_a_request_without_private_text_is_counted(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    async with running_proxy(table, settings) as proxy:
        for text in ("<public>Write a poem.</public>", " \n "):
            await ask(proxy, text)
        total = (await account(proxy))["total"]
        assert (total["requests"], total["tokens"]) == (len(proxy.remote.bodies), 0) == (2, 0)
        await ask(proxy, report(1), local_only=True)
        assert (await account(proxy))["total"]["requests"] == 2


@pytest.mark.parametrize("requests", [60, pytest.param(200, marks=pytest.mark.hostile)])
async def test_concurrent_requests_stay_within_the_budget(
    table: EmbeddingTable, settings: dict[str, Any], database: dict[str, Any], requests: int
) -> None:
    """Two replicas, many requests at once, a budget for a quarter of them."""
    paid = requests // 4
    over = {
        "store": database,
        "limits": {"budget": {"total": paid * 6.0 * WORDS}, "concurrent_requests": 500},
    }
    async with AsyncExitStack() as stack:
        proxies = [
            await stack.enter_async_context(running_proxy(table, merge(settings, over)))
            for _ in range(2)
        ]
        outcomes = await asyncio.gather(
            *(ask(proxies[i % 2], report(i)) for i in range(requests)), return_exceptions=True
        )
        refused = [o for o in outcomes if isinstance(o, openai.PermissionDeniedError)]
        assert len(refused) == requests - paid
        assert sum(len(proxy.remote.bodies) for proxy in proxies) == paid
        total = (await account(proxies[0]))["total"]
        assert (total["requests"], total["tokens"]) == (paid, paid * WORDS)


async def test_clients_that_go_away_leave_the_account_whole(
    table: EmbeddingTable, settings: dict[str, Any], database: dict[str, Any]
) -> None:
    generator = random.Random(1)
    async with running_proxy(table, merge(settings, {"store": database})) as proxy:
        jobs = [asyncio.create_task(ask(proxy, report(i))) for i in range(60)]
        for job in generator.sample(jobs, 40):
            await asyncio.sleep(generator.random() / 50)
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        assert sum(job.cancelled() for job in jobs) > 10
        await ask(proxy, report(1000))
        total = (await account(proxy))["total"]
        info = await proxy.app[STORE].info()
        sent = {body["messages"][0]["content"] for body in proxy.remote.bodies}
        assert total["tokens"] == WORDS * info["releases"] >= WORDS * len(sent)


async def test_a_tenant_that_waits_for_its_turn_takes_nobodys_connection(
    database: dict[str, Any],
) -> None:
    async with open_store(Settings(**database)) as store:
        ledger = Ledger(store, delta=1e-6)
        assert ledger.turn("a") is not ledger.turn("b")
        async with ledger.turn("a"):
            assert ledger.turn("a").locked()
            assert not ledger.turn("b").locked()


async def test_a_crash_never_undercharges(tmp_path: Path) -> None:
    """kill -9 at random moments under load: what the remote received is in the ledger."""
    generator = random.Random()
    received: set[str] = set()
    for attempt in range(KILLS):
        async with serve(
            "--mechanism", "rantext_ldp", "--epsilon", "6", INFERDPT_STATE_DIR=str(tmp_path / "s")
        ) as served:

            async def load(served: Any = served, attempt: int = attempt) -> None:
                async with aiohttp.ClientSession() as session:
                    for i in range(1000):
                        number = generator.randrange(10**6) * KILLS + attempt
                        turns = [{"role": "user", "content": report(number)}]
                        body = {"model": MODEL, "messages": turns}
                        url = f"{served.base_url}/chat/completions"
                        async with session.post(url, json=body) as response:
                            await response.read()
                        assert i < 999

            jobs = [asyncio.create_task(load()) for _ in range(8)]
            await served.remote.started.wait()
            await asyncio.sleep(generator.random())
            served.process.send_signal(signal.SIGKILL)
            await served.process.wait()
            await asyncio.gather(*jobs, return_exceptions=True)
            received |= {body["messages"][0]["content"] for body in served.remote.bodies}
    async with open_store(Settings(folder=str(tmp_path / "s"))) as store:
        total = (await Ledger(store, delta=1e-6).figures("anonymous"))["total"]
        info = await store.info()
    assert received
    assert total["tokens"] >= WORDS * len(received)
    assert total["tokens"] == WORDS * info["releases"]
    assert info["disclosures"] == info["releases"]  # each text in a conversation of its own


@pytest.mark.parametrize(
    ("mechanisms", "delta"),
    [
        (("rantext_ldp",), 1e-9),
        (("surrogate",), 0.0),
        (("surrogate", "rantext_ldp"), 1e-9),
        ((), 1e-9),
    ],
)
async def test_an_account_names_the_guards_share_of_delta(
    proxy: Proxy, mechanisms: tuple[str, ...], delta: float
) -> None:
    for mechanism in mechanisms:
        await ask(proxy, report(1), mechanism=mechanism)
    assert (await account(proxy))["guard_delta_per_text"] == delta


async def test_a_mechanism_that_is_not_installed_any_more_keeps_the_usual_share(
    database: dict[str, Any],
) -> None:
    async with open_store(Settings(**database)) as store:
        ledger = Ledger(store, delta=1e-6)
        spent = Price(1, proved=6.0, channel=("gone", 6.0, False), count=1)
        async with store.writing() as connection:
            await ledger.lock(connection, "t")
            await ledger.charge(connection, "t", [("", spent)], budgets={})
        assert (await ledger.figures("t"))["guard_delta_per_text"] == 1e-9
