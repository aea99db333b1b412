"""Look up what attackers read at a setting, as the benchmarks measured it.

`figures.json` is made by `python -m benchmarks.pages.console_figures`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["find_figures"]


def find_figures(mechanism: str, epsilon: float) -> list[dict[str, Any]]:
    """Return the figures of a mechanism at ε, or else at the measured values next to it; none if
    the mechanism was not measured. Each states its own ε."""
    known = [each for each in _load() if each["mechanism"] == mechanism]
    same = [each for each in known if each["epsilon"] == epsilon]
    below = [each for each in known if each["epsilon"] < epsilon][-1:]
    above = [each for each in known if each["epsilon"] > epsilon][:1]
    return same or [*below, *above]


@cache
def _load() -> list[dict[str, Any]]:
    text = (files("proxy.console") / "figures.json").read_text("utf-8")
    figures: list[dict[str, Any]] = json.loads(text)["figures"]
    return figures
