"""Write and read keys of the store as lines of JSON, to move them to another store.

A line holds the hash of a key and never the key. It holds the terms of its grant's `deny` in the
clear, since the other store seals them under a secret of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pydantic import Field, ValidationError

from proxy.access.auth import StoredKey, build_grant, check_note, check_tenant
from proxy.config.errors import explain_key
from proxy.config.fields import Section
from proxy.errors import ConfigError
from proxy.strict_lines import read_object

__all__ = ["read_keys", "write_line"]

TIMES = ("created", "expires", "revoked", "used")


class _Line(Section):
    """Hold a key as its line spells it."""

    id: str = Field(pattern=r"^[0-9a-f]{12}$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    tenant: str
    on_behalf: bool = False
    label: str = ""
    owner: str = ""
    created: str | None = None
    expires: str | None = None
    revoked: str | None = None
    used: str | None = None
    grant: dict[str, Any] = Field({})


def write_line(key: StoredKey) -> str:
    """Return the line of a key: JSON, with times in UTC."""
    plain = ("id", "sha256", "tenant", "on_behalf", "label", "owner")
    times = {name: _spell_time(getattr(key, name)) for name in TIMES}
    grant = key.grant.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    line = {**{name: getattr(key, name) for name in plain}, **times, "grant": grant}
    return json.dumps(line, ensure_ascii=False)


def read_keys(data: bytes) -> dict[int, StoredKey]:
    """Return the keys of a file by the numbers of their lines; blank lines are left out.

    `id`, `sha256` and `tenant` are required. Without `created`, a key is made now.

    Raises:
        ConfigError: a line for each fault, with its number. It repeats nothing of a line but an
            id, and that only if it has the form of one.
    """
    keys: dict[int, StoredKey] = {}
    faults: list[str] = []
    # Lines end at \n alone, as in proxy.strict_lines.
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            keys[number] = _read_line(line)
        except (ConfigError, ValueError) as exc:
            faults.append(f"line {number}: {exc}")
    faults += _find_repeated(keys)
    if not keys and not faults:
        faults = ["there is no key in the file"]
    if faults:
        raise ConfigError("\n".join(faults))
    return keys


def _read_line(line: bytes) -> StoredKey:
    """Return the key of a line; raise `ValueError` or `ConfigError`."""
    try:
        found = _Line.model_validate(read_object(line))
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_input=False)
        raise ConfigError("; ".join(_explain(dict(error)) for error in errors)) from None
    check_tenant(found.tenant)
    check_note("label", found.label)
    check_note("owner", found.owner)
    grant = build_grant(**found.grant)
    now = time.time()
    times = {name: _read_time(name, getattr(found, name)) for name in TIMES}
    ends = times["expires"]
    return StoredKey(
        id=found.id,
        sha256=found.sha256,
        tenant=found.tenant,
        grant=grant,
        created=times.pop("created") or now,
        on_behalf=found.on_behalf,
        label=found.label,
        owner=found.owner,
        in_force=times["revoked"] is None and (ends is None or ends > now),
        **times,
    )


def _explain(error: dict[str, Any]) -> str:
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "string_pattern_mismatch":
        digits = {"id": 12, "sha256": 64}[name]
        return f"{name} must be {digits} hexadecimal digits in small letters"
    if error["type"] == "extra_forbidden":  # its name may be a secret that stands in its place
        return f"a key of the line is unknown; there are {', '.join(_Line.model_fields)}"
    return f"{name}: {explain_key(error, _Line)}"


def _find_repeated(keys: dict[int, StoredKey]) -> Iterator[str]:
    first: dict[str, int] = {}
    for number, key in keys.items():
        if (before := first.setdefault(key.id, number)) != number:
            yield f"line {number}: the id {key.id} is that of line {before}, too"
        elif (before := first.setdefault(key.sha256, number)) != number:
            yield f"line {number}: its SHA-256 is that of line {before}, too"


def _spell_time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def _read_time(name: str, text: str | None) -> float | None:
    """Return a time in seconds since 1970; raise `ConfigError`."""
    if text is None:
        return None
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        # The first and the last year cannot be shown in every zone.
        if moment.tzinfo is not None and 1970 < moment.year < 9999:
            return moment.timestamp()
    raise ConfigError(
        f"{name} must be a time with its zone, from 1971 to 9998, such as "
        "2030-01-31T08:00:00+00:00"
    )
