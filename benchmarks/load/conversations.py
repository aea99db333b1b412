"""The processor time of an agent's turns, each of which sends the whole conversation again.

The agent has 25 functions and reads a file a turn: mostly code, every fifth file full of private
data of people who do not exist. The gateway, its remote and the client run in one process; all of
its processor time counts.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from aiohttp import web
from tqdm import tqdm

from benchmarks.fidelity.folders import make_folders
from benchmarks.fidelity.gateway import MODEL, Gateway, running_gateway, write_completion
from benchmarks.json_record import JsonRecord, read_json
from benchmarks.load.processes import LoadError
from benchmarks.machine import describe_host
from perturb import load_table

__all__ = [
    "TURNS",
    "Conversations",
    "TurnRow",
    "measure_conversations",
    "read_conversations",
    "write_steps",
]

TURNS = (1, 25, 50, 100)
PRIVATE_EVERY = 5  # files
FILE_SIZE = 2_400  # characters, about
FUNCTIONS = 25
CODE = Path(__file__).parents[1] / "fidelity" / "code.jsonl"
SYSTEM = "You are a coding agent. You work in the user's repository, and call functions. " * 40
REQUEST = (
    "Please find out why the export fails for Mira Holzapfel (mira.holzapfel@kestrel.example, "
    "+49 30 23125 441), and repair it."
)

Json = dict[str, Any]


@dataclass(frozen=True)
class TurnRow:
    """Hold what one round measured of one turn.

    Attributes:
        turn: its number, from 1.
        round: counted from 0.
        kilobytes: of the request.
        turn_ms: processor time of the turn, which is the first to send its newest file.
        again_ms: of the same request sent again.
        alone_ms: of a conversation that has no file but one like the turn's newest.
    """

    turn: int
    round: int
    kilobytes: float
    turn_ms: float
    again_ms: float
    alone_ms: float


@dataclass
class Conversations(JsonRecord):
    """Hold what one run measured, and where."""

    machine: dict[str, str | int]
    rows: list[TurnRow] = field(default_factory=list)

    def median(self, turn: int, of: str) -> float:
        """Return the median of a figure of a turn over the rounds."""
        return float(statistics.median(getattr(r, of) for r in self.rows if r.turn == turn))


def read_conversations(path: Path) -> Conversations | None:
    """Read what `write` has written; None if there is no file.

    Raises:
        ValueError: it is no record of this version.
    """

    def build(found: Any) -> Conversations:
        return Conversations(found["machine"], [TurnRow(**row) for row in found["rows"]])

    return read_json(path, build, "conversations")


def measure_conversations(
    rounds: int,
    report: Callable[[TurnRow], None] = lambda row: None,
    *,
    turns: Sequence[int] = TURNS,
    parameters: Mapping[str, Any] | None = None,
) -> Conversations:
    """Measure turns of a conversation, a new conversation each round.

    Args:
        turns: the numbers of the turns, ascending.
        parameters: `privacy.parameters` of the gateway; None for the defaults.
    """
    record = Conversations(describe_host())
    bar = tqdm(total=rounds * len(turns), desc="conversations", disable=not sys.stderr.isatty())
    with bar:
        for round_ in range(rounds):

            def add(row: TurnRow) -> None:
                record.rows.append(row)
                report(row)
                bar.update()

            asyncio.run(_measure(round_, turns, parameters or {}, add))
    return record


async def _measure(
    round_: int,
    turns: Sequence[int],
    parameters: Mapping[str, Any],
    report: Callable[[TurnRow], None],
) -> None:
    remote = web.Application(client_max_size=2**30)
    remote.router.add_post("/v1/chat/completions", _complete)
    steps = list(islice(write_steps(f"round {round_}"), turns[-1]))
    others = write_steps(f"round {round_}, others")
    async with running_gateway(load_table(), parameters, remote) as gateway:
        await _send(gateway, [next(others)])  # what is loaded once
        gc.collect()
        gc.freeze()  # as the served proxy does: no collection goes over it again
        try:
            for turn in turns:
                await _send(gateway, steps[: turn - 1])
                size, first = await _send(gateway, steps[:turn])
                again = (await _send(gateway, steps[:turn]))[1]
                like = next(other for i, other in enumerate(others, 2) if i % PRIVATE_EVERY == 2)
                alone = (await _send(gateway, [like]))[1]
                report(TurnRow(turn, round_, round(size / 1000, 1), first, again, alone))
        finally:
            gc.unfreeze()


async def _complete(request: web.Request) -> web.Response:
    await request.read()
    return web.json_response(write_completion("Done."))


async def _send(gateway: Gateway, steps: Sequence[Sequence[Json]]) -> tuple[int, float]:
    """Send a conversation; return its bytes and the milliseconds of processor time."""
    opening = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": REQUEST}]
    messages = [*opening, *(message for step in steps for message in step)]
    body = json.dumps({"model": MODEL, "messages": messages, "tools": _write_tools()})
    begun = time.process_time()
    headers = {"Content-Type": "application/json"}
    url = f"{gateway.url}/chat/completions"
    async with gateway.session.post(url, data=body, headers=headers) as reply:
        await reply.read()
    spent = 1000 * (time.process_time() - begun)
    if reply.status != 200:
        raise LoadError(f"a turn was answered with {reply.status}")
    return len(body), round(spent, 1)


def _write_tools() -> list[Json]:
    about = "Reads, searches or changes files in the workspace. Use it for nothing else. " * 8
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return [
        {
            "type": "function",
            "function": {"name": f"file_{i}", "description": about, "parameters": schema},
        }
        for i in range(FUNCTIONS)
    ]


def write_steps(seed: str) -> Iterator[list[Json]]:
    """Yield what each turn adds: the call that reads a file, and the file; equal seeds give equal
    steps, and no two files are equal."""
    code = [json.loads(line)["text"] for line in CODE.read_text("utf-8").splitlines()]
    number = 0
    while True:
        number += 1
        path, text = f"src/part_{number}.py", f"# {seed}, file {number}\n"
        if number % PRIVATE_EVERY == 0:
            folder = make_folders(number, seed)[-1]
            path, text = folder.path, folder.text
        while number % PRIVATE_EVERY and len(text) < FILE_SIZE:
            text += code[(7 * number + len(text)) % len(code)] + "\n"
        call = {"name": "file_1", "arguments": json.dumps({"path": path})}
        calls = [{"id": f"call_{number}", "type": "function", "function": call}]
        yield [
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": text},
        ]
