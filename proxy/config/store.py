"""Define the settings of what the proxy keeps: store, memo, budgets and batches."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, SecretStr

from proxy.config.fields import Section

__all__ = ["Batches", "Budget", "MemoSettings", "StoreSettings", "models_folder", "state_folder"]

MONTH = 30 * 86_400.0


def state_folder(folder: str | None) -> Path:
    """Return the folder of the state.

    It is the configured folder, else $INFERDPT_STATE_DIR, else `inferdpt` in the XDG state
    directory.
    """
    if folder := folder or os.environ.get("INFERDPT_STATE_DIR"):
        return Path(folder)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "inferdpt"


def models_folder() -> Path:
    """Return the folder of pulled models: one for all configurations, as they are large and hold
    nothing of anybody."""
    return state_folder(None) / "models"


class StoreSettings(Section):
    """Hold the place of the state, and how long its audit record is kept."""

    url: SecretStr | None = Field(
        None,
        description="Database: `sqlite:///FILE`, or `postgresql+asyncpg://HOST/NAME`, "
        "which replicas share. null is a SQLite file in `folder`. Prefer PGPASSWORD for a "
        "password.",
    )
    folder: str | None = Field(
        None,
        description="Folder of the SQLite file. null is $INFERDPT_STATE_DIR, else `inferdpt` in "
        "the XDG state directory.",
    )
    secret_file: str | None = Field(
        None,
        description="File with the secret under which keys and texts are hashed. null is "
        "`secret` beside the database, made at the first start. $INFERDPT_SECRET takes "
        "precedence.",
    )
    records_days: float | None = Field(
        365.0,
        gt=0,
        description="Days for which the rows of the audit record are kept, and at most one day "
        "more. null keeps them for ever.",
    )


class MemoSettings(Section):
    """Hold the limits of the memory of texts and answers, and the scope of equal texts."""

    scope: Literal["tenant", "conversation"] = Field(
        "tenant",
        description="Where equal texts have one release, which the remote can see: in all of a "
        "tenant's conversations, or within one, identified by its system turns and its first "
        "user turn. With `conversation` a document sent in many conversations is drawn afresh "
        "in each, and an observer can average over the draws.",
    )
    ttl_seconds: float = Field(
        MONTH,
        gt=0,
        description="Seconds without use after which a text is forgotten. If it is sent again, it "
        "is drawn afresh.",
    )
    rows: int = Field(
        1_000_000,
        ge=1,
        description="Texts of one tenant in the store, and as many answers. The least recently "
        "used ones are forgotten first.",
    )
    megabytes: float = Field(
        8.0,
        gt=0,
        description="Memory for draws that are not released yet, and as much for the generations "
        "behind answers, in MB.",
    )
    paragraphs: bool = Field(
        True,
        description="Sanitize long texts of user turns paragraph by paragraph, so that an edit "
        "redraws only one. Does not apply to dp_prompt.",
    )
    paragraph_words: int = Field(
        20, ge=1, description="Shorter paragraphs, in words, are joined with a neighbour."
    )


class Batches(Section):
    """Hold whether batches are served, and their limits."""

    enabled: bool = Field(
        False,
        description="Serve /v1/files and /v1/batches. The lines of a batch, which are raw text, "
        "are then kept in the store until the batch ends, encrypted under the store's secret.",
    )
    concurrency: int = Field(
        2,
        ge=1,
        description="Lines of batches that one process answers at once. A line begins only while "
        "no request waits.",
    )
    file_bytes: int = Field(16_000_000, ge=1, description="Bytes of an uploaded file.")
    lines: int = Field(50_000, ge=1, description="Lines of an uploaded file.")
    line_bytes: int = Field(1_000_000, ge=1, description="Bytes of one line.")
    tenant_files: int = Field(
        200, ge=1, description="Files of one tenant, those with answers included."
    )
    tenant_bytes: int = Field(
        200_000_000,
        ge=1,
        description="Bytes of a tenant's files at which it can upload no more until some are "
        "deleted or expire.",
    )
    tenant_batches: int = Field(
        20,
        ge=1,
        description="Batches of one tenant that may be in progress; with ended ones, 50 times as "
        "many are kept.",
    )
    retention_hours: float = Field(
        24.0,
        gt=0,
        description="Hours after its end for which a batch and its answers are kept, and after "
        "its upload for which a file that no batch uses is kept.",
    )
    lease_seconds: float = Field(
        30.0,
        gt=0,
        description="Seconds without a sign of the process that runs a batch after which another "
        "one continues it.",
    )


class Budget(Section):
    """Hold the most that may be charged; null is no limit."""

    model_config = ConfigDict(allow_inf_nan=False)

    request: float | None = Field(None, ge=0, description="Limit of one request.")
    conversation: float | None = Field(None, ge=0, description="Limit of one conversation.")
    day: float | None = Field(None, ge=0, description="Limit of a tenant's day (UTC).")
    total: float | None = Field(None, ge=0, description="Limit of a tenant, for all time.")

    def under(self, own: Budget) -> Budget:
        """Return these limits with `own` in place of those that it names."""
        named = own.model_dump(exclude_none=True)
        return self.model_copy(update=named) if named else self
