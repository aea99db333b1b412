"""Every release that was written is charged to its owner, once, whatever became of other runs.

Runs differ in what fails, in their budgets, blocks and folders, and end between any two steps.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import Sanitizer, keyed_generator
from perturb.errors import DocumentTooLong, ExpressionTimeout
from perturb.release import Guarantee, Perturbation
from proxy.config.store import StoreSettings as Settings
from proxy.corpus.engines import WorkerSpec
from proxy.corpus.inputs.records import Block
from proxy.corpus.ledger import Accounts, Charged
from proxy.corpus.output import Output, open_output
from proxy.corpus.report import write_report
from proxy.corpus.run import run_blocks
from proxy.corpus.stage import Recipe, Stage
from proxy.errors import ConfigError
from proxy.storage.ledger import ROUNDING
from proxy.storage.opening import open_store
from tests.databases import database, postgres_url
from tests.proxy.cli.commands import run as run_inline
from tests.proxy.corpus.documents import KEY, job, released, write_jsonl
from tests.proxy.corpus.kills import ledger_covers, read_accounts

__all__ = ["database", "postgres_url"]

DELTA = 1e-6
ROWS = [
    {"id": f"note {i}", "owner": f"p{i % 2}", "text": " ".join([f"word{i}", *["river"] * i])}
    for i in range(6)
]
EACH = {row["text"]: 6.0 * len(row["text"].split()) for row in ROWS}
OUTCOMES = ("released", "too long", "time-out", "failure", "drawn otherwise")


class Moody(Sanitizer):
    """A sanitizer that fails on some texts, or draws them otherwise: a plug-in that changed."""

    name = "moody"

    def __init__(self, inner: Sanitizer, outcomes: dict[str, str]) -> None:
        self._inner, self._outcomes = inner, outcomes

    @property
    def guarantee(self) -> Guarantee:
        return self._inner.guarantee

    def identity(self) -> dict[str, Any]:
        return self._inner.identity()

    def perturb(self, text: str, rng: Any = None, **rest: Any) -> Perturbation:
        match self._outcomes.get(text, "released"):
            case "too long":
                raise DocumentTooLong("limits.document_tokens")
            case "time-out":
                raise ExpressionTimeout("a pattern")
            case "failure":
                raise ValueError(text)
            case "drawn otherwise":
                rng = keyed_generator(bytes(32))
        return self._inner.perturb(text, rng, **rest)

    def verify(self, raw: str, released: Perturbation) -> None:
        self._inner.verify(raw, released)


@pytest.fixture(scope="module")
def inner() -> Sanitizer:
    return Recipe("rantext_ldp").build()


class Killed(Exception):
    """The end of a process."""


class Deadly:
    """Count steps, and end the process at one of them."""

    def __init__(self, at: int | None) -> None:
        self._left = at

    def step(self) -> None:
        if self._left is not None:
            if self._left == 0:
                raise Killed
            self._left -= 1


class DeadlyAccounts(Accounts):
    def __init__(self, deadly: Deadly, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadly = deadly

    async def charge(self, releases: Sequence[Charged]) -> frozenset[int]:
        self._deadly.step()
        refused = await super().charge(releases)
        self._deadly.step()
        return refused


class DeadlyOutput(Output):
    """An output that may end after the summary of a block, and after all of it."""

    def __init__(self, deadly: Deadly, folder: Path, format: str) -> None:
        super().__init__(folder, format)
        self._deadly = deadly

    def _spell(self, result: pa.Table) -> bytes:
        self._deadly.step()
        return super()._spell(result)

    def write(self, *args: Any) -> None:
        super().write(*args)
        self._deadly.step()


@dataclass(frozen=True)
class Run:
    """One run: what becomes of the texts, the limits, the folder, and the step at which it is
    killed."""

    outcomes: tuple[str, ...]
    budget: float | None
    rows: int
    folder: int
    killed: int | None


RUNS = st.builds(
    Run,
    outcomes=st.tuples(*[st.sampled_from(OUTCOMES)] * len(ROWS)),
    budget=st.one_of(st.none(), st.integers(0, 80).map(float)),
    rows=st.integers(1, 4),
    folder=st.integers(0, 2),
    killed=st.one_of(st.none(), st.integers(0, 12)),
)


def found(folder: Path) -> set[tuple[str, str, str, float]]:
    """The releases that were written: owner, document, text and ε."""
    return {
        (row["owner"], row["id"], row["released"], row["epsilon"])
        for out in folder.glob("out*")
        for row in released(out)
        if row["outcome"] == "released"
    }


async def execute(folder: Path, run: Run, store: Any, inner: Sanitizer) -> None:
    sanitizer = Moody(inner, dict(zip([row["text"] for row in ROWS], run.outcomes, strict=True)))
    ours = job(folder / "rows.jsonl", run.rows)

    def engine(ours: WorkerSpec, blocks: Iterable[Block]) -> Iterator[tuple[Block, pa.Table]]:
        made = Stage(sanitizer, KEY)
        for block in blocks:
            yield block, made(ours.source.read(block))

    deadly = Deadly(run.killed)
    accounts = DeadlyAccounts(deadly, store, delta=DELTA, budget=run.budget)
    out = folder / f"out {run.folder} {run.rows} {run.budget}"  # as `describe_run` demands
    blocks = list(ours.source.blocks())
    with open_output(out, "jsonl", {"budget": run.budget}):
        output = DeadlyOutput(deadly, out, "jsonl")
        try:
            await run_blocks(ours, engine, blocks, output, accounts, lambda *_: None)
        except Killed:
            return
        await write_report(output, blocks, accounts, inner.guarantee, run.budget)


@settings(max_examples=40, deadline=None)
@given(st.lists(RUNS, min_size=1, max_size=6))
async def test_every_written_release_is_charged_once_and_within_the_budget(
    tmp_path_factory, inner, runs
):
    folder = tmp_path_factory.mktemp("runs")
    write_jsonl(folder / "rows.jsonl", ROWS)
    owners = sorted({row["owner"] for row in ROWS})
    before = dict.fromkeys(owners, 0.0)
    async with open_store(Settings(folder=str(folder / "state"))) as store:
        for run in runs:
            await execute(folder, run, store, inner)
            accounts = await Accounts(store, delta=DELTA).read(owners)
            written = found(folder)
            for owner in owners:
                charged = accounts[owner].price.epsilon
                seen = sum(epsilon for whose, _, _, epsilon in written if whose == owner)
                assert charged >= seen - 1e-9
                if all(each.killed is None for each in runs):
                    assert charged == pytest.approx(seen)
                if run.budget is not None:
                    assert charged <= max(before[owner], run.budget) * (1 + ROUNDING)
                before[owner] = charged
        for run in runs:  # what was killed is resumed: with the same outcomes nothing is lost
            await execute(
                folder, Run(run.outcomes, run.budget, run.rows, run.folder, None), store, inner
            )
        last = await Accounts(store, delta=DELTA).read(owners)
        final = found(folder)
        for owner in owners:
            assert last[owner].price.epsilon >= sum(e for o, _, _, e in final if o == owner) - 1e-9
            assert last[owner].documents <= sum(
                len({"drawn otherwise", "released"} & {run.outcomes[i] for run in runs})
                for i, row in enumerate(ROWS)
                if row["owner"] == owner
            )


CASES = list(itertools.permutations(OUTCOMES[:4], 2))


@pytest.mark.parametrize(("first", "second"), CASES)
async def test_a_document_whose_outcome_changes_between_two_runs_is_charged_when_released(
    tmp_path, inner, database, first, second
):
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    others = ("released",) * (len(ROWS) - 1)
    async with open_store(Settings(**database)) as store:
        for folder, outcome in enumerate((first, second, first)):
            run = Run((*others, outcome), None, 3, folder, None)
            await execute(tmp_path, run, store, inner)
        accounts = await Accounts(store, delta=DELTA).read(["p0", "p1"])
    last = EACH[ROWS[-1]["text"]] if "released" in (first, second) else 0.0
    assert accounts["p1"].price.epsilon == sum(EACH[ROWS[i]["text"]] for i in (1, 3)) + last
    assert accounts["p0"].price.epsilon == sum(EACH[ROWS[i]["text"]] for i in (0, 2, 4))


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two documents of an owner, of 3 and 60 words, and one of another."""
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.yaml").write_text("limits: {document_tokens: 50}\n")
    texts = {"a": "river stone green", "b": " ".join(["river"] * 60)}
    rows = [{"id": name, "owner": "p7", "text": text} for name, text in texts.items()]
    rows.append({"id": "c", "owner": "p8", "text": " ".join(["stone"] * 60)})
    return write_jsonl(tmp_path / "rows.jsonl", rows)


