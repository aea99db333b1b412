"""The table shared by all attacks on single words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.attacks.word_attack import WordAttack
from benchmarks.harness.markdown import format_point, format_table
from benchmarks.harness.records import Record
from benchmarks.report.frontier import ATTACKS

__all__ = ["render_words"]


def render_words(records: Sequence[Record]) -> Iterator[str]:
    """Yield the section on words read one at a time, a table for each set."""
    attacks: list[WordAttack] = [attack() for attack in ATTACKS]
    listed = [attack for attack in attacks if attack.columns and attack.select(records)]
    if not listed:
        return
    legend = " ".join(attack.legend for attack in listed)
    yield f"### Words read, one at a time\n\nPer cent of the words of the prefixes. {legend}"
    cases = [record.case for attack in listed for record in attack.select(records)]
    for dataset in dict.fromkeys(case["dataset"] for case in cases):
        rows: dict[tuple[str, ...], list[str]] = {}
        for attack in listed:
            for record in attack.select(records, dataset=dataset):
                point = tuple(format_point(record.case))
                rows.setdefault(point, [*point]).extend(attack.render_cells(record))
        head = ["mechanism", "ε", *(title for attack in listed for title in attack.columns)]
        yield f"**{dataset}**\n\n{format_table(head, rows.values())}"
    remarks = (attack.render_remark(records) for attack in attacks)
    if remark := " ".join(filter(None, remarks)):
        yield remark
