"""Define the settings of the untrusted models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from proxy.config.fields import Section
from proxy.config.upstreams.connection import BaseUrl, check_key, read_key

__all__ = [
    "DEFAULT",
    "Alias",
    "NamedRemote",
    "Remote",
    "check_models",
    "find_place",
    "make_prefix",
]

DEFAULT = "default"  # the alias of the section `remote`
DISCOVER = "discover"
OPENAI_KEY = "OPENAI_API_KEY"


def _check_alias(alias: str) -> str:
    if not _ALIAS.fullmatch(alias) or alias == DEFAULT:
        raise ValueError(
            "the alias must be 1 to 32 small letters, digits, _ and -, begin with a letter and "
            f"not be {DEFAULT}, which is the section `remote`"
        )
    return alias


def _check_models(models: Any) -> Any:
    """Check the three forms; a union would explain an error of one as errors of all."""
    if isinstance(models, list | tuple):
        if not all(isinstance(name, str) and _LISTED.fullmatch(name) for name in models):
            raise ValueError(
                "a name in a list must be 1 to 128 letters, digits and . _ : / @ + -, with * for "
                "any of them; other names need a mapping, such as {name: name of the remote}"
            )
        return tuple(models)
    if isinstance(models, dict):
        names = [name for pair in models.items() for name in pair]
        if not all(isinstance(name, str) for name in names):
            raise ValueError("a mapping must lead from names to names, such as {gpt-4o: gpt-4o}")
        if any("*" in name for name in names):
            raise ValueError("patterns with * must stand in a list, such as [gpt-4o, o3-*]")
    elif models != DISCOVER:
        raise ValueError("must be a mapping of names, a list of names and patterns, or discover")
    return models


_LISTED = re.compile(r"[A-Za-z0-9*][A-Za-z0-9._:/@+*-]{0,127}")
Models = Annotated[
    dict[str, str] | tuple[str, ...] | Literal["discover"], BeforeValidator(_check_models)
]
_ALIAS = re.compile(r"[a-z][a-z0-9_-]{0,31}")
Alias = Annotated[str, AfterValidator(_check_alias)]


class Remote(Section):
    """Hold the connection to the untrusted model."""

    base_url: BaseUrl = Field(
        "https://api.openai.com/v1", description="Address of the remote's API."
    )
    api: Literal["openai", "messages"] = Field(
        "openai",
        description="API of the remote: OpenAI's, or Anthropic's Messages API "
        "(base_url https://api.anthropic.com/v1).",
    )
    api_key: SecretStr | None = Field(
        None, description="Key of the remote. Prefer the variable that `api_key_env` names."
    )
    api_key_env: str | None = Field(
        OPENAI_KEY,
        description="Environment variable that holds the key where `api_key` is null.",
    )
    models: Models = Field(
        {"gpt-4o": "gpt-4o"},
        description="Models that clients may use; others are answered with 404. A mapping has "
        "the clients' names, each with the remote's own; a list has the remote's own names and "
        "patterns ([gpt-4o, o3-*]), and discover is all that the remote lists. What matches a "
        "pattern is served only if the remote lists it. {} turns the remote off, where `remotes` "
        "has others.",
    )
    timeout_seconds: float = Field(120.0, gt=0, description="Seconds that one attempt may take.")
    patience_seconds: float | None = Field(
        None,
        gt=0,
        description="Seconds after which a generation, further attempts included, is used as far "
        "as it has come; the local model answers alone if nothing has. null waits for its end.",
    )
    retries: int = Field(
        2,
        ge=0,
        le=10,
        description="Further attempts of one call, on connection errors, 408, 409, 429 and 5xx.",
    )
    concurrency: int = Field(32, ge=1, description="Calls at once.")
    send_seed: bool = Field(False, description="Send a request's seed to the remote.")
    identifiers: Literal["drop", "pseudonym"] = Field(
        "drop",
        description="With local.mode none: leave out user, safety_identifier and "
        "prompt_cache_key, or send a keyed hash of each.",
    )
    on_remote_failure: Literal["error", "local_only"] = Field(
        "error",
        description="If the remote fails: an error, or an answer by the local model alone, which "
        "the receipt states.",
    )

    @model_validator(mode="after")
    def _check_key_text(self) -> Remote:
        check_key(self.api_key, self.api_key_env)
        return self

    @model_validator(mode="after")
    def _check_api(self) -> Remote:
        """Refuse to send the key of one API to a remote that speaks another."""
        if self.api == "messages" and urlsplit(self.base_url).hostname == "api.openai.com":
            raise ValueError("api messages needs a base_url, such as https://api.anthropic.com/v1")
        if self.api == "messages" and self.api_key is None and self.api_key_env == OPENAI_KEY:
            raise ValueError(
                f"api messages: {OPENAI_KEY} is the key of another API; set api_key_env, for "
                "instance to ANTHROPIC_API_KEY"
            )
        return self

    def names(self, alias: str) -> dict[str, str]:
        """Return the names that clients use, each with the remote's own, apart from what is
        discovered."""
        if isinstance(self.models, dict):
            return self.models
        own = [name for name in self._listed if "*" not in name]
        return {make_prefix(alias) + name: name for name in own}

    @property
    def patterns(self) -> tuple[str, ...]:
        """Return the patterns of names that are served if the remote lists them."""
        return tuple(name for name in self._listed if "*" in name)

    @property
    def _listed(self) -> tuple[str, ...]:
        if self.models == DISCOVER:
            return ("*",)
        return self.models if isinstance(self.models, tuple) else ()

    @property
    def key(self) -> str | None:
        """Return the operator's key: configured, else from the environment."""
        return read_key(self.api_key, self.api_key_env)


class NamedRemote(Remote):
    """Hold the connection to a further untrusted model. It gets no key of another's, so nothing
    that belongs to an account has a default."""

    base_url: BaseUrl = Field(description="Address of the remote's API.")
    api_key_env: str | None = Field(
        None, description="Environment variable that holds the key where `api_key` is null."
    )
    models: Models = Field(
        "discover",
        description="As those of `remote`; but what is listed or discovered is served under the "
        "alias, such as ALIAS/gpt-4o.",
    )

    @model_validator(mode="after")
    def _check_some(self) -> NamedRemote:
        if not self.models:
            raise ValueError("models must have a name")
        return self


def make_prefix(alias: str) -> str:
    """Return what stands before the names of a remote's own in those that clients use."""
    return "" if alias == DEFAULT else f"{alias}/"


def find_place(alias: str) -> str:
    """Return the place of a remote in the configuration."""
    return "remote" if alias == DEFAULT else f"remotes.{alias}"


def check_models(remotes: Mapping[str, Remote]) -> None:
    """Check that there is a model, and that each name belongs to one remote.

    Args:
        remotes: by alias.

    Raises:
        ValueError: a name belongs to two remotes; both are named.
    """
    owners: dict[str, str] = {}
    for alias, remote in remotes.items():
        for name in remote.names(alias):
            if name in owners:
                raise ValueError(
                    f"{find_place(owners[name])}.models and {find_place(alias)}.models both have "
                    f"the name {name!r}; give one of them another name"
                )
            owners[name] = alias
    if not owners and not any(remote.patterns for remote in remotes.values()):
        raise ValueError("remote.models must have a name, or `remotes` a remote")
