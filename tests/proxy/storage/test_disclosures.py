"""Releases without a bound, and disclosures of a conversation: accounts, budgets, receipts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import openai
import pytest
from sqlalchemy import Connection

from perturb import EmbeddingTable
from proxy.api.app_keys import LEDGER, METRICS, STORE
from proxy.cli.main import main
from proxy.config.store import StoreSettings as Settings
from proxy.storage.ledger import Channel, Charge, Disclosure, Ledger, Price
from proxy.storage.opening import open_store
from proxy.storage.store import Store
from tests.databases import database, postgres_url
from tests.perturb.marking import WORDS
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.storage.reports import account

__all__ = ["database", "postgres_url"]

PLAIN = "the nurse who was on call that night wrote the wrong dose on the chart"  # 15 words
TOKENS = len(PLAIN.split())
NONE = {"bound": "none", "epsilon": "infinity", "delta": 0.0}


async def ask(proxy: Proxy, *texts: str, system: str = "", **inferdpt: Any) -> Any:
    """Ask with user turns; return the receipt."""
    turns: list[Any] = [{"role": "system", "content": system}] if system else []
    turns += [{"role": "user", "content": text} for text in texts]
    done = await proxy.client().chat.completions.create(
        model=MODEL, messages=turns, extra_body={"inferdpt": inferdpt}
    )
    return (done.model_extra or {})["inferdpt"]


class TestUnbounded:
    async def test_verbatim_text_makes_the_total_say_that_it_has_no_bound(
        self, table: EmbeddingTable, tmp_path: Any, monkeypatch: Any, capsys: Any
    ) -> None:
        folder = {"store": {"folder": str(tmp_path / "s")}}
        over = {
            "privacy": {"mechanism": "rantext_ldp", "epsilon": 1},
            "limits": {"mechanisms": ["selective"]},
        }
        async with running_proxy(table, merge(over, folder)) as proxy:
            await ask(proxy, "eight words that go through the mechanism here")
            before = await account(proxy)
            receipt = await ask(proxy, PLAIN, mechanism="selective", receipt="full")
            assert proxy.sent()[0]["content"] == PLAIN
            after = await account(proxy)
            metrics = proxy.app[METRICS].render().decode()
        assert before["total"]["epsilon"]["best"] == {
            "bound": "basic",
            "epsilon": 8.0,
            "delta": 0.0,
        }
        total = after["total"]
        assert (total["tokens"], total["unbounded"]) == (8, TOKENS)
        assert (total["epsilon"]["basic"], total["epsilon"]["best"]) == ("infinity", NONE)
        assert total["epsilon"]["proved_part"] == {
            "basic": 8.0,
            "best": before["total"]["epsilon"]["best"],
        }
        assert receipt["unbounded"] == receipt["texts"][0]["unbounded"] == TOKENS
        assert receipt["budget"]["charged"]["unbounded"] == TOKENS
        assert f'inferdpt_ledger_unbounded{{tenant="anonymous"}} {TOKENS}.0' in metrics
        monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "s"))
        monkeypatch.chdir(tmp_path)
        assert await asyncio.to_thread(main, ["ledger"]) == 0
        (line,) = [x for x in capsys.readouterr().out.splitlines() if x.startswith("anonymous")]
        shown = f"anonymous in all 2 8 {TOKENS} 8 no bound no bound 0 8 8 for 8 tokens"
        assert line.split() == shown.split()

    async def test_every_token_of_a_nominal_mechanism_counts(self, table: EmbeddingTable) -> None:
        async with running_proxy(table, {"privacy": {"mechanism": "rantext"}}) as proxy:
            receipt = await ask(proxy, PLAIN)
            total = (await account(proxy))["total"]
        assert receipt["unbounded"] == total["unbounded"] == total["tokens"] == TOKENS
        assert total["epsilon"]["nominal"] == 6.0 * TOKENS
        assert total["epsilon"]["best"] == NONE
        assert total["epsilon"]["proved_part"]["basic"] == 0

    @pytest.mark.parametrize("mechanism", ["selective", "rantext"])
    async def test_a_budget_of_zero_refuses_it(
        self, table: EmbeddingTable, mechanism: str
    ) -> None:
        over = {
            "privacy": {"mechanism": mechanism},
            "limits": {"budget_unbounded": {"total": 0}, "mechanisms": ["rantext_ldp"]},
        }
        async with running_proxy(table, over) as proxy:
            with pytest.raises(openai.PermissionDeniedError) as info:
                await ask(proxy, PLAIN)
            assert info.value.code == "privacy_budget_exceeded"
            assert f"costs {TOKENS} tokens without a bound, 0 are left" in info.value.message
            assert proxy.remote.received == []
            assert (await proxy.app[STORE].info())["disclosures"] == 0
            receipt = await ask(proxy, PLAIN, mechanism="rantext_ldp")
            assert receipt["budget"]["remaining"]["unbounded"] == {"total": 0}
            assert len(proxy.remote.bodies) == 1

    async def test_at_the_limit_the_local_model_may_go_on_alone(
        self, table: EmbeddingTable
    ) -> None:
        limits = {"budget_unbounded": {"request": TOKENS - 1}, "on_budget": "local_only"}
        over = {"privacy": {"mechanism": "selective", "parameters": WORDS}, "limits": limits}
        async with running_proxy(table, over) as proxy:
            receipt = await ask(proxy, PLAIN)
            assert receipt["budget"]["exceeded"] == "request"
            nothing = {"tokens": 0, "unbounded": 0, "epsilon": 0.0, "epsilon_nominal": 0.0}
            assert receipt["budget"]["charged"] == receipt["budget"]["disclosed"] == nothing
            assert proxy.remote.received == []


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"privacy": {"mechanism": "rantext_ldp", "epsilon": 6}}


def report(number: int) -> str:
    return f"Report {number} the board met on Monday to decide"  # eight words


class TestDisclosed:
    async def test_a_conversation_names_what_it_reuses(self, proxy: Proxy) -> None:
        await ask(proxy, report(1))
        again = await ask(proxy, report(1), system="Another conversation.")
        await ask(proxy, report(1), system="Another conversation.")  # resent
        await ask(proxy, report(1), report(2), system="Another conversation.")
        conversations = (await account(proxy))["conversations"]
        first, second = sorted(conversations.values(), key=lambda c: c["requests"])
        assert again["budget"]["charged"]["tokens"] == 0
        assert again["budget"]["disclosed"] == {
            "tokens": 8,
            "unbounded": 0,
            "epsilon": 48.0,
            "epsilon_nominal": 0.0,
        }
        assert (first["requests"], first["tokens"]) == (1, 8)
        assert (second["requests"], second["tokens"]) == (3, 8)
        assert first["disclosed"]["tokens"] == 8
        assert second["disclosed"]["tokens"] == 16
        assert second["disclosed"]["epsilon"]["basic"] == 96.0
        assert second["epsilon"]["basic"] == 48.0

    async def test_nominal_and_unbounded_tokens_are_named_too(self, table: EmbeddingTable) -> None:
        async with running_proxy(
            table, {"privacy": {"mechanism": "selective", "parameters": WORDS}}
        ) as proxy:
            text = f"{PLAIN} of Kowalewski"
            await ask(proxy, text)
            await ask(proxy, text, system="Another conversation.")
            conversations = (await account(proxy))["conversations"].values()
        charged = sorted(c["unbounded"] for c in conversations)
        assert charged == [0, TOKENS + 1]
        for conversation in conversations:
            disclosed = conversation["disclosed"]
            assert (disclosed["tokens"], disclosed["unbounded"]) == (1, TOKENS + 1)
            assert disclosed["epsilon"]["nominal"] == 6.0
            assert disclosed["epsilon"]["best"] == NONE

    async def test_a_conversations_budget_is_about_new_text(
        self, table: EmbeddingTable, settings: dict[str, Any]
    ) -> None:
        over = merge(settings, {"limits": {"budget": {"conversation": 48}}})
        async with running_proxy(table, over) as proxy:
            await ask(proxy, report(1))
            await ask(proxy, report(1), report(2), system="Another conversation.")
            with pytest.raises(openai.PermissionDeniedError):
                await ask(proxy, report(1), report(3), system="Another conversation.")
            (disclosed,) = [
                c["disclosed"]["tokens"]
                for c in (await account(proxy))["conversations"].values()
                if c["requests"] == 1 and c["disclosed"]["tokens"] > 8
            ]
            assert disclosed == 16  # what was refused is not in it

    async def test_replicas_count_a_release_once(
        self, table: EmbeddingTable, settings: dict[str, Any], database: dict[str, Any]
    ) -> None:
        async with AsyncExitStack() as stack:
            proxies = [
                await stack.enter_async_context(
                    running_proxy(table, merge(settings, {"store": database}))
                )
                for _ in range(2)
            ]
            await asyncio.gather(*(ask(proxies[i % 2], report(i % 3)) for i in range(30)))
            figures = await proxies[0].app[LEDGER].figures("anonymous")
            info = await proxies[0].app[STORE].info()
        assert [c["disclosed"]["tokens"] for c in figures["conversations"].values()] == [8] * 3
        assert figures["total"]["tokens"] == 24
        assert info["disclosures"] == 3


class TestLedger:
    @pytest.fixture
    async def store(self, database: dict[str, Any]) -> AsyncIterator[Store]:
        async with open_store(Settings(**database)) as opened:
            yield opened

    async def charge(self, store: Store, *disclosed: Disclosure, fresh: bool = True) -> Any:
        ledger = Ledger(store, delta=1e-6)

        def work(connection: Connection) -> Charge:
            ledger.lock(connection, "t")
            return ledger.charge(
                connection,
                "t",
                [(disclosed[0].conversation, disclosed[0].price)] if fresh else [],
                conversations=[one.conversation for one in disclosed],
                disclosed=disclosed,
                budgets={},
            )

        return await store.write(work, lane="t")

    async def test_a_release_counts_once_in_each_conversation(self, store: Store) -> None:
        cost = Price(8, 48.0, 0.0, Channel("rantext_ldp", 6.0, False), 8)
        other = Price(1, 0.0, 6.0, unbounded=22)
        one, two = Disclosure("one", b"1" * 32, cost), Disclosure("two", b"1" * 32, cost)
        done = await self.charge(store, one, two)
        assert (done.charged.tokens, done.disclosed.tokens) == (8, 8)
        done = await self.charge(store, one, one, fresh=False)
        assert (done.charged.tokens, done.disclosed.tokens) == (0, 8)
        await self.charge(store, Disclosure("two", b"2" * 32, other))
        figures = await Ledger(store, delta=1e-6).figures("t")
        sums = {
            name: (c["tokens"], c["disclosed"]["tokens"], c["disclosed"]["unbounded"])
            for name, c in figures["conversations"].items()
        }
        assert sums == {"one": (8, 8, 0), "two": (1, 9, 22)}
        epsilon = figures["conversations"]["two"]["disclosed"]["epsilon"]
        assert epsilon["proved_part"]["basic"] == 48.0
        assert (epsilon["nominal"], epsilon["best"]) == (6.0, NONE)
        assert figures["total"]["tokens"] == 9
