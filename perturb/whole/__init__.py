"""Sanitizers of whole texts; importing this package registers them."""

from __future__ import annotations

from perturb.whole import deep_candidate, surrogate, truncated_laplace  # noqa: F401
