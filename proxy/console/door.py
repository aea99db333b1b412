"""Let browsers into the console: sessions, and the refusal of other sites' pages.

A session is a signed cookie: nothing about it is stored. It names a key and is signed together
with that key's SHA-256, so it ends with the key. Forms carry a token made from the cookie.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlsplit

from aiohttp import web

from proxy.access.auth import ANONYMOUS, Holder
from proxy.api.app_keys import BODY, KEYRING, RATES, STORE, TENANT
from proxy.api.doors import CONSOLE_PATH, check_host
from proxy.console.pages import render_error, render_login
from proxy.errors import ApiError, bad_request, not_permitted, too_large, unauthorized
from proxy.storage.digests import Digests

__all__ = [
    "HOURS",
    "LOGIN",
    "ConsoleDoor",
    "Session",
    "make_token",
    "read_form",
    "start_session",
    "stop_session",
]

HOURS = 12  # after which a key has to be typed again
COOKIE = "inferdpt_console"
NOBODY = "-"  # in place of a key: no key is needed, or none was typed yet
FORM = "application/x-www-form-urlencoded"
FIELDS = 64  # of a form
LOGIN_BYTES = 4096  # of a form that nobody has logged in for
OPEN = f"{CONSOLE_PATH}/static/"
LOGIN = f"{CONSOLE_PATH}/login"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_COOKIE = re.compile(
    r"(?P<expiry>\d{1,12})\.(?P<key>[0-9a-f]{12,16}|-)\.[0-9a-f]{32}\.[0-9a-f]{64}"
)


@dataclass(frozen=True)
class Session:
    """Hold the value of a session's cookie, and whether the browser has it yet."""

    value: str
    fresh: bool = False


SESSION = web.RequestKey("console_session", Session)


class ConsoleDoor:
    """Guard the console, see `proxy.api.doors.Door`."""

    async def enter(self, request: web.Request) -> bool:
        """Find the client of a request by its session.

        Raises:
            ApiError: 401 without a session; 403 for a page of another site; 413 or 429 for a
                login that is too large or one of too many.
        """
        if request.path.startswith(OPEN):
            return False
        locked = await request.app[KEYRING].required()
        if not locked:
            check_host(request)
        if request.method == "POST":
            _check_origin(request)
        if locked and request.method == "POST" and request.path == LOGIN:
            _check_size(request)
            await request.app[RATES].take_login(request.remote or "")
        session, holder = await _read_session(request)
        request[SESSION] = session or _make_session(request)
        if not locked:
            request[TENANT] = ANONYMOUS
        elif holder is not None:
            request[TENANT] = holder.client
        elif request.path != LOGIN:
            raise unauthorized()
        return False

    def answer_error(self, request: web.Request, error: ApiError) -> web.Response:
        """Return the page of an error; without a session, the page that asks for a key."""
        if error.status == 401 and SESSION in request:
            return render_login(request, make_token(request), error)
        return render_error(request, error)

    def set_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Set the headers of a page, and the cookie of a new session."""
        response.headers.update(HEADERS)
        static = request.path.startswith(OPEN) and response.status == 200
        response.headers["Cache-Control"] = "no-cache" if static else "no-store"
        session = request.get(SESSION)
        if session is not None and session.fresh:
            # aiohttp writes its cookies before this hook.
            secure = _read_origin(request).scheme == "https"
            response.headers.add(
                "Set-Cookie",
                f"{COOKIE}={session.value}; Path={CONSOLE_PATH}; Max-Age={HOURS * 3600}; "
                "HttpOnly; SameSite=Strict" + ("; Secure" if secure else ""),
            )


def make_token(request: web.Request) -> str:
    """Return the token that the forms of a session carry."""
    return _sign(request, "token", request[SESSION].value)


def read_form(request: web.Request) -> dict[str, str]:
    """Read the form of a POST and check its token; every form is read here.

    Raises:
        ApiError: 400, it is not a form; 403, it is not one of this session.
    """
    # Not `request.content_type`, which reads all parameters and fails on some.
    kind = request.headers.get("Content-Type", "").partition(";")[0]
    if kind.strip().lower() != FORM:
        raise bad_request(f"The body must be {FORM}.", code="invalid_body")
    try:
        pairs = parse_qsl(
            request.pop(BODY).decode("utf-8"), keep_blank_values=True, max_num_fields=FIELDS
        )
    except ValueError:
        raise bad_request("The form cannot be read.", code="invalid_body") from None
    form = dict(pairs)
    given = form.pop("token", "").encode()
    if not hmac.compare_digest(given, make_token(request).encode()):
        raise not_permitted("The form is of another session: reload the page.", param="token")
    return form


def start_session(request: web.Request, holder: Holder) -> None:
    """Start the session of a key."""
    request[SESSION] = _make_session(request, holder)


def stop_session(request: web.Request) -> None:
    """Stop a session: the browser gets one without a key."""
    request[SESSION] = _make_session(request)


def _check_origin(request: web.Request) -> None:
    """Check that a form comes from a page of the console; raise `ApiError`."""
    origin = _read_origin(request)
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    if origin.netloc.lower() != request.host.lower() or site != "same-origin":
        raise not_permitted("This form is not of the console's own pages.", param="origin")


def _read_origin(request: web.Request) -> SplitResult:
    """Return the origin of a request; an empty one if it has none, or none that can be read."""
    try:
        return urlsplit(request.headers.get("Origin", ""))
    except ValueError:
        return urlsplit("")


def _check_size(request: web.Request) -> None:
    """Check that a login holds no memory that clients wait for, before it is read; raise
    `ApiError`."""
    size = request.content_length
    if size is None or size > LOGIN_BYTES or "Content-Encoding" in request.headers:
        raise too_large(f"The form must state its length, of at most {LOGIN_BYTES} bytes.")


def _make_session(request: web.Request, holder: Holder | None = None) -> Session:
    name, digest = (NOBODY, "") if holder is None else (holder.name, holder.sha256)
    head = f"{int(time.time()) + HOURS * 3600}.{name}.{secrets.token_hex(16)}"
    return Session(f"{head}.{_sign(request, 'session', head, digest)}", fresh=True)


async def _read_session(request: web.Request) -> tuple[Session | None, Holder | None]:
    """Return the session of a request, and the holder of its key; None if it has none."""
    value = request.cookies.get(COOKIE, "")
    found = _COOKIE.fullmatch(value)
    if found is None or int(found["expiry"]) < time.time():
        return None, None
    named = found["key"] != NOBODY
    holder = await request.app[KEYRING].find(found["key"]) if named else None
    if named and (holder is None or holder.client.on_behalf):
        return None, None
    head, _, mac = value.rpartition(".")
    good = _sign(request, "session", head, "" if holder is None else holder.sha256)
    return (Session(value), holder) if hmac.compare_digest(mac, good) else (None, None)


def _sign(request: web.Request, *parts: str) -> str:
    return Digests(request.app[STORE]).of("console", *parts).hex()
