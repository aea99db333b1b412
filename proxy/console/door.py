"""Let browsers into the console: sessions, and the refusal of other sites' pages.

A session is a signed cookie. One of a key is not stored: it names the key and is signed together
with that key's SHA-256, so it ends with the key. One of a person who signed in is in the store,
see `proxy.access.people`. Forms carry a token made from the cookie.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlsplit

from aiohttp import web

from proxy.access.auth import ANONYMOUS, Client, Holder
from proxy.access.people import People, Person
from proxy.api.app_keys import BODY, CONFIG, KEYRING, RATES, STORE, TENANT
from proxy.api.middleware import CONSOLE_PATH, check_host
from proxy.console.oidc import Attempt, refuse
from proxy.console.pages import render_error, render_login
from proxy.errors import ApiError, bad_request, not_permitted, too_large, unauthorized
from proxy.storage.digests import Digests
from proxy.storage.store import SIGN_IN_SECONDS

__all__ = [
    "CALLBACK",
    "HOURS",
    "LOGIN",
    "SIGN_IN",
    "ConsoleDoor",
    "Session",
    "begin_attempt",
    "check_site",
    "find_address",
    "make_token",
    "read_attempt",
    "read_form",
    "start_person_session",
    "start_session",
    "stop_session",
]

HOURS = 12  # after which a key has to be typed again
COOKIE = "inferdpt_console"
ATTEMPT = "inferdpt_sign_in"
NOBODY = "-"  # in place of a key: no key is needed, or none was typed yet
PERSON = "person"  # in place of a key: a person signed in
FORM = "application/x-www-form-urlencoded"
FIELDS = 64  # of a form
LOGIN_BYTES = 4096  # of a form that nobody has logged in for
OPEN = f"{CONSOLE_PATH}/static/"
LOGIN = f"{CONSOLE_PATH}/login"
LOGOUT = f"{CONSOLE_PATH}/logout"
SIGN_IN = f"{CONSOLE_PATH}/oidc"
CALLBACK = f"{SIGN_IN}/callback"
ENTRANCES = (LOGIN, SIGN_IN, CALLBACK)
# All that auditors see; everything else, forms and later pages included, is closed to them.
AUDITED = frozenset(
    CONSOLE_PATH + path
    for path in ("", "/budgets", "/budgets/export", "/records", "/records/export", "/health")
)
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
    r"(?P<expiry>\d{1,12})\.(?P<key>[0-9a-f]{12,16}|-|person)\.(?P<id>[0-9a-f]{32})\.[0-9a-f]{64}"
)
_ATTEMPT = re.compile(r"(?P<expiry>\d{1,12})\.[0-9a-f]{32}")


@dataclass(frozen=True)
class Session:
    """Hold the value of a session's cookie, and for how many seconds a browser is to keep it; None
    if it has it already."""

    value: str
    seconds: int | None = None


SESSION = web.RequestKey("console_session", Session)
ATTEMPTS = web.RequestKey[str]("console_attempt", str)  # the cookie to set; "" removes it


class ConsoleDoor:
    """Guard the console, see `proxy.api.middleware.Door`."""

    async def enter(self, request: web.Request) -> bool:
        """Find the client of a request by its session.

        Raises:
            ApiError: 401 without a session; 403 for a page of another site, or for what auditors
                may not do; 413 or 429 for a login that is too large or one of too many.
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
        session, client = await _read_session(request)
        request[SESSION] = session or _make_session(request)
        if not locked:
            request[TENANT] = ANONYMOUS
        elif client is not None:
            request[TENANT] = client
        elif request.path not in ENTRANCES:
            raise unauthorized()
        if client is not None and client.role == "auditor" and request.path not in ENTRANCES:
            _check_auditor(request)
        return False

    def answer_error(self, request: web.Request, error: ApiError) -> web.Response:
        """Return the page of an error; without a session, the page that asks for a key."""
        token = make_token(request) if SESSION in request else ""
        render = render_login if error.status == 401 and token else render_error
        return render(request, token, error)

    def set_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Set the headers of a page, and the cookie of a new session."""
        response.headers.update(HEADERS)
        static = request.path.startswith(OPEN) and response.status == 200
        response.headers["Cache-Control"] = "no-cache" if static else "no-store"
        public = request.app[CONFIG].server.oidc.public_url or ""
        # aiohttp writes its cookies before this hook.
        secure = "https" in (_read_origin(request).scheme, urlsplit(public).scheme)
        end = "; HttpOnly" + ("; Secure" if secure else "")
        session, attempt = request.get(SESSION), request.get(ATTEMPTS)
        if session is not None and session.seconds is not None:
            response.headers.add(
                "Set-Cookie",
                f"{COOKIE}={session.value}; Path={CONSOLE_PATH}; Max-Age={session.seconds}; "
                f"SameSite=Strict{end}",
            )
        if attempt is not None:
            # Lax, since the provider's site leads the browser back.
            seconds = int(SIGN_IN_SECONDS) if attempt else 0
            response.headers.add(
                "Set-Cookie",
                f"{ATTEMPT}={attempt}; Path={CALLBACK}; Max-Age={seconds}; SameSite=Lax{end}",
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
    request[SESSION] = _make_session(request, holder.name, holder.sha256)


async def start_person_session(request: web.Request, attempt: Attempt, person: Person) -> None:
    """Start the session of a person who signed in.

    Raises:
        ApiError: 403, this attempt began one before.
    """
    settings = request.app[CONFIG].server.oidc
    if not await People(request.app[STORE], settings).begin(attempt.session, person):
        raise refuse("This attempt was used before")
    seconds = int(settings.hours * 3600)
    request[SESSION] = _make_session(request, PERSON, id_=attempt.session, seconds=seconds)


async def stop_session(request: web.Request) -> None:
    """Stop a session: the browser gets one of nobody. A person's ends in all copies."""
    found = _COOKIE.fullmatch(request[SESSION].value)
    if found is not None and found["key"] == PERSON:
        await People(request.app[STORE], request.app[CONFIG].server.oidc).end(found["id"])
    request[SESSION] = _make_session(request)


