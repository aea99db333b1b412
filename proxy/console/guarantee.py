"""Say in one plain sentence what a receipt guarantees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.console.numbers import format_epsilon

__all__ = ["describe_guarantee"]


def describe_guarantee(receipt: Mapping[str, Any]) -> str:
    """Return the guarantee of a receipt in one sentence. Its `statement` is exact, and longer.

    >>> describe_guarantee({"guarantee": "ldp", "unit": "token", "epsilon": {"per_token": 6.0}})
    'A bound is proved: what is sent tells at most ε = 6 about each token.'
    """
    kind, unit = receipt["guarantee"], receipt["unit"]
    if kind == "nothing_left":
        return "Nothing leaves this machine: the local model answers alone."
    epsilon = receipt["epsilon"]
    if kind == "none" and unit == "marked part":
        return (
            "No bound is proved: the parts that were found are replaced, and everything else is "
            "sent as it is."
        )
    if kind == "none":
        return (
            f"No bound is proved: the nominal ε = {format_epsilon(epsilon['nominal'])} sets the "
            "noise, and does not limit what is told."
        )
    bound = f"at most ε = {format_epsilon(epsilon['per_token'])} about each {unit}"
    if kind == "metric":
        return f"A bound is proved: what is sent tells {bound}, and less between alike words."
    return f"A bound is proved: what is sent tells {bound}."
