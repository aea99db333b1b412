"""Log one JSON object a line to standard error.

The project's own lines hold names and numbers. Of a library's line only its origin and the type of
its exception are shown: its text could quote a request.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from types import TracebackType

from extraction.codec import dump

__all__ = ["JsonFormatter", "configure_logging", "log_loop_errors", "set_level"]

PROJECT = "inferdpt"
logger = logging.getLogger(f"{PROJECT}.process")
# Libraries that write a line for every malformed request, or about what is reported elsewhere.
_QUIET = ("aiohttp", "openai", "httpx2", "httpcore2", "asyncio")


class JsonFormatter(logging.Formatter):
    """Format a record as time, level, message and its `fields`, if it has any."""

    def format(self, record: logging.LogRecord) -> str:
        own = record.name.split(".")[0] == PROJECT
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage() if own else _describe(record),
            **getattr(record, "fields", {}),
        }
        return dump(line).decode()


def configure_logging() -> None:
    """Send every line of the process to standard error, also those of libraries, of threads and
    of what is thrown away."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name, level in (("", logging.WARNING), (PROJECT, logging.INFO)):
        one = logging.getLogger(name)
        one.handlers = [handler]
        one.setLevel(level)
    logging.getLogger(PROJECT).propagate = False
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # it would print the arguments of a line that fails
    threading.excepthook = lambda args: _log_error("a thread", args.exc_value)
    sys.unraisablehook = lambda args: _log_error("what was thrown away", args.exc_value)
    sys.excepthook = _log_end


def set_level(level: str) -> None:
    """Log the project's own lines from a level of the configuration on."""
    logging.getLogger(PROJECT).setLevel(level.upper())


def log_loop_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Log what fails in an event loop without anybody waiting for it."""
    loop.set_exception_handler(
        lambda _, context: _log_error("the event loop", context.get("exception"))
    )


def _describe(record: logging.LogRecord) -> str:
    kind = record.exc_info[0] if record.exc_info else None
    raised = "" if kind is None else f" ({kind.__name__})"
    return f"{record.name} reports something in {record.module}, line {record.lineno}{raised}"


def _log_end(kind: type[BaseException], exc: BaseException, _: TracebackType | None) -> None:
    _log_error("the process", exc)


def _log_error(where: str, exc: BaseException | None) -> None:
    """Log where an exception was raised, without its text."""
    frames = "" if exc is None else "".join(traceback.format_tb(exc.__traceback__))
    kind = "an error" if exc is None else type(exc).__name__
    logger.error("%s in %s at\n%s", kind, where, frames)