def begin_attempt(request: web.Request) -> Attempt:
    """Begin to sign in; the browser gets the cookie of the attempt."""
    expiry = int(time.time() + SIGN_IN_SECONDS)
    request[ATTEMPTS] = value = f"{expiry}.{secrets.token_hex(16)}"
    return Attempt.of(value, lambda *parts: _sign(request, *parts))


def read_attempt(request: web.Request) -> Attempt:
    """Return the attempt that a browser comes back from; its cookie is used up.

    Raises:
        ApiError: 403, it has no such cookie, or one of long ago.
    """
    value = request.cookies.get(ATTEMPT, "")
    request[ATTEMPTS] = ""
    found = _ATTEMPT.fullmatch(value)
    if found is None or int(found["expiry"]) < time.time():
        raise refuse("This attempt was not begun in this browser, or is over")
    return Attempt.of(value, lambda *parts: _sign(request, *parts))


def find_address(request: web.Request) -> str:
    """Return the address to which the provider sends a browser back: a configured one, or one of
    this machine.

    Raises:
        ApiError: 403, none is configured and the request names another machine.
    """
    public = request.app[CONFIG].server.oidc.public_url
    if public is None:
        try:
            check_host(request)
        except ApiError:
            message = "server.oidc.public_url must be set to sign in from another machine."
            raise not_permitted(message, param="host") from None
        public = f"http://{request.host}"
    return public.rstrip("/") + CALLBACK


def check_site(request: web.Request) -> None:
    """Check that no page of another site leads here; raise `ApiError`."""
    if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        raise not_permitted("Begin on the console's own page.", param="origin")


def _check_auditor(request: web.Request) -> None:
    """Check that a request is one of an auditor's; raise `ApiError`."""
    reads = request.method in ("GET", "HEAD") and request.path in AUDITED
    if not reads and (request.method, request.path) != ("POST", LOGOUT):
        raise not_permitted("Auditors see budgets, records and health alone.", param="role")


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


def _make_session(
    request: web.Request,
    name: str = NOBODY,
    digest: str = "",
    *,
    id_: str | None = None,
    seconds: int = HOURS * 3600,
) -> Session:
    head = f"{int(time.time()) + seconds}.{name}.{id_ or secrets.token_hex(16)}"
    return Session(f"{head}.{_sign(request, 'session', head, digest)}", seconds)


async def _read_session(request: web.Request) -> tuple[Session | None, Client | None]:
    """Return the session of a request and its client; None if it has none."""
    value = request.cookies.get(COOKIE, "")
    found = _COOKIE.fullmatch(value)
    if found is None or int(found["expiry"]) < time.time():
        return None, None
    client, digest = await _find_client(request, found["key"], found["id"])
    if client is None and found["key"] != NOBODY:
        return None, None
    head, _, mac = value.rpartition(".")
    good = _sign(request, "session", head, digest)
    return (Session(value), client) if hmac.compare_digest(mac, good) else (None, None)


async def _find_client(request: web.Request, name: str, id_: str) -> tuple[Client | None, str]:
    """Return the client of a session and its key's SHA-256; None if neither key nor person is in
    force."""
    keyring, settings = request.app[KEYRING], request.app[CONFIG].server.oidc
    if name == PERSON and settings.issuer is not None:
        person = await People(request.app[STORE], settings).find(id_)
        if person is not None:
            grant = await keyring.find_grant(person.tenant)
            return Client(person.tenant, grant, role=person.role), ""
    elif name not in (NOBODY, PERSON) and settings.keys:
        holder = await keyring.find(name)
        if holder is not None and not holder.client.on_behalf:
            return holder.client, holder.sha256
    return None, ""


def _sign(request: web.Request, *parts: str) -> str:
    return Digests(request.app[STORE]).of("console", *parts).hex()