def sanitize(source: Path, out: str, *options: str) -> int:
    names = ("--id", "id", "--owner", "owner", "--workers", "1")
    path = str(source.with_name(out))
    return run_inline("corpus", "run", str(source), "--out", path, *names, *options)


def test_a_higher_limit_releases_no_document_uncharged(corpus, tmp_path):
    """The long documents fail; then there is no limit, and p8 has no account yet."""
    short = ("--config", str(tmp_path / "short.yaml"))
    assert sanitize(corpus, "one", "--budget", "100", *short) == 1
    first = read_accounts(tmp_path / "one")
    assert sanitize(corpus, "two", "--budget", "100") == 1
    outcomes = {row["id"]: row["outcome"] for row in released(tmp_path / "two")}
    assert outcomes == {"a": "released", "b": "BudgetExceeded", "c": "BudgetExceeded"}
    assert read_accounts(tmp_path / "two") == first
    assert sanitize(corpus, "three", "--budget", "1000") == 0  # decided again
    found = read_accounts(tmp_path / "three")
    assert set(found) == {"p7", "p8"}
    assert all(row["epsilon_of_run"] == row["epsilon"]["charged"] for row in found.values())
    ledger_covers(tmp_path / "three")
    assert sanitize(corpus, "four", "--budget", "1000", "--rows", "1") == 0  # other blocks: free
    assert read_accounts(tmp_path / "four") == found


def test_the_report_of_a_run_whose_accounts_were_forgotten_says_so(corpus, tmp_path):
    assert sanitize(corpus, "one") == 0
    assert run_inline("store", "purge", "--all", "--ledger") == 0
    assert sanitize(corpus, "one") == 0
    assert {row["epsilon"]["charged"] for row in read_accounts(tmp_path / "one").values()} == {0.0}


def test_a_folder_keeps_its_budget(corpus):
    sanitize(corpus, "one", "--budget", "1")
    with pytest.raises(ConfigError, match="budget"):
        sanitize(corpus, "one", "--budget", "1000")
    assert json.loads((corpus.with_name("one") / "report.json").read_text())["budget"] == 1
