"""Render the console's pages from templates that escape everything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aiohttp import web

from proxy.access.auth import Client
from proxy.api.app_keys import CONFIG, KEYRING, TENANT
from proxy.console.numbers import format_epsilon, format_number, format_percent, format_time
from proxy.console.replaced import describe_parts
from proxy.errors import ApiError

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["STATIC", "describe_guarantee", "page", "render", "render_error", "render_login"]


def describe_guarantee(receipt: Mapping[str, Any]) -> str:
    """Return the guarantee of a receipt in one sentence. Its `statement` is exact, and longer.

    >>> describe_guarantee({"guarantee": "ldp", "unit": "token", "epsilon": {"per_token": 6.0}})
    'A bound is proved: what is sent tells at most ε = 6 about each token.'
    """
    kind, unit = receipt["guarantee"], receipt["unit"]
    if kind == "nothing_left":
        return "Nothing leaves this machine: the local model answers alone."
    epsilon = receipt["epsilon"]
    if kind == "none" and unit == "marked part":
        return (
            "No bound is proved: the parts that were found are replaced, and everything else is "
            "sent as it is."
        )
    if kind == "none":
        return (
            f"No bound is proved: the nominal ε = {format_epsilon(epsilon['nominal'])} sets the "
            "noise, and does not limit what is told."
        )
    bound = f"at most ε = {format_epsilon(epsilon['per_token'])} about each {unit}"
    if kind == "metric":
        return f"A bound is proved: what is sent tells {bound}, and less between alike words."
    return f"A bound is proved: what is sent tells {bound}."


PAGES = (
    ("try", "Try it"),
    ("batches", "Batches"),
    ("budgets", "Budgets"),
    ("records", "Records"),
    ("health", "Health"),
    ("keys", "Keys"),
)
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "txt": "text/plain"}


def page(request: web.Request, name: str, token: str, **values: Any) -> web.Response:
    """Return a page.

    Args:
        name: its template.
        token: of the session, for its forms.
        values: for the template.
    """
    return _respond(render(request, name, token=token, **values))


def render(request: web.Request, name: str, **values: Any) -> str:
    """Return the text of a page."""
    client: Client | None = request.get(TENANT)
    keyring, config = request.app.get(KEYRING), request.app[CONFIG]
    audits = client is not None and client.role == "auditor"
    sees_all = client is not None and keyring is not None and keyring.sees_all(client)
    operator = sees_all and not audits
    hidden = {
        "try": audits,
        "keys": not operator,
        "batches": audits or not config.batches.enabled,
    }
    pages = [each for each in PAGES if not hidden.get(each[0])]
    return (
        _environment()
        .get_template(name)
        .render(
            pages=pages if client is not None else [],
            here=request.path.removeprefix("/console").strip("/").partition("/")[0] or "try",
            tenant=client.tenant if client is not None else None,
            role=client.role if client is not None else None,
            locked=keyring is not None and keyring.locked,
            operator=operator,
            gateway=config.local.mode == "none",
            partial="HX-Request" in request.headers,
            **values,
        )
    )


def render_login(request: web.Request, token: str, error: ApiError) -> web.Response:
    """Return the page that asks for a key, or leads to the provider."""
    wrong = error.message if request.method == "POST" else None
    settings = request.app[CONFIG].server.oidc
    provider = urlsplit(settings.issuer or "").hostname
    text = render(
        request, "login.html", token=token, wrong=wrong, provider=provider, keys=settings.keys
    )
    return _respond(text, error.status)


def render_error(request: web.Request, token: str, error: ApiError) -> web.Response:
    """Return the page of an error. It names what is wrong, and never what was sent."""
    text = render(request, "error.html", token=token, error=error)
    response = _respond(text, error.status)
    response.headers.update(error.headers)
    return response


def _respond(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html")


def _read_static() -> dict[str, tuple[bytes, str]]:
    """Return the files of the folder `static` with their types, by name."""
    folder = files("proxy.console") / "static"
    return {
        each.name: (each.read_bytes(), TYPES[each.name.rpartition(".")[2]])
        for each in folder.iterdir()
    }


STATIC = _read_static()


@cache
def _environment() -> Environment:
    # Lazily: it takes long to load, and many proxies never show a page.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("proxy.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "describe": describe_parts,
        "guarantee": describe_guarantee,
        "json": _format_json,
        "epsilon": format_epsilon,
        "number": format_number,
        "percent": format_percent,
        "moment": format_time,
    }
    return made


def _format_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
