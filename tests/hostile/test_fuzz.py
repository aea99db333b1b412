"""Nothing private leaves and nothing breaks in thousands of generated requests."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import aiohttp
import pytest

from tests.hostile import tally
from tests.hostile.canary_words import HostileCanaries, MarkedCanaries
from tests.hostile.fuzz_requests import Request, everywhere, odd_fields, random_requests, wishes
from tests.hostile.stage import Stage, chat_body, send
from tests.perturb.marking import WORDS
from tests.proxy.canaries import headers

AT_ONCE = 8
SECONDS = 60.0  # for one answer, on a busy machine
REQUESTS = {HostileCanaries: 500, MarkedCanaries: 500}  # beside every field with odd values
ELSEWHERE = 100
PUBLIC = 100
TOPICS = ("the weather", "old music", "green tea", "long walks")
STATUSES = {200, 204, 400, 403, 404, 405, 413}


@pytest.fixture(
    scope="module", params=[HostileCanaries, MarkedCanaries], ids=["words", "selective"]
)
def kind(request: pytest.FixtureRequest) -> type[HostileCanaries]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def settings(kind: type[HostileCanaries]) -> dict[str, Any]:
    """Let `selective` mark all that the patterns find, of which the marked canaries are."""
    if kind is HostileCanaries:
        return {}
    return {"privacy": {"mechanism": "selective", "parameters": WORDS}}


async def fire(stage: Stage, c: HostileCanaries, requests: Iterable[Request]) -> Counter[int]:
    """Send requests, a few at once, check every answer, and count the statuses."""
    seen: Counter[int] = Counter()
    waiting = iter(requests)

    async def work(session: aiohttp.ClientSession) -> None:
        for request in waiting:
            url = f"{stage.child.base_url}/{request.path}?{c.word()}={c.word()}"
            answer = await send(
                session,
                url,
                request.body,
                method=request.method,
                headers={**headers(c), **request.headers},
            )
            seen[answer.status] += 1
            assert answer.status in STATUSES, (answer.status, answer.body[:500], request.path)
            answer.check_shape()
            if not answer.served:
                shown = answer.body + str(answer.headers).encode()
                assert not c.found_in(shown), shown[:2000]
            if answer.status == 200:
                assert answer.error is None, answer.body[-500:]

    timeout = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        await asyncio.gather(*(work(session) for _ in range(AT_ONCE)))
        async with session.get(f"{stage.child.root}/metrics") as response:
            assert not c.found_in(await response.read())
    return seen


async def test_no_canary_leaves_and_no_request_breaks(
    stage: Stage, kind: type[HostileCanaries]
) -> None:
    c = kind(tally.SEED)
    stage.remote.received.clear()
    stage.local.received.clear()
    requests = [random_requests(c, REQUESTS[kind]), everywhere(c, ELSEWHERE)]
    if kind is HostileCanaries:
        requests.append(odd_fields(c))
    with stage.bounded():
        seen = await fire(stage, c, itertools.chain(*requests))
    total = sum(seen.values())
    tally.COUNTS["fuzzed requests"] += total
    tally.COUNTS["canaries"] += len(c.all)
    assert seen[200] > total / 6, seen
    assert len(stage.remote.received) > total / 10
    assert c.found_in(b"\n".join(stage.remote.received)) == set()
    assert c.found_in(stage.child.written()) == set()
    # … while the local model did get them: the search finds what is there to be found.
    assert len(c.found_in(b"\n".join(stage.local.received))) > total / 4


async def test_public_text_is_held_to_the_policy_too(
    stage: Stage, kind: type[HostileCanaries]
) -> None:
    """Check that public spans and instructions are no place for a name or a number."""
    if kind is HostileCanaries:
        return  # it has no policy
    c = MarkedCanaries(tally.SEED + 2)

    def requests() -> Iterator[Request]:
        for _ in range(PUBLIC):
            text, options = f"Say more on {c.random.choice(TOPICS)}.", wishes(c)
            if c.random.random() < 0.5:
                options["instruction"] = f"Answer in one line. {c.text()}"
            else:
                text = f"{text} <public>{c.text()}</public>"
            yield Request(
                "chat/completions", json.dumps(chat_body(text, inferdpt=options)).encode()
            )

    stage.remote.received.clear()
    with stage.bounded():
        seen = await fire(stage, c, requests())
    tally.COUNTS["fuzzed requests"] += sum(seen.values())
    assert c.found_in(b"\n".join(stage.remote.received)) == set()


def test_enough_is_generated() -> None:
    c = HostileCanaries(tally.SEED)
    fields = sum(1 for _ in odd_fields(c))
    assert fields + sum(REQUESTS.values()) + 2 * ELSEWHERE >= 2500


def test_one_canary_among_what_was_received_is_found(
    stage: Stage, kind: type[HostileCanaries]
) -> None:
    """Serve as the negative control: a remote that was told one word, in any capitals."""
    c = kind(tally.SEED + 1)
    word, _, number = c.word(), c.text(), c.number()
    clean = b"\n".join(stage.remote.received)
    assert c.found_in(clean) == set()
    for spelled in (word, word.upper(), word.capitalize(), f"q={word}&", f"{number},"):
        told = clean + b'{"messages": [{"content": "see ' + spelled.encode() + b'"}]}'
        assert len(c.found_in(told)) == 1, spelled
