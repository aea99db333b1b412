"""Draw the figure of an audit: kept words, the gain of an attacker, and list sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from perturb.audit.report import Audit, Figure
from perturb.errors import MissingPackage
from perturb.install import install_command
from perturb.release import format_upper

__all__ = ["draw", "require_matplotlib"]

BLUE, GREY = "#3b6ea5", "#b0b7bf"


def require_matplotlib() -> Any:
    """Return `matplotlib.figure.Figure`.

    Raises:
        MissingPackage: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise MissingPackage(f"--figure needs matplotlib: {install_command('audit')}") from None
    return Canvas


def draw(found: Audit, path: str) -> None:
    """Draw the audit into a file; its suffix selects the format (png, svg, pdf).

    Raises:
        MissingPackage: matplotlib is not installed.
    """
    canvas = require_matplotlib()(figsize=(10, 4), layout="constrained")
    left, middle, right = canvas.subplots(1, 3)
    _draw_kept(left, found)
    _draw_guessed(middle, found)
    _draw_epsilon(right, found)
    canvas.suptitle(
        f"{found.mechanism}, ε = {found.epsilon_nominal:g} asked for, {found.words:,} words, "
        f"{found.prior} prior"
    )
    if found.sizes:
        low, median, high = (f"{found.sizes[key]:,}" for key in ("5 %", "median", "95 %"))
        canvas.supxlabel(
            f"words that can be released for one token: {median} (middle), from {low} to {high} "
            "in nine of ten cases",
            fontsize="medium",
        )
    canvas.savefig(path, dpi=150)


def _draw_kept(axes: Any, found: Audit) -> None:
    axes.set_title("probability that a word is kept")
    if not len(found.kept_by_word):
        axes.text(0.5, 0.5, f"mean {found.kept}\n(sampled)", ha="center", va="center")
        axes.set_axis_off()
        return
    ordered = np.sort(found.kept_by_word)[::-1]
    axes.plot(np.linspace(0, 100, len(ordered)), ordered, color=BLUE)
    axes.axhline(found.kept.value, color=GREY, linestyle="--", label="mean under the prior")
    axes.set(xlabel="words, most kept first (%)", ylim=(0, None))
    axes.legend(frameon=False)


def _draw_guessed(axes: Any, found: Audit) -> None:
    axes.set_title("best guess of the word is right")
    names = ("the word", "up to case")
    place = np.arange(2)
    prior = (found.prior_best, found.prior_best_forms)
    axes.bar(place - 0.2, prior, 0.4, color=GREY, label="without looking")
    shown = (found.bayes, found.bayes_forms)
    axes.bar(
        place + 0.2,
        [figure.value for figure in shown],
        0.4,
        yerr=np.array([_measure_error(figure) for figure in shown]).T,
        color=BLUE,
        label="seeing the release",
    )
    axes.set_xticks(place, names)
    axes.set_ylim(0, 1.35 * max(figure.high for figure in shown))
    axes.legend(frameon=False, loc="upper left")


def _draw_epsilon(axes: Any, found: Audit) -> None:
    axes.set_title("ε per token")
    asked, proved, smallest = found.epsilon_nominal, found.epsilon_proved, found.epsilon.value
    bars = {
        "asked for": (asked, f"{asked:.4g}"),
        "proved": (proved, "∞" if math.isinf(proved) else format_upper(proved, 4)),
        "smallest": (smallest, str(found.epsilon)),
    }
    top = 1.25 * max(value for value, _ in bars.values() if math.isfinite(value))
    for i, (value, said) in enumerate(bars.values()):
        axes.bar(i, min(value, top), color=BLUE if i == 2 else GREY)
        axes.text(i, min(value, top), said, ha="center", va="bottom")
    axes.set_xticks(range(3), list(bars))
    axes.set_ylim(0, top * 1.12)


def _measure_error(figure: Figure) -> tuple[float, float]:
    return max(0.0, figure.value - figure.low), max(0.0, figure.high - figure.value)
