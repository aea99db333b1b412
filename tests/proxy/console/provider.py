"""An OpenID Connect provider on loopback that does as a test says, right or wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from aiohttp import web
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

__all__ = ["CLIENT", "SECRET", "FakeProvider", "providing"]

CLIENT, SECRET = "proxy", "pa:ss/word"
FORM = "application/x-www-form-urlencoded"
RSA = RSAKey.generate_key(2048, {"kid": "one"})
OTHER = RSAKey.generate_key(2048, {"kid": "one"})  # another key that calls itself the same
EC = ECKey.generate_key("P-256", {"kid": "two"})

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class FakeProvider:
    """Signs everybody in as the person of `claims`.

    Attributes:
        root: its issuer.
        claims: of the person.
        changes: laid over the claims of a token; None leaves out a claim.
        metadata: laid over its configuration.
        keys: that it publishes.
        strange: further entries among them.
        sign: makes an ID token of claims.
        answers: replaces the answer to a path.
        extra: is in every answer, too, by path.
        asked: how often each path was requested.
        forms: what its token endpoint received.
        forgets: whether a code counts once, as it should.
    """

    def __init__(self) -> None:
        self.root = ""
        self.claims: dict[str, Any] = {"sub": "u-1", "groups": ["admins"]}
        self.changes: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.keys: list[Any] = [RSA]
        self.strange: list[Any] = []
        self.sign: Callable[[dict[str, Any]], str] = self.sign_with()
        self.answers: dict[str, Answer] = {}
        self.extra: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, int] = {}
        self.forms: list[dict[str, str]] = []
        self.headers: list[str | None] = []
        self.forgets = True
        self.secret: str | None = SECRET
        self._codes: dict[str, dict[str, str]] = {}

    @staticmethod
    def sign_with(key: Any = RSA, **header: Any) -> Callable[[dict[str, Any]], str]:
        """Return what signs claims with a key."""
        algorithm = "RS256" if isinstance(key, RSAKey) else "ES256"
        header = {"alg": algorithm, "kid": key.kid, **header}
        kept = {name: value for name, value in header.items() if value is not None}

        def sign(claims: dict[str, Any]) -> str:
            return jws.serialize_compact(kept, json.dumps(claims), key, [kept["alg"]])

        return sign

    def authorize(self, url: str) -> dict[str, str]:
        """Let a person in who comes with an address of the proxy; return the answer's query."""
        assert url.startswith(f"{self.root}/authorize?")
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        code = secrets.token_hex(8)
        self._codes[code] = asked
        return {"code": code, "state": asked["state"]}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] = self.asked.get(request.path, 0) + 1
        if request.path in self.answers:
            return await self.answers[request.path](request)
        if request.path == "/.well-known/openid-configuration":
            return web.json_response(
                {
                    "issuer": self.root,
                    "authorization_endpoint": f"{self.root}/authorize",
                    "token_endpoint": f"{self.root}/token",
                    "jwks_uri": f"{self.root}/keys",
                    **self.metadata,
                    **self.extra.get(request.path, {}),
                }
            )
        if request.path == "/keys":
            keys = [key.as_dict(private=False) for key in self.keys]
            return web.json_response(
                {"keys": [*self.strange, *keys], **self.extra.get(request.path, {})}
            )
        if request.path == "/token" and request.content_type == FORM:
            return self._give_token(request, dict(await request.post()))
        raise web.HTTPNotFound

    def _give_token(self, request: web.Request, form: dict[str, Any]) -> web.Response:
        self.forms.append(form)
        self.headers.append(request.headers.get("Authorization"))
        if self.secret is not None and self.secret != self._read_secret(request, form):
            return web.json_response({"error": "invalid_client"}, status=401)
        asked = self._codes.get(form["code"])
        if asked is None or not self._fits(asked, form):
            return web.json_response({"error": "invalid_grant"}, status=400)
        if self.forgets:
            del self._codes[form["code"]]
        now = int(time.time())
        claims = {
            "iss": self.root,
            "aud": CLIENT,
            "exp": now + 300,
            "iat": now,
            "nonce": asked["nonce"],
            **self.claims,
            **self.changes,
        }
        token = self.sign({name: value for name, value in claims.items() if value is not None})
        told = {"access_token": "at-secret", "id_token": token}
        return web.json_response({**told, **self.extra.get(request.path, {})})

    @staticmethod
    def _fits(asked: dict[str, str], form: dict[str, Any]) -> bool:
        challenge = encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        return (
            asked["code_challenge_method"] == "S256"
            and asked["code_challenge"] == challenge
            and asked["redirect_uri"] == form["redirect_uri"]
            and asked["response_type"] == "code"
            and asked["client_id"] == CLIENT
        )

    @staticmethod
    def _read_secret(request: web.Request, form: dict[str, Any]) -> str | None:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            name, _, secret = base64.b64decode(given).decode().partition(":")
            return unquote(secret) if unquote(name) == CLIENT else None
        return form.get("client_secret") if form.get("client_id") == CLIENT else None


@asynccontextmanager
async def providing() -> AsyncIterator[FakeProvider]:
    provider = FakeProvider()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", provider.serve)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.root = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield provider
    finally:
        await runner.cleanup()
