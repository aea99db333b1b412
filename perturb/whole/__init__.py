"""Sanitizers of whole texts; importing this package registers them."""

from __future__ import annotations

from perturb.whole import surrogate  # noqa: F401
