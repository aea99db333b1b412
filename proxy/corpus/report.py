"""Report a run: documents by outcome, and what each owner was charged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from statistics import median
from typing import Any

from perturb import Guarantee
from perturb.release import format_sum, format_upper
from proxy.corpus.inputs.records import Block
from proxy.corpus.ledger import Account, Accounts
from proxy.corpus.output import Output

__all__ = ["format_report", "write_report"]

SHOWN = 10  # owners in the report, those with the largest ε
EVERYONE = "(all documents)"  # the owner where no column names one


async def write_report(
    output: Output,
    blocks: Sequence[Block],
    accounts: Accounts,
    guarantee: Guarantee,
    budget: float | None,
) -> dict[str, Any]:
    """Write the report of a run whose blocks are all written, and return it.

    Raises:
        ApiError: the store failed.
    """
    outcomes: Counter[str] = Counter()
    owners: dict[str, Counter[str]] = {}
    for block in blocks:
        summary = output.read_summary(block.number)
        outcomes.update(summary["outcomes"])
        for name, counts in summary["owners"].items():
            owners.setdefault(name, Counter()).update(counts)
    charged = await accounts.read(list(owners))
    rows = [_list_account(name, counts, charged[name]) for name, counts in owners.items()]
    rows.sort(key=lambda row: (-row["epsilon"]["charged"], row["owner"]))
    report = {
        "documents": sum(outcomes.values()),
        "outcomes": dict(sorted(outcomes.items())),
        "guarantee": guarantee.statement,
        "unit": guarantee.unit,
        "budget": budget,
        "owners": len(rows),
        "epsilon": _summarize([row["epsilon"]["charged"] for row in rows]),
        "largest": rows[:SHOWN],
    }
    output.write_report(report, rows)
    return report


def _list_account(name: str, counts: Mapping[str, float], account: Account) -> dict[str, Any]:
    """Return an owner's documents in this run, and the account over all runs."""
    price = account.price
    has_bound = not (price.unbounded or price.nominal)
    return {
        "owner": name or EVERYONE,
        "documents": counts["documents"],
        "tokens": counts["tokens"],
        "epsilon_of_run": counts["proved"] + counts["nominal"],
        "documents_in_all": account.documents,
        "unbounded": price.unbounded,
        "epsilon": {
            "charged": price.epsilon,
            "bound": account.bound.to_dict() if has_bound else "none",
            "nominal": price.nominal,
            "proved_part": account.bound.to_dict(),
        },
    }


def _summarize(values: Sequence[float]) -> dict[str, float]:
    return {"median": median(values), "largest": max(values)} if values else {}


def format_report(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a report for people."""
    outcomes = ", ".join(f"{count:,} {name}" for name, count in report["outcomes"].items())
    yield f"{report['documents']:,} documents: {outcomes}"
    yield f"guarantee: {report['guarantee']}"
    if not report["owners"]:
        return
    found = report["epsilon"]
    limit = "" if report["budget"] is None else f", budget {report['budget']:g}"
    yield (
        f"{report['owners']:,} owners; ε charged to one in all: median "
        f"{format_sum(found['median'])}, largest {format_sum(found['largest'])}{limit}"
    )
    titles = ("owner", "documents", "tokens", "ε of run", "ε charged", "ε bound (δ)", "unbounded")
    rows = [titles, *map(_format_row, islice(report["largest"], SHOWN))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(titles))]
    for row in rows:
        yield "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()


def _format_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    bound = row["epsilon"]["bound"]
    return (
        row["owner"],
        f"{row['documents']:,}",
        f"{row['tokens']:,}",
        format_sum(row["epsilon_of_run"]),
        format_sum(row["epsilon"]["charged"]),
        "none"
        if bound == "none"
        else f"{format_upper(bound['epsilon'])} ({format_upper(bound['delta'])})",
        f"{row['unbounded']:,}",
    )
