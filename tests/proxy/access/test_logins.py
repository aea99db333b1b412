"""Attempts to log in: counted by address, in memory that does not grow with all who ever tried."""

from __future__ import annotations

from contextlib import suppress

import pytest

from proxy.access import admission
from proxy.access.admission import LOGINS, LocalBuckets, Rates
from proxy.errors import ApiError

BURST = int(LOGINS.size)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def count_allowed(limits: Rates, *addresses: str) -> int:
    allowed = 0
    for address in addresses:
        with suppress(ApiError):
            await limits.take_login(address)
            allowed += 1
    return allowed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1", "::ffff:192.0.2.1"),
        ("2001:db8::1", "2001:db8::ffff:2"),
        ("", ""),
    ],
)
async def test_one_site_has_one_bucket(one: str, other: str) -> None:
    clock = Clock()
    limits = Rates(LocalBuckets(clock))
    assert await count_allowed(limits, *[one] * BURST) == BURST
    assert await count_allowed(limits, other) == 0
    clock.now += LOGINS.each
    assert await count_allowed(limits, one, other) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("192.0.2.1", "192.0.2.2"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2"),
        ("2001:db8:0:1::1", "2001:db8:0:2::1"),
    ],
)
async def test_no_site_takes_anothers_attempts(one: str, other: str) -> None:
    limits = Rates(LocalBuckets(Clock()))
    assert await count_allowed(limits, *[one] * 2 * BURST) == BURST
    assert await count_allowed(limits, other) == 1


async def test_full_buckets_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "ROOM", 100)
    clock = Clock()
    buckets = LocalBuckets(clock)
    limits = Rates(buckets)
    for i in range(5_000):
        await limits.take_login(f"10.0.{i // 256}.{i % 256}")
        clock.now += LOGINS.each / 10  # at most ten buckets are not full
        assert len(buckets._full) <= 101
    assert await count_allowed(limits, *["10.1.0.0"] * BURST) == BURST
    for i in range(200):  # all in use: none of them is forgotten
        await limits.take_login(f"10.2.0.{i}")
    assert await count_allowed(limits, "10.1.0.0") == 0
