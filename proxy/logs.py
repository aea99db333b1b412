"""Log one JSON object a line to standard error, from the project's own loggers only."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

from extraction.codec import dump

__all__ = ["JsonFormatter", "configure_logging"]

# Libraries that could quote a request: bodies at debug level, raw bytes of malformed HTTP.
_QUIET = ("aiohttp", "openai", "httpx2", "httpcore2", "asyncio")


class JsonFormatter(logging.Formatter):
    """Format a record as time, level, message and its `fields`, if it has any."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        return dump(line).decode()


def configure_logging() -> None:
    """Send the project's own log to standard error and silence the libraries."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    project = logging.getLogger("inferdpt")
    project.handlers = [handler]
    project.setLevel(logging.INFO)
    project.propagate = False
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
