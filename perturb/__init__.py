"""Sanitizers of private texts, and word-by-word mechanisms over a public vocabulary.

>>> from perturb import Perturber, get_mechanism
>>> perturber = Perturber(get_mechanism("rantext_ldp", epsilon=8))
>>> made = perturber.perturb("The meeting is on Monday.")
>>> made.receipt.statement
'each released token is 8-LDP with respect to replacing that token, given the public vocabulary, \
instruction and length; changing k tokens costs k·8; outside ε and sent as it is: how many words \
the text has; punctuation, blanks and line breaks, verbatim and in place; where numbers stand and \
how many digits they have'
"""

from __future__ import annotations

from perturb import mechanisms as _mechanisms  # noqa: F401  (the import registers them)
from perturb import selective as _selective  # noqa: F401
from perturb import whole as _whole  # noqa: F401
from perturb.display import Comparison
from perturb.errors import (
    CertificateError,
    DocumentTooLong,
    ParameterError,
    PerturbError,
    PluginError,
    RefusedPart,
    ReleaseError,
    TableError,
    VocabularyError,
)
from perturb.mechanisms.base import (
    Draw,
    Mechanism,
    Perturber,
    get_mechanism,
    ldp_guarantee,
    mechanism_class,
    mechanism_names,
)
from perturb.mechanisms.proof import TableProof
from perturb.proof import Proof
from perturb.registry import register, sanitizer_class, sanitizer_names
from perturb.release import Guarantee, Perturbation, Receipt, Replacement, Span, Unit
from perturb.rng import keyed_generator, secure_generator, seeded_generator
from perturb.sanitizer import DocumentOptions, Parameters, Resources, Sanitizer
from perturb.vocabulary.embeddings import EmbeddingTable, load_table
from perturb.vocabulary.vocabulary import TokenClass, Vocabulary

__all__ = [
    "CertificateError",
    "Comparison",
    "DocumentOptions",
    "DocumentTooLong",
    "Draw",
    "EmbeddingTable",
    "Guarantee",
    "Mechanism",
    "ParameterError",
    "Parameters",
    "PerturbError",
    "Perturbation",
    "Perturber",
    "PluginError",
    "Proof",
    "Receipt",
    "RefusedPart",
    "ReleaseError",
    "Replacement",
    "Resources",
    "Sanitizer",
    "Span",
    "TableError",
    "TableProof",
    "TokenClass",
    "Unit",
    "Vocabulary",
    "VocabularyError",
    "get_mechanism",
    "keyed_generator",
    "ldp_guarantee",
    "load_table",
    "mechanism_class",
    "mechanism_names",
    "register",
    "sanitizer_class",
    "sanitizer_names",
    "secure_generator",
    "seeded_generator",
]
