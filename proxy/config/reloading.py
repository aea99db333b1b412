"""Name the settings that change while the proxy runs, and compare two configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy.config.settings import Config
from proxy.sanitizers import sanitizer_class

__all__ = ["CHANGEABLE", "Changes", "find_changes"]

# section -> settings; None is all but those of `FIXED`. Others need a restart.
CHANGEABLE: Mapping[str, tuple[str, ...] | None] = {
    "server": (
        "keys",
        "user_header",
        "operators",
        "cors_origins",
        "ping_seconds",
        "body_seconds",
        "ignore_unsupported_tools",
        "attachments",
    ),
    "limits": None,
    "privacy": None,
    "telemetry": ("prices", "log_level"),
}
FIXED: Mapping[str, tuple[str, ...]] = {
    "limits": ("shared", "delta"),  # of the rates and of the ledger
    "privacy": ("table", "vocabulary"),  # memory that workers share
}
# The local model is prepared, and its server told to clip logits, at the start.
OF_MODEL = ("mechanism", "epsilon", "parameters")


@dataclass(frozen=True)
class Changes:
    """Hold the names of the settings that differ, such as `limits.choices`.

    Attributes:
        live: those that change while the proxy runs.
        fixed: those that need a restart.
    """

    live: tuple[str, ...]
    fixed: tuple[str, ...]


def find_changes(before: Config, after: Config) -> Changes:
    """Compare two configurations."""
    live: list[str] = []
    fixed: list[str] = []
    for section in Config.model_fields:
        old, new = getattr(before, section), getattr(after, section)
        if old == new:
            continue
        if section == "prompts":
            live.append(section)
        elif section in CHANGEABLE:
            for name in type(old).model_fields:
                if getattr(old, name) != getattr(new, name):
                    known = _changes_live(section, name, before, after)
                    (live if known else fixed).append(f"{section}.{name}")
        else:
            fixed.append(section)
    return Changes(tuple(live), tuple(fixed))


def _changes_live(section: str, name: str, before: Config, after: Config) -> bool:
    if section == "privacy" and name in OF_MODEL:
        mechanisms = (before.privacy.mechanism, after.privacy.mechanism)
        return not any(sanitizer_class(each).needs_model for each in mechanisms)
    listed = CHANGEABLE[section]
    return name not in FIXED[section] if listed is None else name in listed
