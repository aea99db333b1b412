"""Estimate a run before it: all documents are read, and some are sanitized and thrown away."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import pyarrow.compute as pc

from proxy.corpus.engines import WorkerSpec
from proxy.corpus.inputs.records import OURS, Block
from proxy.corpus.report import EVERYONE, SHOWN
from proxy.corpus.run import Progress, read_price
from proxy.corpus.stage import Stage

__all__ = ["estimate_run", "format_estimate"]

SAMPLED_BLOCKS = 16
SAMPLED = 16  # documents of each


def estimate_run(
    job: WorkerSpec, blocks: Sequence[Block], workers: int, budget: float | None, advance: Progress
) -> dict[str, Any]:
    """Return the size of a run, its ε by owner, and its time.

    Documents are counted. Tokens, ε and time are those of a sample spread over the blocks, in
    proportion to the characters; ε for a whole document is the same for each. The sample's draws
    are those of the run, and are released to nobody.

    Args:
        workers: the processes of the run.
        budget: the most ε of an owner, whose account is taken to be empty.
        advance: shows progress.
    """
    sanitizer = job.recipe.build()
    stage = Stage(sanitizer, job.key)
    step = -(-len(blocks) // SAMPLED_BLOCKS)
    sizes: Counter[str] = Counter()  # characters by owner, or documents
    whole = sanitizer.guarantee.unit == "document"
    documents = characters = readable = sampled = tokens = taken = 0
    epsilon = seconds = 0.0
    for place, block in enumerate(blocks):
        records = job.source.read(block)
        lengths = pc.utf8_length(records[f"{OURS}text"]).to_pylist()
        for owner, length in zip(records[f"{OURS}owner"].to_pylist(), lengths, strict=True):
            if length is not None:
                sizes[owner] += 1 if whole else length
                characters += length
                readable += 1
        documents += len(records)
        advance("documents", documents, sum(block.count for block in blocks))
        if place % step == 0:
            start = time.perf_counter()
            found = stage(records.slice(0, SAMPLED)).to_pylist()
            seconds += time.perf_counter() - start
            taken += sum(length or 0 for length in lengths[:SAMPLED])
            prices = [read_price(row) for row in found if row["outcome"] == "released"]
            sampled += len(prices)
            tokens += sum(price.tokens for price in prices)
            epsilon += sum(price.epsilon for price in prices)
    scale = characters / taken if taken else 0.0
    each = epsilon / ((sampled if whole else taken) or 1)
    owners = {name or EVERYONE: size * each for name, size in sizes.items()}
    largest = sorted(owners.items(), key=lambda item: -item[1])[:SHOWN]
    return {
        "documents": documents,
        "unreadable": documents - readable,
        "characters": characters,
        "sampled": sampled,
        "tokens": round(tokens * scale),
        "guarantee": sanitizer.guarantee.statement,
        "owners": len(owners),
        "epsilon": {"median": median(owners.values()), "largest": largest[0][1]} if owners else {},
        "largest": dict(largest),
        "over_budget": sum(value > budget for value in owners.values()) if budget else 0,
        "seconds": seconds * scale / workers,
        "workers": workers,
    }


def format_estimate(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of an estimate for people."""
    yield f"{found['documents']:,} documents, {found['unreadable']:,} of them cannot be read"
    yield f"about {found['tokens']:,} released tokens, from a sample of {found['sampled']} texts"
    yield f"guarantee: {found['guarantee']}"
    if found["epsilon"]:
        middle = found["epsilon"]["median"]
        yield f"{found['owners']:,} owners, ε of the median one about {middle:.4g}"
    for name, value in found["largest"].items():
        yield f"  {name}: ε about {value:.4g}"
    if found["over_budget"]:
        yield f"{found['over_budget']:,} owners would exceed the budget"
    yield f"about {found['seconds']:.0f} s with {found['workers']} workers"
