"""Send the requests of a verification, and judge what arrived and what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import aiohttp

from proxy.verify.trials import Trial
from proxy.verify.upstream import Upstream, list_strings
from proxy.verify.values import Value, find_values
from proxy.verify.ways_back import read_answer

__all__ = ["FAILURES", "Advance", "Cell", "ProbeResult", "Verdict", "probe"]

Advance = Callable[[int, int], None]
AT_ONCE = 8
SECONDS = 60.0  # for one request
Verdict = Literal["clean", "restored", "refused", "LEAK", "CHANGED", "ERROR"]
FAILURES: tuple[Verdict, ...] = ("LEAK", "CHANGED", "ERROR")


@dataclass(frozen=True)
class Cell:
    """Hold the verdict on a value or a document at a position, or on its way back.

    Attributes:
        leaked: the types of the values that arrived.
    """

    endpoint: str
    place: str
    kind: str
    verdict: Verdict
    leaked: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProbeResult:
    """Hold what a verification found.

    Attributes:
        cells: the verdicts, by endpoint, position and kind.
        faults: the places of the bodies that arrived that break the form of their endpoint.
        arrived: whether anything reached the upstream.
    """

    cells: tuple[Cell, ...]
    faults: tuple[str, ...]
    arrived: bool

    def count(self, verdict: Verdict) -> int:
        """Count the requests with a verdict."""
        return sum(cell.verdict == verdict for cell in self.cells)

    @property
    def failures(self) -> list[Cell]:
        """Return the cells whose verdict is a failure."""
        return [cell for cell in self.cells if cell.verdict in FAILURES]

    @property
    def proved(self) -> bool:
        """Tell if requests arrived in their form, and none failed."""
        return self.arrived and not self.failures and not self.faults


async def probe(
    base_url: str,
    upstream: Upstream,
    trials: Sequence[Trial],
    *,
    api_key: str,
    advance: Advance = lambda done, total: None,
) -> ProbeResult:
    """Test a gateway whose upstream is `upstream`.

    Args:
        base_url: the address that clients of the gateway use, with `/v1`.
        advance: called with the number of requests that are done, and of all.
    """
    headers = {
        "Authorization": f"Bearer {api_key}",
        "x-api-key": api_key,
        "anthropic-version": "2023-06-01",
    }
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    gate = asyncio.Semaphore(AT_ONCE)
    done = 0
    advance(done, len(trials))
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:

        async def post(trial: Trial) -> tuple[int, str]:
            nonlocal done
            url = f"{base_url}/{trial.endpoint}"
            try:
                async with gate, session.post(url, json=trial.body) as reply:
                    return reply.status, await reply.text()
            except (aiohttp.ClientError, TimeoutError):
                return 599, ""
            finally:
                done += 1
                advance(done, len(trials))

        answers = await asyncio.gather(*map(post, trials))
    seen = find_values((value for trial in trials for value in trial.values), upstream.texts)
    cells = (_judge(trial, *answer, seen) for trial, answer in zip(trials, answers, strict=True))
    return ProbeResult(_arrange(cells), tuple(sorted(upstream.faults)), bool(upstream.texts))


def _judge(trial: Trial, status: int, answer: str, seen: Collection[Value]) -> Cell:
    leaked = tuple(sorted({value.type for value in trial.values if value in seen}))
    verdict: Verdict = "LEAK" if leaked else _judge_answer(trial, status, answer)
    return Cell(trial.endpoint, trial.place, trial.kind, verdict, leaked)


def _judge_answer(trial: Trial, status: int, answer: str) -> Verdict:
    if status >= 400:
        return "refused" if status < 500 else "ERROR"
    if trial.answer is None:
        return "clean"
    try:
        came_back = read_answer(trial.endpoint, answer)
    except ValueError:
        return "ERROR"
    if came_back == trial.answer:
        return "restored"
    # Another text of the request, as it was: the document was not sent.
    return "clean" if came_back in list_strings(trial.body) else "CHANGED"


def _arrange(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    return tuple(sorted(cells, key=lambda cell: (cell.endpoint, cell.place, cell.kind)))
