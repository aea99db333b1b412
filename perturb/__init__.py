"""Text in, perturbed text out: mechanisms over a public word vocabulary.

from perturb import Perturber, get_mechanism
perturber = Perturber(get_mechanism("rantext_ldp", epsilon=8))
print(perturber.perturb("The meeting is on Monday.").text)
"""

from __future__ import annotations

from perturb import custext as _custext  # noqa: F401  (registers its mechanisms)
from perturb import exponential as _exponential  # noqa: F401
from perturb import madlib as _madlib  # noqa: F401
from perturb import rantext as _rantext  # noqa: F401
from perturb import rantext_ldp as _rantext_ldp  # noqa: F401
from perturb import santext as _santext  # noqa: F401
from perturb import selective as _selective  # noqa: F401
from perturb import tem as _tem  # noqa: F401
from perturb.document import DocumentOptions, Perturber
from perturb.embeddings import EmbeddingTable, load_table
from perturb.errors import (
    CertificateError,
    DocumentTooLong,
    ParameterError,
    PerturbError,
    ReleaseError,
    TableError,
    VocabularyError,
)
from perturb.mechanism import (
    Guarantee,
    Mechanism,
    Span,
    get_mechanism,
    mechanism_class,
    mechanism_names,
)
from perturb.rng import keyed_generator, secure_generator, seeded_generator
from perturb.sanitizer import Perturbation, Receipt, Replacement, Sanitizer
from perturb.vocabulary import TokenClass, Vocabulary

__all__ = [
    "CertificateError",
    "DocumentOptions",
    "DocumentTooLong",
    "EmbeddingTable",
    "Guarantee",
    "Mechanism",
    "ParameterError",
    "PerturbError",
    "Perturbation",
    "Perturber",
    "Receipt",
    "ReleaseError",
    "Replacement",
    "Sanitizer",
    "Span",
    "TableError",
    "TokenClass",
    "Vocabulary",
    "VocabularyError",
    "get_mechanism",
    "keyed_generator",
    "load_table",
    "mechanism_class",
    "mechanism_names",
    "secure_generator",
    "seeded_generator",
]
