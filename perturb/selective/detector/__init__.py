"""Mark names and other personal data with the bundled token classifier."""

from __future__ import annotations

from perturb.selective.detector.no_names import NAMES
from perturb.selective.detector.policy import DETECTED, DetectorPolicy

__all__ = ["DETECTED", "NAMES", "DetectorPolicy"]
