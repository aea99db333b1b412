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
    """Where state is kept; a password is better left to PGPASSWORD than in `url`.

    Attributes:
        url: `sqlite+aiosqlite:///FILE` or `postgresql+asyncpg://…`; None is a file in `folder`.
        folder: None is $INFERDPT_STATE_DIR, else `inferdpt` in the XDG state directory.
        secret_file: the secret under which keys are hashed; None is `secret` beside the
            database. $INFERDPT_SECRET goes before it.
    """

    url: SecretStr | None = None
    folder: str | None = None
    secret_file: str | None = None


class Memo(Section):
    """How long texts and answers are remembered, where, and what counts as one text.

    Attributes:
        scope: within what equal texts leave as equal bytes, which the remote can see. `tenant`:
            in all of a tenant's conversations, for as long as they are remembered.
            `conversation`: in one, known by its system turns and first user turn; a document
            that is sent in many conversations is drawn afresh in each, and can be averaged.
        ttl_seconds, rows: how long unused, and how many of a tenant, before the store forgets
            them.
        megabytes: of memory in front of the store.
        paragraphs, paragraph_words: whether a user's text is perturbed paragraph by paragraph,
            and how many words a unit has at least.
    """

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
