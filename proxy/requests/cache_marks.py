"""Read the marks of Anthropic's prompt cache: `cache_control` on a block, a message or a tool."""

from __future__ import annotations

from typing import Any

__all__ = ["MARKS", "TTLS", "read_mark"]

MARKS = 4  # the most of a request, by Anthropic's rule
TTLS = ("5m", "1h")


def read_mark(value: Any) -> dict[str, str] | None:
    """Return a mark as it may be sent: two enumerated words, which can hold nothing private.

    Keys other than `type` and `ttl`, such as Claude Code's `scope`, are left out.

    Returns:
        None if it is none that Anthropic knows.

    >>> read_mark({"type": "ephemeral", "ttl": "1h", "scope": "global"})
    {'type': 'ephemeral', 'ttl': '1h'}
    """
    if not isinstance(value, dict) or value.get("type") != "ephemeral":
        return None
    ttl = value.get("ttl")
    if ttl is None:
        return {"type": "ephemeral"}
    return {"type": "ephemeral", "ttl": ttl} if ttl in TTLS else None
