"""Draw what leaves against what is spoilt, a point for each setting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.fidelity.measure import Fidelity
from benchmarks.harness.datasets import DataError
from perturb.install import install_command

__all__ = ["draw"]

# What leaves, what is spoilt, and the title of their picture.
_PAIRS = (
    ("private: values left", "private: parts that had to stay, changed", "private texts"),
    ("prompts: private units left", "prompts: other words changed", "real prompts (PUPA)"),
)


def draw(found: Mapping[str, Fidelity], path: Path) -> None:
    """Draw the figures of settings, by their names, into a PNG file.

    Raises:
        DataError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise DataError(f"figures need matplotlib: {install_command('bench')}") from None
    canvas = Figure(figsize=(10, 4.2), layout="constrained")
    for axes, (left, spoilt, title) in zip(canvas.subplots(1, 2), _PAIRS, strict=True):
        above = False
        for name, each in found.items():  # in the order of what they hide: neighbours are near
            if left not in each.shares or spoilt not in each.shares:
                continue
            leaks, damage = each.shares[left], each.shares[spoilt]
            place = 100 * damage.hits / damage.total, 100 * leaks.hits / leaks.total
            axes.plot(*place, "o", color="C0")
            above = not above
            axes.annotate(
                name.removeprefix("profile: "),
                place,
                xytext=(6, 3) if above else (6, -11),
                textcoords="offset points",
            )
        axes.set(title=title, xlabel="spoilt without need (%)", ylabel="left, though private (%)")
        axes.set_ylim(-4, 108)
        axes.set_xlim(0, 1.12 * axes.get_xlim()[1])  # room for the last name
    canvas.suptitle("Fidelity: down is safer, left is more useful")
    canvas.savefig(path, dpi=130)
