"""Make the privacy receipt: how a request's private texts were treated, in counts and words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from perturb import Perturbation, Sanitizer
from perturb.rounding import format_upper
from perturb.vocabulary.vocabulary import CLASS_NAMES
from proxy.remote.generation import Ending

__all__ = ["RemoteOutcome", "add_actions", "format_epsilon", "make_receipt"]

RemoteOutcome = Literal[
    "answered",
    "empty",
    "failed",
    "housekeeping",
    "irrelevant",
    "relayed",
    "scored",
    "skipped",
]
NOTHING_LEFT = "nothing left this machine: the local model answered alone"
EQUALITY = (
    "which texts and paragraphs are equal, here and in what the client sent before, and which of "
    "them hold another that left before",
    "which paragraphs were edited, where a text is sent again",
)
_REMOTE = {
    "answered": "the remote answered the perturbed text",
    "empty": "the remote answered with nothing; the local model worked alone",
    "failed": "the remote failed; the local model worked alone",
    "irrelevant": "nothing in the remote's answer was about the document; the local model worked "
    "alone",
    "housekeeping": "client housekeeping: the local model answered, the remote was not called",
    "relayed": "the remote answers the sanitized request; its answer is restored here",
    "scored": "the local model told the prompt's log probabilities, the remote was not called",
    "skipped": "the remote was not called",
}
_ENDINGS = {
    "whole": "",
    "cut": "; the connection was closed where the local model would have seen no more of it",
    "abandoned": "; it was not waited for any longer (remote.patience_seconds)",
}


def make_receipt(
    level: Literal["summary", "full"],
    sanitizer: Sanitizer,
    texts: Sequence[tuple[Perturbation, bool]],
    outcomes: Sequence[tuple[RemoteOutcome, Ending]],
    exchanges: Sequence[dict[str, Any]] = (),
    budget: dict[str, Any] | None = None,
    *,
    public: Mapping[str, int] = MappingProxyType({}),
    demonstrations: int = 0,
    sent_to: str | None,
) -> dict[str, Any]:
    """Make the receipt of a request.

    `tokens` and `entities` count the perturbed parts: where a text is sent unchanged but for its
    sensitive parts, only those. `actions` counts parts by action, if it is not `replace`. The ε
    of the request counts every text once, drawn now or earlier; a text that was released before
    costs nothing new. `unbounded` counts the tokens without a proved bound, whatever the ε of the
    others.

    Args:
        level: `full` adds each text's own receipt and the exchanges with the remote.
        sanitizer: the sanitizer in force.
        texts: each private text's perturbation, and whether it was drawn for this request.
        outcomes: the outcome of each remote call, and how its answer ended.
        exchanges: for `full`: `{"sent": messages, "generation": text}` for each remote call.
        budget: the charge of the request and the remaining budget, see
            `proxy.storage.prices.Charge`.
        public: the number of sensitive parts of each type in public text, which is sent as it is.
        demonstrations: the number of public examples in front of each body.
        sent_to: the alias of the remote; None if nothing was sent. The receipt then states no ε.
    """
    guarantee, sent = sanitizer.guarantee, sent_to is not None
    released = sum(p.receipt.released for p, _ in texts)
    new = sum(p.receipt.released for p, fresh in texts if fresh)
    entities: Counter[str] = Counter()
    for p, _ in texts:
        entities.update(p.receipt.entities)
    epsilon = {
        "nominal": guarantee.nominal,
        "per_token": _spell_number(guarantee.epsilon),
        "all_tokens": _spell_number(sum(p.receipt.epsilon_per_document for p, _ in texts)),
    }
    if guarantee.kind != "none":
        epsilon["delta"] = sanitizer.false_alarm * len(texts)
    reveals = [r for p, _ in texts for r in p.receipt.reveals]
    out: dict[str, Any] = {
        "mechanism": sanitizer.name if sent else "none",
        "sent_to": sent_to,
        "guarantee": guarantee.kind if sent else "nothing_left",
        "unit": guarantee.unit if sent else None,
        "statement": _state_guarantee(sanitizer, texts) if sent else NOTHING_LEFT,
        "epsilon": epsilon if sent else None,
        "tokens": {kind: sum(p.receipt.tokens[kind] for p, _ in texts) for kind in CLASS_NAMES},
        "entities": dict(sorted(entities.items())),
        "actions": add_actions(p for p, _ in texts),
        "public_findings": dict(public),
        "demonstrations": demonstrations,
        "released": released,
        "released_before": released - new,
        "unbounded": sum(p.receipt.unbounded for p, _ in texts),
        "budget": budget or {},
        "remote": [_REMOTE[outcome] + _ENDINGS[ending] for outcome, ending in outcomes],
        "reveals": list(dict.fromkeys((*reveals, *EQUALITY))) if sent and texts else [],
    }
    if level == "full":
        out["texts"] = [p.receipt.to_dict() for p, _ in texts]
        out["exchanges"] = list(exchanges)
    return out


def add_actions(made: Iterable[Perturbation]) -> dict[str, dict[str, int]]:
    """Add up the parts of perturbations by action and type, see `perturb.Receipt`."""
    counts: dict[str, Counter[str]] = {}
    for each in made:
        for action, types in each.receipt.actions.items():
            counts.setdefault(action, Counter()).update(types)
    return {action: dict(sorted(counts[action].items())) for action in sorted(counts)}


def _state_guarantee(sanitizer: Sanitizer, texts: Sequence[tuple[Perturbation, bool]]) -> str:
    """State the guarantee of a request.

    The mechanism's own guarantee covers neither the memo, which releases equal texts as equal
    texts, nor the guard, which conditions on the draw.
    """
    guarantee, delta = sanitizer.guarantee, sanitizer.false_alarm
    parts = [guarantee.statement, "equal texts and paragraphs leave as equal text, which shows"]
    epsilon = math.fsum(p.receipt.epsilon_per_document for p, _ in texts)
    if guarantee.kind != "none" and texts:
        count = "its text" if len(texts) == 1 else f"its {len(texts)} texts together"
        parts.append(f"this request as a whole, {count}: ε = {format_upper(epsilon)}")
    if guarantee.kind != "none" and delta:
        parts.append(
            f"the guard refuses an honest draw with probability at most "
            f"{format_upper(delta)}, so that each text's ε comes with δ = {format_upper(delta)}"
        )
    elif guarantee.kind != "none":
        parts.append("the guard refuses no honest draw, so that δ = 0")
    return "; ".join(parts)


def format_epsilon(sanitizer: Sanitizer) -> str:
    """Format ε per token, its kind of guarantee and, if there is one, the δ of a text:
    `6; guarantee=none`, `6; guarantee=ldp; delta=1e-09`."""
    guarantee = sanitizer.guarantee
    delta = "" if guarantee.kind == "none" else f"; delta={format_upper(sanitizer.false_alarm)}"
    return f"{format_upper(guarantee.nominal)}; guarantee={guarantee.kind}{delta}"


def _spell_number(value: float) -> float | str:
    return "infinity" if math.isinf(value) else value
