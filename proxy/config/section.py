"""Define the base of every part of the configuration."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Section"]


class Section(BaseModel):
    """Hold settings: frozen, with unknown keys refused.

    Every field of a section carries a description: `config init`, the JSON Schema and the
    table of settings in the documentation are made from them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())
