"""Sanitize only the spans that a policy marks."""

from __future__ import annotations

from perturb.selective import sanitizer  # noqa: F401  (registers it)
