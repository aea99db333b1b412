"""A profile of a target under load: py-spy's samples, summed up as text."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.load.processes import LoadError, start_child
from benchmarks.load.targets import Running
from benchmarks.load.wrk import Case, run_wrk
from perturb.install import install_command

__all__ = ["record_profile", "summarize"]

RATE = 200  # samples a second
START_SECONDS = 1.0  # for py-spy to attach
END_SECONDS = 30.0  # for py-spy to write
LONGEST_LIST = 15
_FRAME = re.compile(r"(?P<function>.*) \((?P<file>[^()]*)\)$")
_LOOPS = {  # what is outside these is the same in every stack
    "asyncio/base_events.py",
    "asyncio/events.py",
    "asyncio/runners.py",
    "concurrent/futures/thread.py",
    "threading.py",
}
_OURS = {"perturb", "extraction", "proxy"}  # split by folder, other packages are not


def record_profile(running: Running, case: Case, seconds: float, folder: Path) -> str:
    """Sample, under load, whichever of a Python target's threads holds the interpreter lock.

    Waiting threads and work that releases the lock (SQLite, fsync, large NumPy) are not in it.

    Raises:
        LoadError: py-spy is missing, or it may not read the process.
    """
    program = Path(sys.executable).with_name("py-spy")
    if not program.exists():
        raise LoadError(f"py-spy is not installed: {install_command('bench')}")
    out = folder / "samples"
    command = [str(program), "record", "--pid", str(running.child.pid), "--output", str(out)]
    command += ["--format", "raw", "--nolineno", "--subprocesses", "--gil"]
    command += ["--rate", str(RATE), "--duration", f"{seconds:.0f}"]
    with start_child(command, folder / "py-spy") as spy:
        time.sleep(START_SECONDS)
        run_wrk(running.url, case, seconds, folder, time.time_ns() % 2**31)
        spy.wait_until(lambda: spy.process.poll() == 0, END_SECONDS)
    return summarize(out.read_text("utf-8"))


def summarize(samples: str) -> str:
    """Return tables of packages and functions by their share of the samples.

    Args:
        samples: py-spy's raw format, lines of `frame;frame;… count` with the outermost first.
    """
    within, own = Counter[str](), Counter[str]()  # of packages
    below, here = Counter[str](), Counter[str]()  # of functions
    total = 0
    for line in samples.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = _inside([frame for frame in stack.split(";") if _FRAME.match(frame)])
        if not frames:
            continue
        total += int(count)
        packages = [_package(frame) for frame in frames]
        own[packages[-1]] += int(count)
        here[frames[-1]] += int(count)
        for name in set(packages):
            within[name] += int(count)
        for frame in set(frames):
            below[frame] += int(count)
    if not total:
        return "no samples: the process was idle\n"
    return "\n".join(
        [
            f"{total:,} samples of threads that held the interpreter lock",
            *_table("packages, own time", own, total),
            *_table("packages, with what they call", within, total),
            *_table("functions, own time", here, total),
            *_table("functions, with what they call", below, total),
            "",
        ]
    )


def _table(title: str, counts: Counter[str], total: int) -> list[str]:
    rows = [f"{count / total:7.1%}  {name}" for name, count in counts.most_common(LONGEST_LIST)]
    return ["", title, *rows]


def _inside(frames: list[str]) -> list[str]:
    """Return what an event loop or a thread has called, or its own last frame."""
    loops = [i for i, frame in enumerate(frames) if _file(frame) in _LOOPS]
    return frames[loops[-1] + 1 :] or frames[-1:] if loops else frames


def _file(frame: str) -> str:
    match = _FRAME.match(frame)
    return match["file"] if match else ""


def _package(frame: str) -> str:
    """Return the package of a frame, `proxy.storage` or `sqlalchemy`."""
    parts = _file(frame).removesuffix(".py").split("/")
    while parts[0] in ("", ".", "site-packages") and len(parts) > 1:
        parts = parts[1:]
    deep = parts[0] in _OURS and len(parts) > 2
    return ".".join(parts[: 2 if deep else 1])
