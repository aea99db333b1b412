"""Run a corpus: sanitize each block, charge it, then write it.

The charges are durable before the block can be seen. After a kill at any moment, the next run
sanitizes the blocks that are not written again: the same releases, charged once. Of documents with
one id, the first is released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from proxy.corpus.engines import Engine, WorkerSpec
from proxy.corpus.ids import Ids
from proxy.corpus.inputs.records import OURS, Block
from proxy.corpus.ledger import Accounts, Charged
from proxy.corpus.output import Output
from proxy.corpus.stage import RESULT
from proxy.storage.digests import digest
from proxy.storage.ledger import FIGURES, Channel, Price

__all__ = ["describe_run", "read_price", "run_blocks"]

REASON = f"{OURS}reason"
REFUSED = {"outcome": "BudgetExceeded", REASON: "the owner's ε would exceed --budget"}
REPEATED = {"outcome": "RepeatedId", REASON: "an earlier document has this id"}
Progress = Callable[[str, int, int], None]


def describe_run(job: WorkerSpec, channel: str, budget: float | None) -> dict[str, Any]:
    """Return the facts that the runs of one folder must share."""
    source = job.source
    return {
        "version": 2,
        "secret": digest(job.key, "run").hex(),  # another would draw documents afresh
        "input": source.fingerprint(),
        "columns": vars(source.columns),
        "documents of a block": source.rows,
        "sanitizer": channel,
        "budget": budget,
    }


async def run_blocks(
    job: WorkerSpec,
    engine: Engine,
    blocks: Sequence[Block],
    output: Output,
    accounts: Accounts,
    advance: Progress,
    ids: Ids | None = None,
) -> None:
    """Sanitize, charge and write the blocks that are not written yet.

    Args:
        ids: those of the run so far; None if the documents are named by their places, which are
            unique.

    Raises:
        ApiError: the store failed.
        ConfigError: the input cannot be read, or workers die.
    """
    todo = [block for block in blocks if not output.is_done(block.number)]
    total = sum(block.count for block in blocks)
    done = total - sum(block.count for block in todo)
    advance("documents", done, total)
    for block, found in engine(job, todo):
        if ids is not None:
            found = _refuse_repeated(block, found, ids)
        result = await _charge(found, accounts)
        output.write(block.number, result, _summarize(result))
        done += block.count
        advance("documents", done, total)


async def _charge(result: pa.Table, accounts: Accounts) -> pa.Table:
    """Charge the documents of a block, and return it without the releases that a budget
    refuses."""
    rows = result.select([name for name in result.column_names if _is_charged(name)]).to_pylist()
    places = [place for place, row in enumerate(rows) if row["outcome"] == "released"]
    releases = [
        Charged(row[f"{OURS}key"], row[f"{OURS}owner"], row["released"], read_price(row))
        for row in (rows[place] for place in places)
    ]
    refused = {places[i] for i in await accounts.charge(releases)}
    return _refuse(result, refused, REFUSED)


def _refuse_repeated(block: Block, result: pa.Table, ids: Ids) -> pa.Table:
    """Return a block without the releases of documents whose ids came earlier."""
    columns = (result[OURS + name].to_pylist() for name in ("id", "key"))
    named = [None if key is None else name for name, key in zip(*columns, strict=True)]
    return _refuse(result, ids.find_repeated(block.number, named), REPEATED)


def _refuse(result: pa.Table, places: Collection[int], values: Mapping[str, str]) -> pa.Table:
    """Return a block without the releases at some places, which get these values instead."""
    if not places:
        return result
    mask = pa.array([i in places for i in range(len(result))])
    for column in RESULT:
        place = result.schema.get_field_index(column.name)
        value = pa.scalar(values.get(column.name), column.type)
        kept = pc.if_else(mask, value, result[column.name])
        result = result.set_column(place, column, kept)
    return result


def read_price(row: dict[str, Any]) -> Price:
    """Return the price of a document that was released."""
    each = row[f"{OURS}each"]
    names = (row["mechanism"], each, row[f"{OURS}narrow"], row["unit"])
    figures = {name: row[OURS + name] for name in FIGURES}
    channel = None if each is None else Channel(*names)
    return Price(**figures, channel=channel, count=row[f"{OURS}count"])


def _is_charged(name: str) -> bool:
    return name in ("outcome", "released", "mechanism", "unit") or name.startswith(OURS)


def _summarize(result: pa.Table) -> dict[str, Any]:
    """Return the counts of a block: documents by outcome, and those of each owner."""
    rows = result.select(["outcome", *(OURS + name for name in ("owner", *FIGURES))]).to_pylist()
    owners: dict[str, Counter[str]] = {}
    for row in rows:
        if row["outcome"] == "released":
            figures = {name: row[OURS + name] for name in FIGURES}
            owner = owners.setdefault(row[f"{OURS}owner"], Counter())
            owner.update({"documents": 1, **figures})
    return {"outcomes": Counter(row["outcome"] for row in rows), "owners": owners}
