"""Sign people in with OpenID Connect: the code flow with PKCE, against one provider.

    browser                      proxy                            provider
      │ GET /console/oidc          │                                 │
      │◄── state, nonce, challenge ┤ (all follow from one cookie)    │
      ├────────────────────────────────────────────────────────────► │
      │◄─────────────────────────────────────── code, state ─────────┤
      │ GET /console/oidc/callback │                                 │
      ├───────────────────────────►│ code, verifier ───────────────► │
      │                            │ ◄──────────────────── ID token ─┤
      │◄────── a session ──────────┤                                 │

The provider is trusted to say who somebody is, and with nothing else: its answers are read within
limits of bytes and time, no redirect is followed, and only the ID token counts, once its signature
and its claims are checked. No token is kept or logged.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import quote, urlencode, urlsplit

from aiohttp import web

from extraction.http.client import HttpClient, HttpError, Limit, Unreadable, parse
from perturb.install import install_command
from proxy.access.auth import check_tenant
from proxy.access.people import Person
from proxy.config.server import Oidc, Role, is_safe
from proxy.errors import ApiError, ConfigError

__all__ = ["PROVIDER", "Attempt", "Provider", "find_person", "refuse"]

logger = logging.getLogger("inferdpt.console")

# Signatures by a key that only the provider has: never `none`, and no HMAC, whose key is shared.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519", "EdDSA"),
)
SECONDS = 10.0  # for each answer of the provider
LIMIT = Limit(500_000, 20_000)  # a large set of keys has 100 kB
LASTING = 3600.0  # seconds for which a document of the provider is used
RENEWAL = 60.0  # seconds between two readings because of an unknown key
REST = 5.0  # seconds after a failure in which the provider is not asked again
SKEW = 60  # seconds between two clocks
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Attempt:
    """Hold what belongs to one attempt to sign in.

    All of it is made from the value of a cookie and the store's secret, so the proxy keeps nothing
    for people who never come back.

    Attributes:
        value: of the cookie.
        state, nonce: are sent to the provider, which returns them.
        verifier: proves to the provider who began.
        session: the id of the session that the attempt may begin, once.
    """

    value: str
    state: str
    nonce: str
    verifier: str
    session: str

    @classmethod
    def of(cls, value: str, sign: Callable[..., str]) -> Attempt:
        """Return the attempt of a cookie.

        Args:
            value: of the cookie.
            sign: returns an HMAC of texts under the store's secret, in hexadecimal.
        """
        names = ("state", "nonce", "verifier", "session")
        state, nonce, verifier, session = (sign("attempt", name, value) for name in names)
        return cls(value, state, nonce, verifier, session[:32])

    def check(self, query: Mapping[str, str]) -> None:
        """Check that an answer is to this attempt; raise `ApiError`."""
        if not hmac.compare_digest(query.get("state", "").encode(), self.state.encode()):
            raise refuse("This attempt was not begun in this browser, or is over")


class Provider:
    """Speak to the provider of the configuration.

    Args:
        settings: with an issuer.
        clock: monotonic, in seconds.

    Raises:
        ConfigError: the library for signatures is missing.
    """

    def __init__(self, settings: Oidc, *, clock: Callable[[], float] = time.monotonic) -> None:
        try:
            import joserfc  # noqa: F401
        except ImportError:
            raise ConfigError(
                f"server.oidc: signing in needs joserfc: {install_command('oidc')}"
            ) from None
        assert settings.issuer is not None
        self.settings = settings
        self.issuer = settings.issuer
        self._metadata = _Document(clock)
        self._keys = _Document(clock)

    async def read_metadata(self) -> Mapping[str, Any]:
        """Return what the provider tells of itself; raise `ApiError`."""
        found = await self._metadata.read(
            self.issuer.removesuffix("/") + "/.well-known/openid-configuration"
        )
        if not isinstance(found, dict) or found.get("issuer") != self.issuer:
            raise _fail("its configuration is of another issuer")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            url = found.get(name)
            if not isinstance(url, str) or not url.isprintable() or not _is_safe(url):
                raise _fail(f"its {name} is no address that begins with https://")
        return found

    async def read_keys(self, *, renewed: bool = False) -> Any:
        """Return the provider's keys as a set of the library; raise `ApiError`.

        Args:
            renewed: whether they may be no older than a minute.
        """
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet, import_key

        metadata = await self.read_metadata()
        found = await self._keys.read(metadata["jwks_uri"], RENEWAL if renewed else LASTING)
        listed = found.get("keys") if isinstance(found, dict) else None
        keys = []
        for each in listed if isinstance(listed, list) else ():
            # A set may hold keys of kinds that the library lacks. One that is a secret counts for
            # none of the signatures above.
            with suppress(JoseError, ValueError, TypeError, KeyError, AttributeError):
                keys.append(import_key(dict(each)))
        if not keys:
            raise _fail("it has no key that can be read")
        return KeySet(keys)

    async def write_request(self, attempt: Attempt, back: str) -> str:
        """Return the address at which the browser asks to sign in; raise `ApiError`.

        Args:
            back: the address to which the provider sends it back.
        """
        endpoint = (await self.read_metadata())["authorization_endpoint"]
        challenge = hashlib.sha256(attempt.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": back,
            "scope": " ".join(dict.fromkeys(("openid", *self.settings.scopes))),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    async def redeem(self, attempt: Attempt, query: Mapping[str, str], back: str) -> Person:
        """Return the person that an answer of the provider is about.

        Args:
            query: of the request that came back.
            back: as in the request of the attempt.

        Raises:
            ApiError: 403, the answer is not to this attempt, its ID token does not count, or the
                person has no role; 503, the provider does not answer as it should.
        """
        attempt.check(query)
        metadata = await self.read_metadata()
        names_itself = metadata.get("authorization_response_iss_parameter_supported") is True
        if query.get("iss", "" if names_itself else self.issuer) != self.issuer:
            raise refuse("The answer is of another provider")
        if "error" in query or not query.get("code"):
            raise refuse("The provider did not let you in")
        settings, headers = self.settings, {"Content-Type": "application/x-www-form-urlencoded"}
        form = {
            "grant_type": "authorization_code",
            "code": query["code"],
            "redirect_uri": back,
            "code_verifier": attempt.verifier,
        }
        secret = settings.client_secret
        methods = metadata.get("token_endpoint_auth_methods_supported")
        if secret is None or (
            isinstance(methods, list) and methods and "client_secret_basic" not in methods
        ):
            form["client_id"] = settings.client_id
            if secret is not None:
                form["client_secret"] = secret.get_secret_value()
        else:
            pair = f"{quote(settings.client_id, '')}:{quote(secret.get_secret_value(), '')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        told = await _fetch(metadata["token_endpoint"], urlencode(form).encode(), headers)
        token = told.get("id_token") if isinstance(told, dict) else None
        if not isinstance(token, str):
            raise _fail("it gave no ID token")
        claims = await self._read_token(token)
        self._check_claims(claims, attempt.nonce)
        return find_person(claims, settings)

    async def _read_token(self, token: str) -> dict[str, Any]:
        """Return the claims of an ID token that the provider signed; raise `ApiError`."""
        from joserfc.errors import InvalidKeyIdError, JoseError
        from joserfc.jws import JWSRegistry, deserialize_compact

        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)

        def read(keys: Any) -> Any:
            return parse(deserialize_compact(token, keys, registry=registry).payload, LIMIT)

        try:
            try:
                claims = read(await self.read_keys())
            except InvalidKeyIdError:
                claims = read(await self.read_keys(renewed=True))
        except (JoseError, Unreadable, ValueError, TypeError, AttributeError, RecursionError):
            raise refuse("The ID token's signature does not count") from None
        if not isinstance(claims, dict):
            raise refuse("The ID token holds no claims")
        return claims

    def _check_claims(self, claims: dict[str, Any], nonce: str) -> None:
        """Check that an ID token is of this provider, for this proxy and attempt, and of now;
        raise `ApiError`."""
        from joserfc.errors import ClaimError
        from joserfc.jwt import JWTClaimsRegistry

        client = self.settings.client_id
        rules = JWTClaimsRegistry(
            leeway=SKEW,
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": client},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            rules.validate(claims)
        except ClaimError as exc:
            # `claim` is of the library's rules above, or one of its own.
            raise refuse(f"The ID token's {exc.claim} does not count") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else client) != client:
            raise refuse("The ID token's azp does not count")


PROVIDER = web.AppKey("provider", Provider)  # absent where nobody signs in


def find_person(claims: Mapping[str, Any], settings: Oidc) -> Person:
    """Return the person of checked claims.

    Raises:
        ApiError: 403, they have no role, or as a member no tenant.
    """
    held = {settings.roles.get(group) for group in _list_texts(claims.get(settings.roles_claim))}
    role = next((role for role in ROLES if role in held), None)
    if role is None:
        raise refuse("Your account has no role here")
    subject = str(claims["sub"])
    tenant = _find_tenant(claims, settings) if role == "member" else subject
    try:
        check_tenant(tenant)
    except ConfigError:
        raise refuse("Your account names no tenant") from None
    return Person(subject, role, tenant)


def _find_tenant(claims: Mapping[str, Any], settings: Oidc) -> str:
    """Return the tenant of a member; raise `ApiError`."""
    claim = settings.tenant_claim
    if claim == "email" and claims.get("email_verified") is not True:
        raise refuse("The provider has not verified your address")
    found = _list_texts(claims.get(claim))
    if settings.tenants:
        found = {settings.tenants[value] for value in found if value in settings.tenants}
    if len(found) != 1:
        raise refuse("Your account names no tenant, or several")
    return found.pop()


def _list_texts(value: Any) -> set[str]:
    """Return the texts of a claim, which is one or a list."""
    values = value if isinstance(value, list) else [value]
    return {each for each in values if isinstance(each, str)}


class _Document:
    """Keep a JSON document of the provider for a while."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = asyncio.Lock()  # one request at a time, for all who wait
        self._value: Any = None
        self._read = self._failed = float("-inf")

    async def read(self, url: str, seconds: float = LASTING) -> Any:
        """Return the document, read anew if it is older than some seconds; raise `ApiError`."""
        async with self._lock:
            if self._clock() - self._read < seconds:
                return self._value
            if self._clock() - self._failed < REST:
                raise _fail("it did not answer a moment ago")
            try:
                self._value = await _fetch(url)
            except ApiError:
                self._failed = self._clock()
                raise
            self._read = self._clock()
            return self._value


