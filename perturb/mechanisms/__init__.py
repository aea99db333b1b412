"""Word-by-word mechanisms, one module each; importing this package registers them."""

from __future__ import annotations

from perturb.mechanisms import (  # noqa: F401
    custext,
    exponential,
    madlib,
    rantext,
    rantext_ldp,
    santext,
    tem,
)
