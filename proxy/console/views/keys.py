"""Handle "Keys": operators make, restrict, rotate and revoke clients' keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from proxy.access.auth import (
    Grant,
    StoredKey,
    Terms,
    build_grant,
    check_note,
    check_tenant,
    parse_pairs,
)
from proxy.api.app_keys import CONFIG, KEYRING
from proxy.console.door import make_token, read_form
from proxy.console.forms import read_number
from proxy.console.pages import page
from proxy.console.views.tenants import check_operator
from proxy.errors import ApiError, ConfigError, bad_request

__all__ = ["create_key", "restrict_key", "revoke_key", "rotate_key", "show_keys"]

DAY = 86_400.0

# The fields of the form, by how they are read.
LISTS = ("mechanisms", "models")
NUMBERS = ("epsilon_min", "epsilon_max", "requests_per_minute", "burst")
PAIRS = ("budget", "budget_tokens", "budget_unbounded", "actions", "thresholds")
LINES = ("deny",)  # a term may hold commas


async def show_keys(request: web.Request) -> web.Response:
    """List the keys of the store, without the keys themselves."""
    check_operator(request)
    return await _show(request)


async def create_key(request: web.Request) -> web.Response:
    """Make a key; the page shows it once."""
    form = read_form(request)
    check_operator(request)
    keyring = request.app[KEYRING]
    if not keyring.locked and "first" not in form:
        raise bad_request(
            "Confirm that from the first key on every client needs one.", param="first"
        )
    tenant = form.get("tenant", "").strip()
    try:
        check_tenant(tenant)
    except ConfigError as exc:
        raise bad_request(f"{exc}.", param="tenant") from None
    id_, key = await keyring.create(tenant, _read_grant(form), _read_terms(form))
    await keyring.required()
    return await _show(request, made={"id": id_, "key": key, "tenant": tenant})


async def restrict_key(request: web.Request) -> web.Response:
    """Replace the limits of a key."""
    form = read_form(request)
    check_operator(request)
    id_ = form.get("id", "")
    if not await request.app[KEYRING].restrict(id_, _read_grant(form)):
        raise _no_such_key()
    return await _show(request, done=f"The limits of key {id_} are changed.")


async def rotate_key(request: web.Request) -> web.Response:
    """Make a key in the place of another, which ends after some days; the page shows it once."""
    form = read_form(request)
    check_operator(request)
    keyring, id_ = request.app[KEYRING], form.get("id", "")
    overlap = _read_days(form, "overlap")
    if overlap is None:
        raise bad_request("overlap must be a number of days.", param="overlap")
    try:
        made = await keyring.rotate(id_, overlap, _read_days(form, "days"))
    except ConfigError as exc:
        raise bad_request(f"{exc}.", param="days") from None
    if made is None:
        raise _no_such_key()
    return await _show(request, made={"id": made[0], "key": made[1], "instead": id_})


async def revoke_key(request: web.Request) -> web.Response:
    """Revoke a key from its next request on."""
    form = read_form(request)
    check_operator(request)
    id_ = form.get("id", "")
    if not await request.app[KEYRING].revoke(id_):
        raise _no_such_key()
    return await _show(request, done=f"Key {id_} is revoked.")


async def _show(
    request: web.Request, *, made: Mapping[str, str] | None = None, done: str | None = None
) -> web.Response:
    keyring = request.app[KEYRING]
    keys = sorted(await keyring.list_keys(), key=lambda key: not key.in_force)
    return page(
        request,
        "keys.html",
        make_token(request),
        keys=[(key, _spell_grant(key)) for key in keys],
        configured=request.app[CONFIG].server.keys,
        operators=request.app[CONFIG].server.operators,
        user_header=request.app[CONFIG].server.user_header,
        made=made,
        done=done,
    )


def _read_grant(form: Mapping[str, str]) -> Grant:
    """Return the limits of a form; raise `ApiError`."""
    filled = {name: value for name, value in form.items() if value.strip()}
    given: dict[str, Any] = {
        name: [part.strip() for part in filled[name].split(",")]
        for name in LISTS
        if name in filled
    }
    given |= {name: read_number(filled[name], name) for name in NUMBERS if name in filled}
    given |= {name: _read_lines(filled[name]) for name in LINES if name in filled}
    given |= {name: parse_pairs(filled[name]) for name in PAIRS if name in filled}
    try:
        return build_grant(**given)
    except ConfigError as exc:
        raise bad_request(f"{exc}.") from None


def _read_terms(form: Mapping[str, str]) -> Terms:
    """Return the other terms of a form for a new key; raise `ApiError`."""
    label, owner = (form.get(name, "").strip() for name in ("label", "owner"))
    try:
        check_note("label", label)
        check_note("owner", owner)
    except ConfigError as exc:
        raise bad_request(f"{exc}.") from None
    return Terms("on_behalf" in form, label, owner, _read_days(form, "days"))


def _read_days(form: Mapping[str, str], name: str) -> float | None:
    """Return days in seconds; None if the field is empty. Raise `ApiError`."""
    days = read_number(form.get(name, ""), name)
    if days is not None and days < 0:
        raise bad_request(f"{name} must be a number of days.", param=name)
    return None if days is None else days * DAY


def _read_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _spell_grant(key: StoredKey) -> dict[str, str]:
    """Return the limits of a key as its form has them."""
    grant = key.grant.model_dump(exclude_defaults=True, exclude_none=True)
    return {
        name: ", ".join(f"{k}={v}" for k, v in value.items())
        if isinstance(value, dict)
        else ("\n" if name in LINES else ", ").join(value)
        if isinstance(value, list | tuple)
        else f"{value:g}"
        for name, value in grant.items()
    }


def _no_such_key() -> ApiError:
    return bad_request("There is no key of this id in force.", param="id")
