"""Write the entries of the audit record: names from closed sets, ids and numbers, never text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from extraction.codec import dump_ascii
from perturb import Sanitizer
from proxy.access.grants import Client
from proxy.release import Release
from proxy.storage.prices import Charge

__all__ = [
    "Entry",
    "Positions",
    "write_charge",
    "write_end",
    "write_forgetting",
    "write_loss",
    "write_pruning",
    "write_rekeying",
]

Positions = Mapping[str, Mapping[str, int]]  # replaced parts by position and type


@dataclass(frozen=True)
class Entry:
    """Hold a row that has no number yet: its time (seconds since 1970), and JSON in ASCII."""

    time: float
    value: str


def write_charge(
    client: Client,
    model: str,
    sent_to: str,
    sanitizer: Sanitizer,
    releases: Collection[Release],
    positions: Positions,
    charge: Charge,
) -> Entry:
    """Write the entry of a request that is about to be sent.

    Args:
        model: as clients name it; the configuration lists it.
        sent_to: the alias of its remote.
        releases: each private text once.
        positions: where parts were replaced, if the request keeps its form.
    """
    entities: Counter[str] = Counter()
    for release in releases:
        entities.update(release.sanitized.receipt.entities)
    guarantee = sanitizer.guarantee
    return _write(
        client,
        "charge",
        model=model,
        sent_to=sent_to,
        mechanism=sanitizer.name,
        epsilon=guarantee.nominal,
        unit=guarantee.unit,
        guarantee=guarantee.kind,
        texts=len(releases),
        texts_new=sum(release.fresh for release in releases),
        tokens=sum(release.sanitized.receipt.released for release in releases),
        entities=dict(sorted(entities.items())),
        positions={place: dict(counts) for place, counts in positions.items()},
        charged=charge.charged.figures,
        account=dict(charge.totals),
    )


def write_end(
    client: Client,
    *,
    status: int,
    error: str | None,
    seconds: float,
    model: str | None,
    remote: Sequence[str],
) -> Entry:
    """Write the entry of a request that is over.

    Args:
        status: of the answer, in HTTP; 499 if its client went away.
        error: the code of an error.
        seconds: from the first byte of the request to the last of the answer.
        model: as clients name it; None if the request was refused before it was checked.
        remote: the outcome of each call of the remote.
    """
    return _write(
        client,
        "end",
        model=model,
        status=status,
        error=error,
        remote=list(remote),
        microseconds=round(seconds * 1e6),
    )


def write_pruning(now: float, through: int, digest: bytes, known: Mapping[str, Any]) -> Entry:
    """Write the entry that stands for the pruned rows of a tenant.

    Args:
        now: the time, in seconds since 1970.
        through: the number of the last of them.
        digest: its hash.
        known: the account that the last row with one states, see `find_account`.
    """
    content = {"kind": "pruning", "through": through, "hash": digest.hex(), **known}
    return Entry(now, _spell(content))


def write_forgetting() -> Entry:
    """Write the entry of an account that the operator forgets: it starts anew."""
    return Entry(time.time(), _spell({"kind": "forgetting", "account": None}))


def write_loss(ends: int) -> Entry:
    """Write the entry of ends that could not be kept while the store failed: their number."""
    return Entry(time.time(), _spell({"kind": "loss", "ends": ends}))


def write_rekeying() -> Entry:
    """Write the entry of a new secret: all rows were hashed anew under it."""
    return Entry(time.time(), _spell({"kind": "rekeying"}))


def _write(client: Client, kind: str, **content: Any) -> Entry:
    visit = client.visit
    head = {
        "kind": kind,
        "request": visit.request,
        "key": client.key or None,
        "endpoint": visit.endpoint,
    }
    return Entry(visit.time, _spell(head | content))


def _spell(content: Mapping[str, Any]) -> str:
    return dump_ascii(content)
