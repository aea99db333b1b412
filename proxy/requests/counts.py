"""Count the contents of a request before validation builds anything from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.errors import too_large

__all__ = ["INPUTS", "TOOLS", "check_counts"]

INPUTS = 2048  # inputs of an embeddings request, OpenAI's limit
TOOLS = 1024
_PARTS = ("content", "output", "summary", "tool_calls")  # the lists in a message or an item


def check_counts(
    body: Mapping[str, Any], most: Mapping[str, int], *, parts: int, tokens: str | None = None
) -> None:
    """Count the items of a body's lists.

    Args:
        body: the parsed body, before validation.
        most: the limit of each list.
        parts: the limit of parts in all messages or items together.
        tokens: the list that counts as one text, however long, if it holds token ids.

    Raises:
        ApiError: 413, naming the first list that is too long.
    """
    found = 0
    for name, limit in most.items():
        items = body.get(name)
        if not isinstance(items, list) or not items:
            continue
        if name == tokens and type(items[0]) is int:
            continue
        if len(items) > limit:
            raise too_large(f"A request may have at most {limit} of '{name}'.", param=name)
        found += sum(_count_parts(item) for item in items)
    if found > parts:
        raise too_large(f"The messages of a request may have at most {parts} parts in all.")


def _count_parts(item: Any, depth: int = 2) -> int:
    """Count the parts of an item, and the parts of its parts: results of tools have some."""
    if not isinstance(item, dict) or not depth:
        return 0
    lists = [item[name] for name in _PARTS if isinstance(item.get(name), list)]
    inner = (_count_parts(part, depth - 1) for each in lists for part in each)
    return sum(map(len, lists)) + sum(inner)
