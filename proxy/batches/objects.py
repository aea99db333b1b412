"""Write files and batches as OpenAI's API has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proxy.batches.files import ACTIVE, BATCH, File
from proxy.batches.store import Batch

__all__ = ["write_batch", "write_file", "write_page"]

LAST = ("completed", "failed", "expired", "cancelled")  # states that have a time of their own


def write_file(file: File) -> dict[str, Any]:
    """Return a file."""
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": int(file.created),
        "expires_at": int(file.expires),
        "filename": file.name,
        "purpose": file.purpose,
        "status": "uploaded" if file.purpose == BATCH else "processed",
    }


def write_batch(batch: Batch) -> dict[str, Any]:
    """Return a batch."""
    ended = batch.status not in ACTIVE
    errors = None if batch.errors is None else {"object": "list", "data": batch.errors}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "errors": errors,
        "input_file_id": batch.input,
        "completion_window": "24h",
        "status": batch.status,
        "output_file_id": batch.output if ended and batch.completed else None,
        "error_file_id": batch.refused if ended and batch.failed else None,
        "created_at": int(batch.created),
        "in_progress_at": _round(batch.began),
        "expires_at": int(batch.closes),
        "finalizing_at": None,
        **{f"{name}_at": _round(batch.ended) if batch.status == name else None for name in LAST},
        "cancelling_at": _round(batch.cancelling),
        "request_counts": {
            "total": batch.total,
            "completed": batch.completed,
            "failed": batch.failed,
        },
        "metadata": batch.metadata,
    }


def write_page(items: Sequence[dict[str, Any]], more: bool) -> dict[str, Any]:
    """Return a page of a list."""
    return {
        "object": "list",
        "data": list(items),
        "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
        "has_more": more,
    }


def _round(time: float | None) -> int | None:
    return None if time is None else int(time)
