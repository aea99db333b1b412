"""Who asks, and what that client may ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import Field, field_validator, model_validator

from extraction.dp_prompt import NAME as DP_PROMPT
from perturb import Sanitizer, mechanism_names
from proxy.config_store import Budget, Section
from proxy.errors import model_not_found, not_permitted

__all__ = ["ANONYMOUS", "Client", "Grant"]


class Grant(Section):
    """What a key allows, within what the configuration allows; null is no limit of the key's.

    `budget` and `budget_tokens` take the place of the configured limits they name. They are
    held against the tenant's account, which all of its keys share.
    """

    mechanisms: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    epsilon_min: float | None = Field(None, gt=0)
    epsilon_max: float | None = Field(None, gt=0)
    requests_per_minute: float | None = Field(None, gt=0)
    burst: int | None = Field(None, ge=1)
    budget: Budget = Budget()
    budget_tokens: Budget = Budget()

    @field_validator("mechanisms")
    @classmethod
    def _known(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        known = (*mechanism_names(), DP_PROMPT)
        if not set(value or ()).issubset(known):
            raise ValueError(f"mechanisms must be among {', '.join(known)}")
        return value

    @model_validator(mode="after")
    def _together(self) -> Grant:
        if self.burst is not None and self.requests_per_minute is None:
            raise ValueError("burst needs requests_per_minute: alone it limits nothing")
        return self


@dataclass(frozen=True)
class Client:
    """Whose request it is: the tenant, what its key allows, and the key's id ("" for the
    configuration's keys, which allow everything the configuration does)."""

    tenant: str
    grant: Grant = field(default_factory=Grant)
    key: str = ""

    def serves(self, model: str) -> bool:
        """Whether the key allows a model, by the name clients use."""
        return self.grant.models is None or model in self.grant.models

    def check(self, model: str | None, sanitizer: Sanitizer) -> None:
        """See whether the key allows a request; the mechanism and ε are the operator's where
        the client named none.

        Args:
            model: the name clients use; None for a preview.

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


ANONYMOUS = Client("anonymous")  # the one client of a proxy without keys
