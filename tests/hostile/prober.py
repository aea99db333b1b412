"""A process of its own that asks a proxy for `/health` every 100 ms.

It writes a line for each answer: when it asked (monotonic), how long the proxy took for it, and
the proxy's peak memory in bytes. Off that time goes what the machine took, up to half of it: what
an idle server needed at the same moment, and for how long others kept the processors busy.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from pathlib import Path

import psutil

PAUSE = 0.1
LIMIT = 20.0
REQUEST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


async def ask(port: int) -> float:
    """Return how long an answer took; the limit where none came, or another than 200."""
    start = time.monotonic()
    try:
        async with asyncio.timeout(LIMIT):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(REQUEST)
            answer = await reader.read()
            writer.close()
    except (OSError, TimeoutError):
        return LIMIT
    return time.monotonic() - start if answer.startswith(b"HTTP/1.1 200") else LIMIT


async def idle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await writer.drain()
    writer.close()


def peak(process: psutil.Process) -> int:
    """Return the most memory a process has held, or what it holds where the system does not
    keep count."""
    try:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return int(process.memory_info().rss)


def others(ours: list[psutil.Process]) -> float:
    """Return how many seconds a processor has worked for anybody but us, on the average."""
    total = psutil.cpu_times()
    names = ("user", "nice", "system", "irq", "softirq", "steal")
    busy = sum(getattr(total, name, 0.0) for name in names)
    own = sum(sum(process.cpu_times()[:2]) for process in ours)
    return (busy - own) / (psutil.cpu_count() or 1)


async def probe(port: int, pid: int) -> None:
    server = await asyncio.start_server(idle, "127.0.0.1", 0)
    own: int = server.sockets[0].getsockname()[1]
    process = psutil.Process(pid)
    ours = [process, psutil.Process(), psutil.Process().parent() or process]
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        start, before = time.monotonic(), others(ours)
        took, machine = await asyncio.gather(ask(port), ask(own))
        machine += max(others(ours) - before, 0.0)
        sys.stdout.write(f"{start} {took - min(machine, took / 2)} {peak(process)}\n")
        sys.stdout.flush()
        await asyncio.sleep(max(0.0, start + PAUSE - time.monotonic()))


if __name__ == "__main__":
    with contextlib.suppress(psutil.Error, BrokenPipeError):  # the proxy, or who asked, is gone
        asyncio.run(probe(int(sys.argv[1]), int(sys.argv[2])))
