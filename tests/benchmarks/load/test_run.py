"""A small comparison with real processes: nginx, wrk and the proxy."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import benchmarks.load.__main__ as command
from benchmarks.load.measure import Measurement
from benchmarks.load.plan import Plan
from benchmarks.load.processes import post
from benchmarks.load.record import read_record
from benchmarks.load.run import run
from benchmarks.load.targets import Direct, Proxy
from benchmarks.load.upstream import ANSWER, Upstream, start_upstream
from benchmarks.load.wrk import Case

pytestmark = pytest.mark.skipif(
    shutil.which("nginx") is None or shutil.which("wrk") is None,
    reason="nginx or wrk is not installed",
)
LONG_TEXT = "word " * 40_000


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    with start_upstream(tmp_path_factory.mktemp("nginx")) as running:
        yield running


@pytest.mark.parametrize("separators", [None, (",", ":")])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("text", ["hello", LONG_TEXT])
def test_the_upstream_streams_if_the_body_says_so(upstream, separators, stream, text) -> None:
    body = json.dumps({"messages": [text], "stream": stream}, separators=separators).encode()
    status, answer = post(f"{upstream.base_url}/chat/completions", body, 10)
    assert status == 200
    if not stream:
        assert json.loads(answer)["choices"][0]["message"]["content"] == ANSWER
        return
    frames = answer.decode().split("\n\n")
    assert frames[-2:] == ["data: [DONE]", ""]
    deltas = [json.loads(frame.removeprefix("data: ")) for frame in frames[:-2]]
    assert "".join(d["choices"][0]["delta"].get("content", "") for d in deltas) == ANSWER


def test_a_comparison(tmp_path: Path) -> None:
    plan = Plan(
        (
            (Direct(), (Case(2),)),
            (Proxy("no_such_mechanism"), (Case(2),)),
            (Proxy("rantext_ldp"), (Case(2), Case(2, stream=True), Case(2, repeat=True))),
        ),
        1.0,
    )
    seen: list[Measurement] = []
    path = tmp_path / "load.json"
    made = run(plan, report=seen.append, save=lambda record: record.write(path))
    assert read_record(path) == made
    assert made.rows == seen
    assert [(row.target, row.stream, row.repeat) for row in seen] == [
        ("nginx", False, False),
        ("inferdpt rantext_ldp", False, False),
        ("inferdpt rantext_ldp", True, False),
        ("inferdpt rantext_ldp", False, True),
    ]
    assert [(row.example, row.failed) for row in seen] == [("", 0)] * 4
    assert all(row.requests and row.cpu_ms and row.rss_mb for row in seen)
    assert seen[1].ready_seconds > 0
    (left_out,) = made.skipped
    assert left_out.startswith("inferdpt no_such_mechanism: ")


def test_a_soak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.load.soak.SLICE_SECONDS", 1.0)
    out = tmp_path / "soak.json"
    arguments = ["soak", "--requests", "3", "--connections", "2", "--out", str(out)]
    with pytest.raises(SystemExit) as ended:
        command.app(arguments)
    assert ended.value.code == 0
    assert json.loads(out.read_text())["requests"] >= 3


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "argv", ["load", "--quick"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2
    assert "apt-get install -y nginx wrk" in capsys.readouterr().err
