"""One measurement: a case on a running target, with the CPU time of every process involved."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from benchmarks.load.processes import LoadError
from benchmarks.load.targets import Running
from benchmarks.load.upstream import Upstream, find_program
from benchmarks.load.wrk import Case, run_wrk
from benchmarks.machine import describe_host

__all__ = ["Measurement", "describe_machine", "measure"]

WARM_SECONDS = 1.0
WARM_CONNECTIONS = 8
IDLE_CORES = 0.1  # a target below this works on nothing that an earlier load left behind
IDLE_SECONDS = 0.3
SETTLE_SECONDS = 60.0


@dataclass(frozen=True)
class Measurement:
    """Hold a row of the record. CPU is in milliseconds a request or in cores, memory in MB.

    CPU includes work on requests that are unanswered at the end. Times and CPU are null where
    nothing was answered. `busy_cores` are the cores that processes outside this comparison used
    meanwhile.
    """

    target: str
    connections: int
    stream: bool
    words: int
    repeat: bool
    round: int
    requests: int
    requests_per_second: float
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    late: int
    wrong: int
    failed: int
    example: str
    cpu_ms: float | None
    rss_mb: float
    ready_seconds: float
    generator_cores: float
    upstream_cores: float
    busy_cores: float


def measure(
    target: str,
    running: Running,
    upstream: Upstream,
    case: Case,
    seconds: float,
    folder: Path,
    round_: int,
) -> Measurement:
    """Measure a case: warm up, wait until the target is idle, send the load, read the counters.

    Raises:
        LoadError: a process ended, or the target is still busy after a minute.
    """
    seed = time.time_ns() % 2**31
    few = min(case.connections, WARM_CONNECTIONS)
    run_wrk(running.url, replace(case, connections=few), WARM_SECONDS, folder, seed)
    _settle(running)
    ours, theirs, machine = running.child.usage(), upstream.child.usage(), _busy_seconds()
    begin = time.monotonic()
    load = run_wrk(running.url, case, seconds, folder, seed + 1000)
    after, theirs_after = running.child.usage(), upstream.child.usage()
    elapsed = time.monotonic() - begin
    busy = _busy_seconds() - machine
    cpu = after.cpu_seconds - ours.cpu_seconds
    upstream_cpu = theirs_after.cpu_seconds - theirs.cpu_seconds
    known = load.cpu_seconds + upstream_cpu + (cpu if running.child != upstream.child else 0.0)
    return Measurement(
        target=target,
        connections=case.connections,
        stream=case.stream,
        words=case.words,
        repeat=case.repeat,
        round=round_,
        requests=load.requests,
        requests_per_second=round(load.requests / load.seconds, 2),
        p50_ms=round(load.p50_ms, 3) if load.requests else None,
        p99_ms=round(load.p99_ms, 3) if load.requests else None,
        max_ms=round(load.max_ms, 3) if load.requests else None,
        late=load.late,
        wrong=load.wrong,
        failed=load.failed,
        example=load.example,
        cpu_ms=round(cpu / load.requests * 1e3, 3) if load.requests else None,
        rss_mb=round(after.rss_bytes / 1e6, 1),
        ready_seconds=round(running.ready_seconds, 2),
        generator_cores=round(load.cpu_seconds / elapsed, 3),
        upstream_cores=round(upstream_cpu / elapsed, 3),
        busy_cores=round(max(0.0, busy - known) / elapsed, 3),
    )


def _settle(running: Running) -> None:
    """Wait until the target has finished what an earlier load left behind."""
    limit = time.monotonic() + SETTLE_SECONDS
    before = running.child.usage().cpu_seconds
    while True:
        time.sleep(IDLE_SECONDS)
        now = running.child.usage().cpu_seconds
        if now - before < IDLE_CORES * IDLE_SECONDS:
            return
        if time.monotonic() > limit:
            raise LoadError(f"still busy {SETTLE_SECONDS:.0f} s after the load has ended")
        before = now


def describe_machine() -> dict[str, str | int]:
    """Return what the figures depend on: processor, cores, versions and commit."""
    nginx = subprocess.run([find_program("nginx"), "-v"], capture_output=True, text=True).stderr
    wrk = subprocess.run([find_program("wrk"), "--version"], capture_output=True, text=True)
    return describe_host() | {
        "nginx": nginx.strip().rpartition("/")[2],
        "wrk": wrk.stdout.split(" [")[0].removeprefix("wrk ").strip(),
    }


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)
