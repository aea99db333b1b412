"""The time of a request does not tell which texts other clients have sent."""

from __future__ import annotations

import pytest

from perturb.selective.policies import PatternPolicy
from tests.proxy.conftest import MODEL, Proxy

TEXT = "Write to anna@example.org by Monday."


async def test_a_text_is_read_once_however_often_it_is_sent(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, find = [], PatternPolicy.find

    def count(policy: PatternPolicy, text: str) -> object:
        texts.append(text)
        return find(policy, text)

    monkeypatch.setattr(PatternPolicy, "find", count)
    for _ in range(2):
        await proxy.client().chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": TEXT}]
        )
        assert texts.count(TEXT) == 1
