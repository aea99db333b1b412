"""Private texts of one size, and requests for them and for the account."""

from __future__ import annotations

from typing import Any

import aiohttp

from tests.proxy.conftest import MODEL, Proxy

__all__ = ["SETTINGS", "WORDS", "account", "ask", "report"]

SETTINGS: dict[str, Any] = {"privacy": {"mechanism": "rantext_ldp", "epsilon": 6}}
WORDS = 8


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
