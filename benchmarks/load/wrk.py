"""The load generator: wrk with a script that writes a chat request with new words each time."""

from __future__ import annotations

import json
import resource
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.load.processes import LoadError
from benchmarks.load.upstream import ANSWER, MODEL, find_program
from benchmarks.samplers import write_article

__all__ = ["LATE_SECONDS", "Case", "Load", "parse_load", "run_wrk", "write_script"]

LATE_SECONDS = 2.0  # wrk's own default for a time-out
TIMEOUT_SECONDS = 60  # later answers are not in wrk's percentiles
POOL_WORDS = 20_000
PARAGRAPH_WORDS = 100
SENTENCE_WORDS = 15
MARK = "LOAD "

SCRIPT = """\
local pool = {pool}
local words, paragraph, sentence, again = {words}, {paragraph}, {sentence}, {again}
local head, tail, expected = {head}, {tail}, {expected}
local threads, fixed = {{}}, nil
wrong, first = 0, ""

function setup(thread)
  table.insert(threads, thread)
  thread:set("seed", {seed} + #threads)
end

function init(arguments)
  math.randomseed(seed)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer sk-load"
end

local function write()
  local parts = {{ head }}
  for i = 1, words do
    parts[#parts + 1] = pool[math.random(#pool)]
    if i == words then parts[#parts + 1] = "."
    elseif i % paragraph == 0 then parts[#parts + 1] = ".\\\\n\\\\n"
    elseif i % sentence == 0 then parts[#parts + 1] = ". "
    else parts[#parts + 1] = " " end
  end
  parts[#parts + 1] = tail
  return wrk.format(nil, nil, nil, table.concat(parts))
end

function request()
  if not again then return write() end
  fixed = fixed or write()
  return fixed
end

function response(status, headers, body)
  if status ~= 200 or not body:find(expected, 1, true) then
    if wrong == 0 then first = status .. " " .. body:sub(1, 300) end
    wrong = wrong + 1
  end
end

local function share_before(latency, limit)
  if latency.max < limit then return 1 end
  local low, high = 0, 100
  for _ = 1, 20 do
    local middle = (low + high) / 2
    if latency:percentile(middle) < limit then low = middle else high = middle end
  end
  return low / 100
end

function done(summary, latency, requests)
  local bad, example = 0, ""
  for _, thread in ipairs(threads) do
    bad = bad + thread:get("wrong")
    if example == "" then example = thread:get("first") end
  end
  local errors = summary.errors
  print(string.format("{mark}%d %d %d %d %d %.6f %.0f %.0f %.0f", summary.requests,
    summary.duration, errors.connect + errors.read + errors.write, errors.timeout, bad,
    share_before(latency, {late}), latency:percentile(50), latency:percentile(99), latency.max))
  print(example)
end
"""


@dataclass(frozen=True)
class Case:
    """Describe one kind of load.

    Args:
        connections: requests at once; each connection sends the next when it has its answer.
        stream: whether answers are streamed.
        words: length of the document.
        repeat: send one document again and again (the proxy knows it), instead of new ones.
    """

    connections: int = 16
    stream: bool = False
    words: int = 61
    repeat: bool = False

    @property
    def name(self) -> str:
        """Describe the case in a few words."""
        kind = "streamed" if self.stream else "chat"
        again = ", repeated" if self.repeat else ""
        return f"{kind}, {self.words:,} words{again}, {self.connections} connections"


@dataclass(frozen=True)
class Load:
    """Hold what wrk has seen. Times are in milliseconds; percentiles are over all answers.

    `late` counts answers after more than `LATE_SECONDS`, `wrong` those without the expected
    text, `failed` broken connections and answers that took longer than a minute.
    """

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float
    max_ms: float
    late: int
    wrong: int
    failed: int
    example: str = ""  # of a wrong answer
    cpu_seconds: float = 0.0  # of wrk itself


def write_script(case: Case, seed: int) -> str:
    """Return the Lua script for a case. Another seed gives other words."""
    head = {"model": MODEL, "stream": case.stream, "messages": [{"role": "user", "content": "@"}]}
    before, _, after = json.dumps(head).partition("@")
    expected = "[DONE]" if case.stream else ANSWER[-40:]
    return SCRIPT.format(
        pool="{" + ",".join(map(json.dumps, _pool())) + "}",
        words=case.words,
        paragraph=PARAGRAPH_WORDS,
        sentence=SENTENCE_WORDS,
        again="true" if case.repeat else "false",
        head=json.dumps(before),
        tail=json.dumps(after),
        expected=json.dumps(expected),
        seed=seed,
        mark=MARK,
        late=LATE_SECONDS * 1e6,
    )


def run_wrk(url: str, case: Case, seconds: float, folder: Path, seed: int) -> Load:
    """Send requests for `seconds`, from one thread.

    Raises:
        LoadError: wrk is not installed, or it failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "load.lua"
    script.write_text(write_script(case, seed), "utf-8")
    command = [find_program("wrk"), "--threads", "1", "--connections", str(case.connections)]
    command += ["--duration", f"{seconds:.0f}s", "--timeout", f"{TIMEOUT_SECONDS}s"]
    command += ["--script", str(script), url]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds + 2 * TIMEOUT_SECONDS
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode:
        raise LoadError(f"wrk exited with {ended.returncode}: {ended.stderr.strip()}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return parse_load(ended.stdout, cpu)


def parse_load(output: str, cpu_seconds: float = 0.0) -> Load:
    """Read what the script has printed at the end.

    Raises:
        LoadError: its line is missing.
    """
    _, found, rest = output.partition(MARK)
    line, _, example = rest.partition("\n")
    if not found:
        raise LoadError(f"wrk printed no result: {output[-300:].strip()}")
    numbers = [float(number) for number in line.split()]
    requests, duration, broken, timeouts, wrong, punctual, p50, p99, slowest = numbers
    return Load(
        requests=int(requests),
        seconds=duration / 1e6,
        p50_ms=p50 / 1e3,
        p99_ms=p99 / 1e3,
        max_ms=slowest / 1e3,
        late=round(requests * (1 - punctual)),
        wrong=int(wrong),
        failed=int(broken + timeouts),
        example=example.strip(),
        cpu_seconds=cpu_seconds,
    )


@cache
def _pool() -> tuple[str, ...]:
    """Return words with the frequencies of English."""
    return tuple(word.strip(".") for word in write_article(POOL_WORDS).split())
