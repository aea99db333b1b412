"""Look up the sanitizers of this installation: perturb's, extraction's and those of plug-ins."""

from __future__ import annotations

from extraction.dp_prompt import fine_tuned as _dp_prompt  # noqa: F401  (and dp_prompt itself)
from perturb import sanitizer_class, sanitizer_names

__all__ = ["sanitizer_class", "sanitizer_names"]
