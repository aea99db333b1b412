"""The settings of what the proxy remembers: store, memo, budgets."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

__all__ = ["Budget", "Memo", "Section", "Store"]

MONTH = 30 * 86_400.0


class Section(BaseModel):
    """Frozen, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Store(Section):
    """Where state is kept. Secrets in `url` are better left to PGPASSWORD."""

    url: SecretStr | None = None
    folder: str | None = None
    secret_file: str | None = None


class Memo(Section):
    """How long texts and answers are remembered, where, and what counts as one text."""

    scope: Literal["tenant", "conversation"] = "tenant"
    ttl_seconds: float = Field(MONTH, gt=0)
    rows: int = Field(1_000_000, ge=1)
    megabytes: float = Field(32.0, gt=0)
    paragraphs: bool = True
    paragraph_words: int = Field(20, ge=1)


class Budget(Section):
    """The most that may be charged; null is no limit."""

    request: float | None = Field(None, ge=0)
    conversation: float | None = Field(None, ge=0)
    day: float | None = Field(None, ge=0)
    total: float | None = Field(None, ge=0)

    def under(self, own: Budget) -> Budget:
        """These limits, with `own` in place of those that it names."""
        return self.model_copy(update=own.model_dump(exclude_none=True))
