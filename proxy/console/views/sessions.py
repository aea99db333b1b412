"""Handle the beginning and the end of a session, and the files that pages load."""

from __future__ import annotations

from aiohttp import web

from proxy.api.app_keys import KEYRING
from proxy.api.doors import CONSOLE_PATH
from proxy.console.door import read_form, start_session, stop_session
from proxy.console.pages import STATIC
from proxy.errors import not_found, not_permitted, unauthorized

__all__ = ["log_in", "log_out", "send_static"]


async def log_in(request: web.Request) -> web.Response:
    """Start a session for the key that was typed."""
    form = read_form(request)
    keyring = request.app[KEYRING]
    if keyring.locked:
        holder = await keyring.match(form.get("key", "").strip())
        if holder is None:
            raise unauthorized()
        if holder.client.on_behalf:  # the browser's own user is not known
            raise not_permitted("The key of a front end does not open the console.", param="key")
        start_session(request, holder)
    return _redirect()


async def log_out(request: web.Request) -> web.Response:
    """End the session in this browser."""
    read_form(request)
    stop_session(request)
    return _redirect()


async def send_static(request: web.Request) -> web.Response:
    """Send a file of the package."""
    name = request.match_info["name"]
    if name not in STATIC:
        raise not_found("There is no such file.")
    data, kind = STATIC[name]
    return web.Response(body=data, content_type=kind, charset="utf-8")


def _redirect() -> web.Response:
    return web.Response(status=303, headers={"Location": CONSOLE_PATH})
