"""The privacy receipt: what was done to a request's private texts, in counts and sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from perturb import Guarantee, Perturbation, Sanitizer, TokenClass

__all__ = ["RemoteOutcome", "epsilon_header", "receipt"]

RemoteOutcome = Literal["answered", "empty", "failed", "housekeeping", "skipped"]
_REMOTE = {
    "answered": "the remote answered the perturbed text",
    "empty": "the remote answered with nothing; the local model worked alone",
    "failed": "the remote failed; the local model worked alone",
    "housekeeping": "client housekeeping: the local model answered, the remote was not called",
    "skipped": "the remote was not called",
}


def receipt(
    level: Literal["summary", "full"],
    sanitizer: Sanitizer,
    texts: Sequence[tuple[Perturbation, bool]],
    outcomes: Sequence[RemoteOutcome],
    exchanges: Sequence[dict[str, Any]] = (),
    budget: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """One receipt for a request.

    Args:
        level: `full` adds each text's own receipt and, in `exchanges`, what left and came back.
        sanitizer: what is in force.
        texts: each private text's perturbation, and whether it was drawn for this request.
        outcomes: what became of each remote call.
        budget: what the request was charged and what remains, see `proxy.ledger.Charge`.
        exchanges: for `full`: `{"sent": messages, "generation": text}` for each remote call.

    `tokens` and `entities` count what was perturbed: of a text that left unchanged but for its
    sensitive parts, those parts alone. The ε of the request counts every text once, drawn now or
    earlier: a text that was released before costs nothing new.
    """
    guarantee = sanitizer.guarantee
    released = sum(p.receipt.released for p, _ in texts)
    new = sum(p.receipt.released for p, fresh in texts if fresh)
    entities: Counter[str] = Counter()
    for p, _ in texts:
        entities.update(p.receipt.entities)
    out: dict[str, Any] = {
        "mechanism": sanitizer.name,
        "guarantee": guarantee.kind,
        "statement": guarantee.statement,
        "epsilon": {
            "nominal": guarantee.nominal,
            "per_token": _finite(guarantee.epsilon),
            "all_tokens": _finite(sum(p.receipt.epsilon_per_document for p, _ in texts)),
        },
        "tokens": {
            kind.name.lower(): sum(p.receipt.tokens[kind.name.lower()] for p, _ in texts)
            for kind in TokenClass
        },
        "entities": dict(sorted(entities.items())),
        "released": released,
        "released_before": released - new,
        "budget": budget or {},
        "remote": [_REMOTE[outcome] for outcome in outcomes],
        "reveals": list(dict.fromkeys(r for p, _ in texts for r in p.receipt.reveals)),
    }
    if level == "full":
        out["texts"] = [p.receipt.to_dict() for p, _ in texts]
        out["exchanges"] = list(exchanges)
    return out


def epsilon_header(guarantee: Guarantee) -> str:
    """ε per token and whether it is proved: `6; guarantee=none`."""
    return f"{guarantee.nominal:g}; guarantee={guarantee.kind}"


def _finite(value: float) -> float | str:
    return "infinity" if math.isinf(value) else value
