"""Errors of the perturbation layer.

    PerturbError
    ├── CertificateError   a guarantee cannot be certified, or a certificate is of no use
    ├── MissingPackage     an optional package is needed; the message says what to install
    ├── ParameterError     a mechanism or document option is outside its rule
    ├── DocumentTooLong    a text has more tokens than the perturber takes
    ├── ReleaseError       a released text breaks a rule of the sanitizer that made it
    ├── SanitizerError     a sanitizer under test did not keep the line protocol
    ├── VocabularyError    the tokenizer file is missing, damaged or cannot be had
    └── TableError         an embedding table is missing, damaged, foreign or cannot be built

No message ever holds text a user sent.
"""

from __future__ import annotations

__all__ = [
    "CertificateError",
    "DocumentTooLong",
    "MissingPackage",
    "ParameterError",
    "PerturbError",
    "ReleaseError",
    "SanitizerError",
    "TableError",
    "VocabularyError",
]


class PerturbError(Exception):
    """Base of every error the perturbation layer raises on purpose."""


class CertificateError(PerturbError):
    """A guarantee cannot be certified, or a certificate is damaged or of something else."""


class MissingPackage(PerturbError):
    """What was asked for needs a package that is not installed."""


class ParameterError(PerturbError, ValueError):
    """A parameter breaks its rule; the message names the parameter, the rule and the value."""


class DocumentTooLong(PerturbError):
    """A text has more tokens than the perturber takes."""


class ReleaseError(PerturbError):
    """A released text is not what its sanitizer can have made of the raw text."""


class SanitizerError(PerturbError):
    """A sanitizer under test failed, or did not write one line for each line it read."""


class VocabularyError(PerturbError):
    """The cl100k_base tokenizer cannot be loaded or is not the expected one."""


class TableError(PerturbError):
    """An embedding table cannot be read, verified or built."""
