"""Define the settings of the listening side: address, clients and their limits."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from proxy.config.fields import Section
from proxy.config.privacy import find_sanitizer
from proxy.config.store import Budget
from proxy.config.upstreams.connection import BaseUrl

__all__ = ["OF_USER", "ClientKey", "Limits", "Oidc", "Role", "Server", "is_loopback", "is_safe"]

OF_USER = "::"  # in a tenant's name, between a front end and its user
SECRET_HEADERS = ("authorization", "cookie", "proxy-authorization", "x-api-key")


class ClientKey(Section):
    """Hold an API key of a client: its tenant and the SHA-256 of the key."""

    tenant: str = Field(min_length=1, description="The tenant that the key belongs to.")
    sha256: str = Field(
        pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the key, in hexadecimal."
    )
    on_behalf: bool = Field(
        False,
        description="The key is of a trusted front end, which names its user in the header "
        "`server.user_header`. Each user is a tenant.",
    )

    @field_validator("tenant")
    @classmethod
    def _check_tenant(cls, value: str) -> str:
        if OF_USER in value:
            raise ValueError(f"{OF_USER!r} is in the names of front ends' users alone")
        return value


Role = Literal["operator", "auditor", "member"]  # of a person, from the strongest


class Oidc(Section):
    """Hold how people sign in to the console with OpenID Connect."""

    issuer: BaseUrl | None = Field(
        None,
        description="OpenID Connect provider at which people sign in to the console: its issuer, "
        "spelled as the provider does. null is off. With a provider, clients need keys.",
    )
    client_id: str = Field("", description="Name of the proxy at the provider.")
    client_secret: SecretStr | None = Field(
        None,
        description="The provider's secret for the proxy. null is a public client. Prefer the "
        "variable INFERDPT_SERVER__OIDC__CLIENT_SECRET.",
    )
    public_url: BaseUrl | None = Field(
        None,
        description="Address of the proxy in browsers, without a path. The provider sends people "
        "back to `/console/oidc/callback` below it. null is this machine, whichever of its "
        "loopback addresses the browser uses.",
    )
    scopes: tuple[str, ...] = Field(
        (), description="Scopes that are asked for beside openid, such as [email, groups]."
    )
    roles_claim: str = Field(
        "groups", min_length=1, description="Claim of the ID token with a person's groups."
    )
    roles: dict[str, Role] = Field(
        {},
        description="Values of that claim, each with a role: operator, auditor or member. The "
        "strongest counts; a person without one is refused.",
    )
    tenant_claim: str = Field(
        "sub",
        min_length=1,
        description="Claim of the ID token that gives a member's tenant. Users must not be able "
        "to change it; `email` counts only if the provider verified it.",
    )
    tenants: dict[str, str] = Field(
        {},
        description="Values of that claim, each with a tenant; a member needs exactly one. {} "
        "takes the value itself as the tenant's name.",
    )
    hours: float = Field(
        8.0, ge=1, le=24, description="Hours after which a person has to sign in again."
    )
    keys: bool = Field(True, description="Let clients' keys open the console, too.")

    @model_validator(mode="after")
    def _check_whole(self) -> Oidc:
        if self.issuer is None:
            if self.model_dump(exclude_defaults=True):
                raise ValueError("issuer must be set: without it, nobody signs in")
            return self
        for name in ("client_id", "roles"):
            if not getattr(self, name):
                raise ValueError(f"{name} must be set for an issuer")
        for name in ("issuer", "public_url"):
            url = getattr(self, name)
            if url is not None and not is_safe(url):
                raise ValueError(f"{name} must begin with https:// unless it is of this machine")
        if self.public_url is not None and urlsplit(self.public_url).path not in ("", "/"):
            raise ValueError("public_url must have no path: the console is at /console")
        if any(not name.isprintable() or OF_USER in name for name in self.tenants.values()):
            raise ValueError(f"tenants must be printable names without {OF_USER!r}")
        return self


class Server(Section):
    """Hold the address to listen on and the clients to serve."""

    host: str = Field(
        "127.0.0.1",
        description="Address to listen on. Any but loopback needs a client key.",
    )
    port: int = Field(8100, ge=0, le=65535, description="Port to listen on. 0 picks a free one.")
    workers: int = Field(
        1,
        ge=1,
        le=256,
        description="Processes that serve, one for each core. They share the address, the store, "
        "the local server and the metrics; each gets an equal part of the limits on requests at "
        "once, on connections and on memory. More than 1 needs Linux.",
    )
    keys: tuple[ClientKey, ...] = Field(
        (),
        description="Clients' API keys as [{tenant: alice, sha256: …}], made by `inferdpt keys "
        "new alice`; `on_behalf: true` makes one that of a front end. `inferdpt keys create` "
        "keeps them in the store instead. Once there has been a key, every client needs one.",
    )
    user_header: str = Field(
        "X-OpenWebUI-User-Id",
        pattern=r"^[A-Za-z0-9-]+$",
        description="Header in which trusted front ends (`inferdpt keys create --on-behalf`) name "
        "the user of a request. It counts for their keys alone.",
    )
    operators: tuple[str, ...] = Field(
        (),
        description="Tenants whose keys see all of /metrics, and every tenant in the console. "
        "Others see only their own account.",
    )
    console: bool = Field(
        True,
        description="Serve the console at /console: pages for a browser, under the same keys. "
        "Keys are managed there by operators and, without keys, by this machine.",
    )
    oidc: Oidc = Field(Oidc(), description="How people sign in to the console.")
    cors_origins: tuple[str, ...] = Field(
        (), description='Browser origins that may call the proxy, or ["*"].'
    )
    drain_seconds: float = Field(
        30.0, ge=0, description="Seconds that a stop waits for running requests."
    )
    ping_seconds: float = Field(
        5.0,
        gt=0,
        description="Seconds between comments on a silent stream, so that nothing on the way "
        "times out.",
    )
    body_seconds: float = Field(
        30.0,
        gt=0,
        description="Seconds that a body may take to arrive. A slower one is answered with 408.",
    )
    idle_seconds: float = Field(
        75.0,
        gt=0,
        description="Seconds without a complete request after which a connection is closed.",
    )
    connections_per_address: int = Field(
        512, ge=1, description="Connections from one address. More are closed at once."
    )
    ignore_unsupported_tools: bool = Field(
        False,
        description="Leave out tools that are not functions (web_search, mcp and so on). false "
        "refuses them with 400. Calls of such tools in a history are left out, too.",
    )
    attachments: Literal["refuse", "note"] = Field(
        "refuse",
        description="Images, audio and files, which cannot be sanitized: refuse them with 400, or "
        "put a note such as `[image left out]` in their place. Agents send their whole history "
        "again: with refuse, one picture in it refuses every later turn.",
    )

    @field_validator("user_header")
    @classmethod
    def _check_user_header(cls, value: str) -> str:
        if value.lower() in SECRET_HEADERS:  # a key must not become a name, which is logged
            raise ValueError("must be a header that holds no secret")
        return value

    @model_validator(mode="after")
    def _check_signing_in(self) -> Server:
        if self.oidc.issuer is not None:
            if not self.console:
                raise ValueError("oidc needs the console: people sign in to nothing else")
            if self.oidc.public_url is None and not is_loopback(self.host):
                raise ValueError("oidc.public_url must be set where host is not of this machine")
        return self


class Limits(Section):
    """Hold the limits on the requests of clients."""

    body_bytes: int = Field(
        8_000_000, ge=1, description="Bytes of a body. Larger ones are refused with 413."
    )
    held_bytes: int = Field(
        64_000_000,
        ge=1,
        description="Bytes of memory that all bodies above 64 kB share, half of them for one "
        "client. Bodies that do not fit wait in the queue.",
    )
    json_depth: int = Field(
        64,  # deeper JSON is more than libraries can recurse
        ge=1,
        le=128,
        description="Levels of nesting in a JSON body. Deeper ones are refused with 400.",
    )
    json_values: int = Field(
        400_000,
        ge=1000,
        description="Numbers in the lists of a body (token ids); of other values, an eighth of "
        "that. More are refused with 413.",
    )
    messages: int = Field(1000, ge=1, description="Messages in a conversation.")
    parts: int = Field(
        2000,
        ge=1,
        description="Parts and tool calls of all messages of a request together, and as many "
        "public texts in them.",
    )
    prompts: int = Field(128, ge=1, description="Prompts in one /v1/completions request.")
    document_tokens: int = Field(
        200_000,
        ge=1,
        description="cl100k tokens in one private text, and in all public text of a request.",
    )
    work_seconds: float = Field(
        120.0,
        gt=0,
        description="Seconds of processor time that the proxy spends on the texts of one request "
        "and of its answers. Then it is refused with 504.",
    )
    choices: int = Field(16, ge=1, le=128, description="The largest `n` of a request.")
    mechanisms: tuple[str, ...] | None = Field(
        None,
        description="Mechanisms that clients may request beside the default. null allows all "
        "that keep no raw word unchanged by design.",
    )
    epsilon_max: float | None = Field(
        None,
        gt=0,
        description="The largest ε that clients may request. null leaves it to the mechanism.",
    )
    concurrent_requests: int = Field(64, ge=1, description="Requests served at once. Others wait.")
    concurrent_per_client: int = Field(
        48,
        ge=1,
        description="Requests served at once for one client: a tenant or, without keys, an "
        "address.",
    )
    queue_requests: int = Field(
        256,
        ge=0,
        description="Requests that may wait; clients take turns. More are answered with 429.",
    )
    queue_seconds: float = Field(
        60.0, gt=0, description="The most seconds that a request waits before 429."
    )
    shared: SecretStr | None = Field(
        None,
        description="Where the rate limits of keys are counted. null is this process, or the "
        "store if there are several workers. `store` is the store, also for replicas; "
        "`redis://HOST:PORT` or `rediss://…` is Redis. If that place fails, "
        "requests of limited keys are answered with 503.",
    )
    budget: Budget = Field(
        Budget(),
        description="The ε that may be charged for new text. null is no limit.",
    )
    budget_tokens: Budget = Field(Budget(), description="The same limits in released tokens.")
    budget_unbounded: Budget = Field(
        Budget(),
        description="The same limits in tokens without a proved bound. 0 refuses them all.",
    )
    on_budget: Literal["refuse", "local_only"] = Field(
        "refuse",
        description="At a limit: refuse with 403, or let the local model answer alone.",
    )
    delta: float = Field(
        1e-6, gt=0, lt=1, description="The δ at which the ledger states compositions."
    )

    @field_validator("mechanisms")
    @classmethod
    def _check_mechanisms(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in value or ():
            if find_sanitizer(name).needs_model:
                raise ValueError(
                    f"{name} needs the operator's parameters: clients may request it only where "
                    "it is privacy.mechanism"
                )
        return value

    @field_validator("shared")
    @classmethod
    def _check_shared(cls, value: SecretStr | None) -> SecretStr | None:
        place = "store" if value is None else value.get_secret_value()
        if place != "store" and not place.startswith(("redis://", "rediss://")):
            raise ValueError("must be store, redis://HOST:PORT or rediss://HOST:PORT")
        return value


def is_safe(url: str) -> bool:
    """Return whether a URL is of TLS or of this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")


@lru_cache(maxsize=64)  # requests name nearly always the same
def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
