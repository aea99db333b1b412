"""Keep what is publicly known: the list of names, and the decision on the findings of a text."""

from __future__ import annotations

from perturb.selective.public.companions import find_beside, find_companions
from perturb.selective.public.knowledge import drop_public
from perturb.selective.public.names import (
    BUNDLED_PUBLIC,
    LONGEST,
    PUBLIC_VERSION,
    PublicNames,
    given_names,
    load_public,
    read_key,
)

__all__ = [
    "BUNDLED_PUBLIC",
    "LONGEST",
    "PUBLIC_VERSION",
    "PublicNames",
    "drop_public",
    "find_beside",
    "find_companions",
    "given_names",
    "load_public",
    "read_key",
]
