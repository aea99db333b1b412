"""Run the scenes that the command line names, and print what each saw.

    python use_openai.py http://127.0.0.1:8100/v1 '{"chat": "Who is our contact?"}'

The last line of the output is a JSON object: `versions` of the packages, and for each scene the
object it returned or `failed`.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel

BASE_URL = sys.argv[1]
MODEL = "gpt-4o"
FAILING = ("no-such-model", "broken")  # not served; refused by the remote


class Contact(BaseModel):
    """A contact and its priority."""

    address: str
    priority: int


def look_up(address: str, priority: int) -> str:
    """Look up a contact by its address."""
    return f"{address} is known with priority {priority}."


LOOK_UP: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": look_up.__doc__,
        "parameters": {
            "type": "object",
            "properties": {"address": {"type": "string"}, "priority": {"type": "integer"}},
            "required": ["address", "priority"],
            "additionalProperties": False,
        },
    },
}


def describe(exc: BaseException) -> dict[str, Any]:
    """Return the type, the status and the text of an error, and of those that caused it."""
    status, told, kind = None, [], type(exc).__name__
    seen: BaseException | None = exc
    while seen is not None:
        told.append(str(seen))
        found = getattr(seen, "status_code", None)
        status = found if status is None and isinstance(found, int) else status
        seen = seen.__cause__ or seen.__context__
    return {"type": kind, "status": status, "told": "\n".join(told)}


def run(package: str, ask: Callable[..., str], **scenes: Callable[[str], dict[str, Any]]) -> None:
    """Run the scenes.

    Args:
        package: its version is printed.
        ask: takes a prompt and the name of a model, and returns the answer's text.
        scenes: each takes a prompt.
    """

    def fail(prompt: str) -> dict[str, Any]:
        found = {}
        for model in FAILING:
            try:
                found[model] = {"answered": ask(prompt, model)}
            except Exception as exc:
                found[model] = describe(exc)
        return found

    known = {"chat": lambda prompt: {"text": ask(prompt, MODEL)}, "errors": fail, **scenes}
    out: dict[str, Any] = {"version": version(package)}
    for name, prompt in json.loads(sys.argv[2]).items():
        try:
            out[name] = known[name](prompt)
        except Exception as exc:
            traceback.print_exc()
            out[name] = {"failed": describe(exc)}
    print("\n" + json.dumps(out), flush=True)
