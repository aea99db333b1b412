"""Make the receipt of a relayed request: where parts were replaced, and what was restored."""

from __future__ import annotations

from typing import Any

from proxy.pipeline.plan import Plan
from proxy.pipeline.receipt import make_receipt
from proxy.restoring.way_back import Restored
from proxy.storage.prices import Charge

__all__ = ["make_gateway_receipt"]

LOGPROBS = "the tokens are the remote's own: replacements are not restored in them"


def make_gateway_receipt(plan: Plan, restored: Restored | None) -> dict[str, Any] | None:
    """Return the receipt at the level that the client requested; None if it requests none.

    It is an ordinary receipt, and in addition:

    - `positions`: the replaced parts by position and type, as often as they stand there;
    - `restored`: the replacements that came back in the answer and were restored;
    - `unrestored`: those that came back in a web address, or in a form that may be something
      else, and were left;
    - `ambiguous`: the replacements of the request that cannot be told from other text, and are
      left wherever they come back.

    Args:
        restored: None while the answer is on its way.
    """
    level = plan.request.inferdpt.receipt
    if level == "none":
        return None
    out = make_receipt(
        level,
        plan.sanitizer,
        [(release.sanitized, release.fresh) for release in plan.releases],
        [("relayed", "whole")] * len(plan.exchanges),
        [{"sent": each.outgoing.body} for each in plan.exchanges if each.outgoing],
        (plan.settlement.charge or Charge()).to_dict() | {"exceeded": None},
        public=plan.public_findings,
        sent_to=plan.sent_to,
    )
    out["positions"] = {place: dict(counts) for place, counts in plan.settlement.positions.items()}
    out["restored"] = None if restored is None else restored.restored
    out["unrestored"] = None if restored is None else restored.unrestored
    out["ambiguous"] = sum(each.way_back.ambiguous for each in plan.exchanges if each.way_back)
    if getattr(plan.request, "logprobs", None) not in (None, False):
        out["logprobs"] = LOGPROBS
    return out
