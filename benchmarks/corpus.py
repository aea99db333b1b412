"""Measure `inferdpt corpus run`: one process against several, on a pool and on Ray.

    python -m benchmarks.corpus texts.jsonl.xz --documents 200000

Passages of 100 words are cut from the texts (the key `text` of each line), and each engine
sanitizes all of them from an empty store. The ratios compare runs of one round, so other load on
the machine hurts them less than the absolute numbers.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

import psutil

__all__ = ["Measured", "main", "measure", "write_passages"]

WORDS = 100
OWNERS = 1000
MECHANISMS = ("rantext_ldp", "selective")
ENGINES = ("one", "pool", "ray")
INTERVAL = 0.5  # seconds between two looks at the processes


@dataclass(frozen=True)
class Measured:
    """Hold the figures of one run.

    Attributes:
        seconds: of the whole command.
        rate: documents a second, from the start of the workers to the last block.
        cpu: seconds of all its processes.
        memory: of all its processes, MB, at each look (proportional set size).
    """

    seconds: float
    rate: float
    cpu: float
    memory: list[float]

    @property
    def growth(self) -> float:
        """Return the median memory of the last quarter over that of the second."""
        size = len(self.memory) // 4
        return median(self.memory[-size:]) / median(self.memory[size : 2 * size]) if size else 1.0


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("texts", type=Path)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--mechanisms", nargs="+", default=MECHANISMS)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        source = folder / "passages.jsonl"
        count = write_passages(args.texts, source, args.documents)
        print(f"{count:,} passages of at most {WORDS} words, {args.workers} workers")
        print(
            "mechanism     engine  seconds  documents/s  CPU s  MB (median, most, growth)  × one"
        )
        for mechanism in args.mechanisms:
            for round_ in range(args.rounds):
                rates: dict[str, float] = {}
                for engine in args.engines:
                    out = folder / f"{mechanism}-{engine}-{round_}"
                    workers = 1 if engine == "one" else args.workers
                    found = measure(source, out, count, mechanism, engine, workers, args.rows)
                    rates[engine] = found.rate
                    ratio = found.rate / rates["one"] if "one" in rates else float("nan")
                    size = f"{median(found.memory):.0f}, {max(found.memory):.0f}"
                    print(
                        f"{mechanism:13} {engine:6} {found.seconds:8.1f} {found.rate:12.0f} "
                        f"{found.cpu:6.1f}  {size}, {found.growth:.2f}  {ratio:.2f}",
                        flush=True,
                    )
    return 0


def write_passages(texts: Path, to: Path, count: int) -> int:
    """Write passages with ids and owners as JSONL, and return their number."""
    with to.open("w", encoding="utf-8") as file:
        number = 0
        for text in islice(_cut_passages(texts), count):
            row = {"id": str(number), "owner": f"owner {number % OWNERS}", "text": text}
            file.write(json.dumps(row) + "\n")
            number += 1
    return number


def _cut_passages(texts: Path) -> Iterator[str]:
    with lzma.open(texts, "rt", encoding="utf-8") as file:
        for line in file:
            words = json.loads(line)["text"].split()
            for start in range(0, len(words), WORDS):
                yield " ".join(words[start : start + WORDS])


def measure(
    source: Path, out: Path, documents: int, mechanism: str, engine: str, workers: int, rows: int
) -> Measured:
    """Run the command once from an empty store and look at its processes meanwhile.

    Raises:
        RuntimeError: the command failed.
    """
    options = ["--out", str(out), "--id", "id", "--owner", "owner", "--mechanism", mechanism]
    options += ["--workers", str(workers), "--rows", str(rows)]
    options += ["--engine", "ray" if engine == "ray" else "pool"]
    command = [sys.executable, "-m", "proxy.cli.main", "corpus", "run", str(source), *options]
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        env={**os.environ, "INFERDPT_STATE_DIR": str(out) + ".state"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    cpu: dict[int, float] = {}
    memory = []
    while process.poll() is None:
        memory.append(_look(process.pid, cpu))
        time.sleep(INTERVAL)
    seconds = time.monotonic() - start
    if process.returncode not in (0, 1):
        raise RuntimeError((process.stderr.read() if process.stderr else b"").decode())
    return Measured(seconds, _rate(out, documents), sum(cpu.values()), memory)


def _look(pid: int, cpu: dict[int, float]) -> float:
    """Return the memory of a process and those below it, MB, and note their CPU seconds."""
    total = 0.0
    try:
        parent = psutil.Process(pid)
        found = [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    for each in found:
        try:
            times = each.cpu_times()
            cpu[each.pid] = times.user + times.system
            total += each.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total / 1e6


def _rate(out: Path, documents: int) -> float:
    """Return the documents a second, from the start of the workers to the last block."""
    last = max(path.stat().st_mtime for path in (out / "data").iterdir())
    return documents / (last - (out / "run.json").stat().st_mtime)


if __name__ == "__main__":
    sys.exit(main())
