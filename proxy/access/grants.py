"""Define clients and the limits that their keys carry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from perturb import Sanitizer
from perturb.options import Demands
from perturb.selective.actions import check_actions
from perturb.selective.parameters import check_thresholds
from perturb.selective.terms import check_terms
from proxy.config.errors import explain_key
from proxy.config.section import Section
from proxy.config.store import Budget
from proxy.errors import ConfigError, model_not_found, not_permitted
from proxy.sanitizers import sanitizer_names

__all__ = ["ANONYMOUS", "Client", "Grant", "Visit", "build_grant", "parse_pairs"]


class Grant(Section):
    """Limit a key further than the configuration does; null is no further limit.

    `actions` hold for types of marked parts, where they are stronger than the configured ones;
    `deny` and `thresholds` mark more parts than the configuration does.
    `budget`, `budget_tokens` and `budget_unbounded` replace the configured limits that they
    name. They apply to the tenant's account, which all of its keys share.
    """

    # JSON has no infinity: in the store it would become null, which is no limit.
    model_config = ConfigDict(allow_inf_nan=False)

    mechanisms: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    epsilon_min: float | None = Field(None, gt=0)
    epsilon_max: float | None = Field(None, gt=0)
    requests_per_minute: float | None = Field(None, gt=0)
    burst: int | None = Field(None, ge=1)
    actions: dict[str, str] = Field({})
    deny: tuple[str, ...] = ()
    thresholds: dict[str, float] = Field({})
    budget: Budget = Budget()
    budget_tokens: Budget = Budget()
    budget_unbounded: Budget = Budget()

    @field_validator("mechanisms")
    @classmethod
    def _check_mechanisms(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        known = sanitizer_names()
        if not set(value or ()).issubset(known):
            raise ValueError(f"mechanisms must be among {', '.join(known)}")
        return value

    @field_validator("actions")
    @classmethod
    def _check_actions(cls, value: dict[str, str]) -> dict[str, str]:
        return dict(check_actions(value))

    @field_validator("deny")
    @classmethod
    def _check_deny(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return check_terms("deny", value)

    @field_validator("thresholds")
    @classmethod
    def _check_thresholds(cls, value: dict[str, float]) -> dict[str, float]:
        return dict(check_thresholds(value, ("detector",)))

    @model_validator(mode="after")
    def _check_burst(self) -> Grant:
        if self.burst is not None and self.requests_per_minute is None:
            raise ValueError("burst needs requests_per_minute: alone it limits nothing")
        return self

    @property
    def demands(self) -> Demands:
        """Return what is asked for beyond the configuration."""
        return Demands.of(self.actions, self.deny, self.thresholds)


@dataclass(frozen=True)
class Visit:
    """Identify one request of a client, for the audit record.

    Attributes:
        request: its id, as the client and the log see it.
        endpoint: its path, as the routes spell it.
        time: when it was admitted, in seconds since 1970.
    """

    request: str = ""
    endpoint: str = ""
    time: float = 0.0


@dataclass(frozen=True)
class Client:
    """Hold the client of a request.

    Attributes:
        tenant: the tenant.
        grant: the limits of its key.
        key: the key's id; "" for a key of the configuration, which has no further limits.
        visit: the request, once it is admitted.
    """

    tenant: str
    grant: Grant = field(default_factory=Grant)
    key: str = ""
    visit: Visit = Visit()

    def during(self, visit: Visit) -> Client:
        """Return the client during a request."""
        return Client(self.tenant, self.grant, self.key, visit)

    def serves(self, model: str) -> bool:
        """Return whether the key allows a model, by the name that clients use."""
        return self.grant.models is None or model in self.grant.models

    def check(self, model: str | None, sanitizer: Sanitizer) -> None:
        """Check that the key allows a request.

        Args:
            model: the name that clients use; None for a preview.
            sanitizer: the requested one, or the operator's.

        Raises:
            ApiError: 403, or 404 for the model.
        """
        grant, epsilon = self.grant, sanitizer.guarantee.nominal
        if model is not None and not self.serves(model):
            raise model_not_found()
        if grant.mechanisms is not None and sanitizer.name not in grant.mechanisms:
            raise not_permitted(
                f"This key does not allow the mechanism {sanitizer.name}.",
                param="inferdpt.mechanism",
            )
        if grant.epsilon_min is not None and epsilon < grant.epsilon_min:
            raise not_permitted(
                f"epsilon must be >= {grant.epsilon_min:g} with this key, is {epsilon:g}.",
                param="inferdpt.epsilon",
            )
        if grant.epsilon_max is not None and epsilon > grant.epsilon_max:
            raise not_permitted(
                f"epsilon must be <= {grant.epsilon_max:g} with this key, is {epsilon:g}.",
                param="inferdpt.epsilon",
            )


ANONYMOUS = Client("anonymous")  # the only client of a proxy without keys


def build_grant(**given: Any) -> Grant:
    """Build the grant of a key; None leaves out a limit.

    Raises:
        ConfigError: a limit breaks its rule.
    """
    try:
        grant = Grant.model_validate({k: v for k, v in given.items() if v is not None})
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        where = [".".join(str(part) for part in error["loc"])] if error["loc"] else []
        raise ConfigError(": ".join([*where, explain_key(dict(error), Grant)])) from None
    least, most = grant.epsilon_min, grant.epsilon_max
    if least is not None and most is not None and least > most:
        raise ConfigError(f"epsilon_min must be <= epsilon_max, is {least:g} > {most:g}")
    return grant


def parse_pairs(text: str | None) -> dict[str, str] | None:
    """Parse `NAME=VALUE,…`; None stays None.

    >>> parse_pairs("day=5000, total=100000")
    {'day': '5000', 'total': '100000'}
    """
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    return {name.strip(): value.strip() for name, _, value in pairs}
