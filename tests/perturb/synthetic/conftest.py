"""The small encoder and codebook of the whole-document sanitizers."""

from __future__ import annotations

from tests.perturb.whole.conftest import codebook, encoder

__all__ = ["codebook", "encoder"]