async def _fetch(
    url: str, form: bytes | None = None, headers: Mapping[str, str] | None = None
) -> Any:
    """Return the JSON that the provider answers; raise `ApiError`."""
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    client = HttpClient(
        f"{parts.scheme}://{parts.netloc}", key=None, headers=headers or {}, proxied=True
    )
    try:
        async with client.open(path, form, seconds=SECONDS) as reply:
            if form is not None and reply.status == 400:
                raise refuse("The provider did not accept its own answer")
            if not reply.ok:
                raise _fail(f"it answered with HTTP {reply.status}")
            return await reply.json(LIMIT)
    except HttpError as exc:
        raise _fail(str(exc)) from exc
    finally:
        await client.aclose()


def _is_safe(url: str) -> bool:
    try:
        return is_safe(url)
    except ValueError:
        return False


def _fail(why: str) -> ApiError:
    """Return the error of a provider that does not answer as it should. The log says why."""
    logger.warning("server.oidc: the provider cannot be used: %s", why)
    return ApiError(
        503,
        "The provider of sign-ins cannot be used now; try again later.",
        type="server_error",
        code="provider_unavailable",
        retry=True,
    )


def refuse(why: str) -> ApiError:
    """Return the error of a sign-in that does not count."""
    return ApiError(
        403, f"You are not signed in. {why}.", type="permission_error", code="sign_in_refused"
    )
