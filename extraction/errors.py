"""Errors of the extraction layer.

    ExtractionError
    ├── ModelFileError         a model file is not there or not of the kind that can be read
    ├── TemplateError          a prompt template lacks a placeholder or has an unknown one
    └── LocalModelError        the local model cannot answer
        ├── LocalModelUnavailable   not reachable, not ready, or died while answering
        ├── LocalModelTimeout       no answer in time
        ├── LocalModelRefused       it refused the request (its own 4xx)
        └── ClippingNotProved       it was to clip logits and did not show that it does

No message ever holds text a user sent, nor a raw body of the local server.
"""

from __future__ import annotations

__all__ = [
    "ClippingNotProved",
    "ExtractionError",
    "LocalModelError",
    "LocalModelRefused",
    "LocalModelTimeout",
    "LocalModelUnavailable",
    "ModelFileError",
    "TemplateError",
]


class ExtractionError(Exception):
    """Base of every error the extraction layer raises on purpose."""


class ModelFileError(ExtractionError, ValueError):
    """A model file is not there, or not of the kind that can be read; the message names it."""


class TemplateError(ExtractionError, ValueError):
    """A prompt template breaks its rule; the message names the template and the placeholder."""


class LocalModelError(ExtractionError):
    """The local model cannot answer."""


class LocalModelUnavailable(LocalModelError):
    """The local server is not reachable, not ready, or died while answering."""


class LocalModelTimeout(LocalModelError):
    """The local server did not answer in time."""


class LocalModelRefused(LocalModelError):
    """The local server refused the request.

    Attributes:
        status: its HTTP status.
        too_long: whether it said that the prompt exceeds its context.
    """

    def __init__(self, message: str, *, status: int, too_long: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.too_long = too_long


class ClippingNotProved(LocalModelError):
    """The local server was to clip logits and did not show that it does; nothing it answered is
    used."""
