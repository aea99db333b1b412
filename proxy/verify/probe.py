"""Send one request for each position and type, and judge what arrived and what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import aiohttp

from proxy.verify.places import PLACES, Place
from proxy.verify.upstream import Upstream
from proxy.verify.values import TYPES, Values
from proxy.verify.ways_back import WAYS

__all__ = ["Advance", "Cell", "Findings", "Verdict", "probe"]

Advance = Callable[[int, int], None]
AT_ONCE = 8
SECONDS = 60.0  # for one request
Verdict = Literal["clean", "LEAK", "refused", "error", "-"]


@dataclass(frozen=True)
class Cell:
    """Hold the verdict on a type at a position, or on its way back."""

    place: str
    type: str
    verdict: str


@dataclass(frozen=True)
class Findings:
    """Hold the verdicts on all positions, and on the ways back, by the endpoint and in order.

    Attributes:
        arrived: whether anything reached the upstream.
    """

    cells: dict[str, tuple[Cell, ...]]
    back: tuple[Cell, ...]
    arrived: bool

    def count(self, verdict: str) -> int:
        """Count the positions and types with a verdict."""
        return sum(cell.verdict == verdict for cells in self.cells.values() for cell in cells)


async def probe(
    base_url: str,
    upstream: Upstream,
    *,
    model: str,
    api_key: str,
    places: Iterable[Place] = PLACES,
    types: Iterable[str] = tuple(TYPES),
    advance: Advance = lambda done, total: None,
) -> Findings:
    """Test a gateway whose upstream is `upstream`.

    Args:
        base_url: the address that clients of the gateway use, with `/v1`.
        advance: called with the number of requests that are done, and of all.
    """
    values, places, types = Values(), tuple(places), tuple(types)
    headers = {
        "Authorization": f"Bearer {api_key}",
        "x-api-key": api_key,
        "anthropic-version": "2023-06-01",
    }
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    gate = asyncio.Semaphore(AT_ONCE)
    planted = [(place, values.make(type_)) for place in places for type_ in types]
    shown = [(way, values.make(type_)) for way in WAYS for type_ in types]
    bodies = [(place, place.plant(value, model)) for place, value in planted]
    total = sum(body is not None for _, body in bodies) + len(shown)
    done = 0
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:

        async def post(endpoint: str, body: dict[str, Any]) -> tuple[int, str]:
            nonlocal done
            try:
                async with gate, session.post(f"{base_url}/{endpoint}", json=body) as reply:
                    return reply.status, await reply.text()
            except (aiohttp.ClientError, TimeoutError):
                return 599, ""
            finally:
                done += 1
                advance(done, total)

        async def plant(place: Place, body: dict[str, Any] | None) -> int | None:
            return None if body is None else (await post(place.endpoint, body))[0]

        statuses = await asyncio.gather(*(plant(*each) for each in bodies))
        answers = await asyncio.gather(
            *(post(way.endpoint, way.ask(value, model)) for way, value in shown)
        )
    seen = "\n".join(upstream.texts).casefold()
    cells: dict[str, list[Cell]] = {}
    for (place, value), status in zip(planted, statuses, strict=True):
        verdict = _judge(status, leaked=value.is_in(seen))
        cells.setdefault(place.endpoint, []).append(Cell(place.name, value.type, verdict))
    back = [
        Cell(way.name, value.type, way.judge(status, told, value))
        for (way, value), (status, told) in zip(shown, answers, strict=True)
    ]
    return Findings({end: tuple(own) for end, own in cells.items()}, tuple(back), bool(seen))


def _judge(status: int | None, *, leaked: bool) -> Verdict:
    if status is None:
        return "-"
    if leaked:
        return "LEAK"
    if 400 <= status < 500:
        return "refused"
    return "clean" if status < 400 else "error"
