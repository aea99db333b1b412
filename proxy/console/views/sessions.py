"""Handle the beginning and the end of a session, and the files that pages load."""

from __future__ import annotations

from aiohttp import web

from proxy.api.app_keys import CONFIG, KEYRING, RATES
from proxy.api.middleware import CONSOLE_PATH
from proxy.console.door import (
    begin_attempt,
    check_site,
    find_address,
    read_attempt,
    read_form,
    start_person_session,
    start_session,
    stop_session,
)
from proxy.console.oidc import PROVIDER
from proxy.console.pages import STATIC, page
from proxy.errors import not_found, not_permitted, unauthorized

__all__ = ["begin_sign_in", "end_sign_in", "log_in", "log_out", "send_static"]


async def log_in(request: web.Request) -> web.Response:
    """Start a session for the key that was typed."""
    form = read_form(request)
    keyring = request.app[KEYRING]
    if not request.app[CONFIG].server.oidc.keys:
        raise not_permitted("Keys do not open the console here: sign in.", param="key")
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
    await stop_session(request)
    return _redirect()


async def begin_sign_in(request: web.Request) -> web.Response:
    """Send the browser to the provider."""
    check_site(request)
    back = find_address(request)
    return _redirect(await request.app[PROVIDER].write_request(begin_attempt(request), back))


async def end_sign_in(request: web.Request) -> web.Response:
    """Start the session of the person whom the provider names."""
    attempt, back = read_attempt(request), find_address(request)
    await request.app[RATES].take_login(request.remote or "")
    person = await request.app[PROVIDER].redeem(attempt, request.query, back)
    await start_person_session(request, attempt, person)
    # No redirect: the provider's site began this navigation, and cookies of the console are not
    # sent in any that another site began.
    return page(request, "signed_in.html", token="")


async def send_static(request: web.Request) -> web.Response:
    """Send a file of the package."""
    name = request.match_info["name"]
    if name not in STATIC:
        raise not_found("There is no such file.")
    data, kind = STATIC[name]
    return web.Response(body=data, content_type=kind, charset="utf-8")


def _redirect(url: str = CONSOLE_PATH) -> web.Response:
    return web.Response(status=303, headers={"Location": url})
