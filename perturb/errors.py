"""Errors of the perturbation layer.

    PerturbError
    ├── CertificateError   a guarantee cannot be certified, or a certificate is not valid
    ├── CheckpointError    the folder of an unfinished run belongs to another run
    ├── CodebookError      a codebook of passages is missing, damaged or cannot be built
    ├── DetectorError      the token classifier's file is missing or damaged
    ├── ExpressionTimeout  an operator's regular expression ran out of time on a text
    ├── MissingPackage     an optional package is needed; the message says what to install
    ├── OutOfTime          the texts of a request have used up its processor time
    ├── ParameterError     a mechanism or document option is outside its rule
    ├── PluginError        an entry point of another distribution cannot be used
    ├── DocumentTooLong    a text has more tokens than the sanitizer takes
    ├── RefusedPart        a text holds a part of a type that the operator refuses
    ├── ReleaseError       a released text breaks a rule of the sanitizer that made it
    ├── SanitizerError     a sanitizer under test broke the line protocol
    ├── VocabularyError    the tokenizer file is missing or damaged, or cannot be downloaded
    └── TableError         an embedding table is missing, damaged, foreign or cannot be built

No message ever holds text a user sent.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "CertificateError",
    "CheckpointError",
    "CodebookError",
    "DetectorError",
    "DocumentTooLong",
    "ExpressionTimeout",
    "MissingPackage",
    "OutOfTime",
    "ParameterError",
    "PerturbError",
    "PluginError",
    "RefusedPart",
    "ReleaseError",
    "SanitizerError",
    "TableError",
    "VocabularyError",
]


class PerturbError(Exception):
    """Group the errors that the perturbation layer raises on purpose."""


class CertificateError(PerturbError):
    """Report a guarantee that cannot be certified, or a certificate that is damaged or was made
    for something else."""


class CheckpointError(PerturbError):
    """Report a folder with the finished parts of another run."""


class CodebookError(PerturbError):
    """Report a codebook that cannot be read, verified or built."""


class DetectorError(PerturbError):
    """Report that the token classifier of `selective` is missing or damaged."""


class MissingPackage(PerturbError):
    """Report an optional package that is needed and not installed."""


class OutOfTime(PerturbError):
    """Report a request whose texts have used up its processor time; the message gives it."""


class ParameterError(PerturbError, ValueError):
    """Report a parameter that breaks its rule; the message names the parameter, the rule and the
    value."""


class DocumentTooLong(PerturbError):
    """Report a text that has more tokens than the sanitizer takes."""


class PluginError(PerturbError):
    """Report a plug-in that cannot be used; the message names its distribution and its entry
    point."""


class ExpressionTimeout(PerturbError):
    """Report an operator's regular expression that ran out of time on a text; the message names
    the expression."""


class RefusedPart(PerturbError):
    """Report a text that holds a part of a type whose action is `refuse`; the message names the
    types.

    Attributes:
        text: the raw text, which no message and no log may show.
        lines: the line of the first such part of each type, from 1.
    """

    def __init__(
        self, message: str, *, text: str = "", lines: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(message)
        self.text = text
        self.lines = dict(lines or {})


class ReleaseError(PerturbError):
    """Report a released text that its sanitizer cannot have made from the raw text."""


class SanitizerError(PerturbError):
    """Report a sanitizer under test that failed, or did not write one line for each line read."""


class VocabularyError(PerturbError):
    """Report that the cl100k_base tokenizer cannot be loaded or is not the expected one."""


class TableError(PerturbError):
    """Report an embedding table that cannot be read, verified or built."""
