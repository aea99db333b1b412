"""Errors of the extraction layer.

    ExtractionError
    ├── ModelFileError         a model file is missing, not the one it should be, or cannot be had
    ├── TemplateError          a prompt template lacks a placeholder or has an unknown one
    └── LocalModelError        the local model cannot answer
        ├── LocalModelUnavailable   not reachable, not ready, or died while answering
        ├── LocalModelTimeout       no answer in time
        ├── LocalModelRefused       it refused the request (a 4xx of its own)
        ├── CannotScore             it does not tell a prompt's own log probabilities
        ├── TooManyNumbers          the requested vectors exceed one answer
        └── ClippingNotProved       it did not prove that it clips logits

No message holds text that a user sent, or a raw body of the local server.
"""

from __future__ import annotations

__all__ = [
    "CannotScore",
    "ClippingNotProved",
    "ExtractionError",
    "LocalModelError",
    "LocalModelRefused",
    "LocalModelTimeout",
    "LocalModelUnavailable",
    "ModelFileError",
    "TemplateError",
    "TooManyNumbers",
]


class ExtractionError(Exception):
    """Serve as the base of every error that the extraction layer raises on purpose."""


class ModelFileError(ExtractionError, ValueError):
    """Report a model file that is missing, is not the one it should be, or cannot be had; the
    message names it."""


class TemplateError(ExtractionError, ValueError):
    """Report a prompt template that breaks its rule; the message names the template and the
    placeholder."""


class LocalModelError(ExtractionError):
    """Report that the local model cannot answer."""


class LocalModelUnavailable(LocalModelError):
    """Report a local server that cannot be reached, is not ready, or died while answering."""


class LocalModelTimeout(LocalModelError):
    """Report a local server that did not answer in time."""


class LocalModelRefused(LocalModelError):
    """Report a request that the local server refused.

    Attributes:
        status: its HTTP status.
        too_long: whether it said that the prompt exceeds its context.
    """

    def __init__(self, message: str, *, status: int, too_long: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.too_long = too_long


class CannotScore(LocalModelError):
    """Report a local server that does not tell the log probabilities of a prompt's tokens."""


class TooManyNumbers(LocalModelError):
    """Report a request for vectors with more numbers than one answer may hold."""


class ClippingNotProved(LocalModelError):
    """Report a local server that did not prove that it clips logits; nothing it answered is
    used."""
