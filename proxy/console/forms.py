"""Read the settings of a chat from a form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proxy.access.auth import parse_pairs
from proxy.errors import bad_request
from proxy.requests.protocol import ChatRequest
from proxy.requests.validation import validate

__all__ = ["SettingInput", "read_number"]


@dataclass(frozen=True)
class SettingInput:
    """Hold the fields of a setting as they were typed; empty ones are the operator's."""

    mechanism: str = ""
    epsilon: str = ""
    actions: str = ""
    deny: str = ""  # terms, with commas between them

    @classmethod
    def read(cls, form: Mapping[str, str], number: int) -> SettingInput:
        """Read the first or the second setting of a form."""
        names = ("mechanism", "epsilon", "actions", "deny")
        return cls(*(form.get(f"{name}_{number}", "").strip() for name in names))

    def write_chat(self, form: Mapping[str, str]) -> ChatRequest:
        """Write the chat of a form under this setting; raise `ApiError`."""
        text = form.get("text", "")
        if not text.strip():
            raise bad_request("Type a text first: it must not be empty.", param="text")
        options: dict[str, Any] = {"receipt": "full"}
        if form.get("mode") == "local":
            options["local_only"] = True
        else:
            options |= self._write_options()
        return validate(
            ChatRequest,
            {
                "model": form.get("model", ""),
                # Browsers send line breaks as CR LF.
                "messages": [{"role": "user", "content": text.replace("\r\n", "\n")}],
                "stream": True,
                "inferdpt": options,
            },
        )

    def _write_options(self) -> dict[str, Any]:
        found = {
            "mechanism": self.mechanism or None,
            "epsilon": read_number(self.epsilon, "epsilon"),
            "actions": parse_pairs(self.actions or None),
            "deny": [term.strip() for term in self.deny.split(",") if term.strip()] or None,
        }
        return {name: value for name, value in found.items() if value is not None}


def read_number(text: str, name: str) -> float | None:
    """Read a number; None if the field is empty.

    Raises:
        ApiError: 400, it is no number.
    """
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise bad_request(f"{name} must be a number.", param=name)
    return value
