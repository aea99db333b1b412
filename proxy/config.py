"""The configuration: every setting, its default and its rule.

Read from YAML, overridden by the command line; secrets come from the environment. Unknown keys
are errors that name the key and the file.
"""

from __future__ import annotations

import ipaddress
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from extraction.dp_prompt import NAME as DP_PROMPT
from extraction.dp_prompt import PromptParameters
from extraction.errors import TemplateError
from extraction.prompts import Prompts
from perturb import ParameterError, mechanism_class, mechanism_names
from perturb.document import DocumentOptions
from proxy.config_store import Budget, Memo, Section, Store
from proxy.errors import ConfigError
from proxy.housekeeping import SHIPPED

__all__ = [
    "Budget",
    "ClientKey",
    "Config",
    "Embedded",
    "Limits",
    "Local",
    "Memo",
    "Privacy",
    "Remote",
    "Section",
    "Server",
    "Store",
    "Vllm",
    "is_loopback",
    "load_config",
]


def _mechanism(name: str) -> Any:
    try:
        return mechanism_class(name)
    except ParameterError:
        known = ", ".join((*mechanism_names(), DP_PROMPT))
        raise ValueError(f"mechanism must be one of {known}") from None


class ClientKey(Section):
    """An API key of a client: whose it is and the SHA-256 of the key."""

    tenant: str = Field(min_length=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Server(Section):
    """The listening side."""

    host: str = "127.0.0.1"
    port: int = Field(8100, ge=0, le=65535)
    keys: tuple[ClientKey, ...] = ()
    operators: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    drain_seconds: float = Field(30.0, ge=0)
    ping_seconds: float = Field(5.0, gt=0)


class Limits(Section):
    """What a client may send and ask for."""

    body_bytes: int = Field(8_000_000, ge=1)
    json_depth: int = Field(64, ge=1)
    messages: int = Field(1000, ge=1)
    prompts: int = Field(128, ge=1)
    document_tokens: int = Field(200_000, ge=1)
    choices: int = Field(16, ge=1, le=128)
    mechanisms: tuple[str, ...] | None = None
    epsilon_max: float | None = Field(None, gt=0)
    concurrent_requests: int = Field(64, ge=1)
    budget: Budget = Budget()
    budget_tokens: Budget = Budget()
    on_budget: Literal["refuse", "local_only"] = "refuse"
    delta: float = Field(1e-6, gt=0, lt=1)

    @field_validator("mechanisms")
    @classmethod
    def _known(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in value or ():
            if name == DP_PROMPT:
                raise ValueError(
                    f"{DP_PROMPT} needs the operator's parameters: clients may ask for it where "
                    "it is privacy.mechanism, and nowhere else"
                )
            _mechanism(name)
        return value


class Privacy(Section):
    """How documents are perturbed."""

    mechanism: str = "rantext"
    epsilon: float = 6.0
    parameters: dict[str, Any] = Field({})
    table: str | None = None
    require_certificate: bool = False
    certificates: tuple[str, ...] = ()
    oov: Literal["map", "drop"] = "map"
    number: Literal["random", "drop"] = "random"
    layout: Literal["keep", "drop"] = "keep"
    system: Literal["local", "public", "perturb"] = "local"
    public_tags: bool = True

    @model_validator(mode="after")
    def _valid(self) -> Privacy:
        if "seed" in self.parameters:
            raise ValueError("parameters: a seed is refused, seeded noise protects nothing")
        prompted = self.mechanism == DP_PROMPT
        kind = PromptParameters if prompted else _mechanism(self.mechanism).parameter_type
        try:
            kind(epsilon=self.epsilon, **self.parameters)
        except TypeError:
            raise ValueError(f"parameters: {self.mechanism} does not have one of them") from None
        except ParameterError as exc:
            raise ValueError(str(exc)) from None
        if self.require_certificate and not self.certificates:
            raise ValueError(
                "require_certificate needs certificates, which `inferdpt certify` makes"
            )
        if self.require_certificate and prompted:
            raise ValueError(f"require_certificate: there is no certificate for {DP_PROMPT}")
        return self

    @property
    def paraphrasing(self) -> PromptParameters | None:
        """DP-Prompt's parameters, where that is the mechanism."""
        if self.mechanism != DP_PROMPT:
            return None
        return PromptParameters(epsilon=self.epsilon, **self.parameters)

    @property
    def document_options(self) -> DocumentOptions:
        """The treatment of tokens outside V."""
        return DocumentOptions(oov=self.oov, number=self.number, layout=self.layout)


class Remote(Section):
    """The untrusted model."""

    base_url: str = "https://api.openai.com/v1"
    api_key: SecretStr | None = None
    api_key_env: str = "OPENAI_API_KEY"
    models: dict[str, str] = Field({"gpt-4o": "gpt-4o"}, min_length=1)
    timeout_seconds: float = Field(120.0, gt=0)
    retries: int = Field(2, ge=0, le=10)
    concurrency: int = Field(32, ge=1)
    send_seed: bool = False
    on_remote_failure: Literal["error", "local_only"] = "error"

    @property
    def key(self) -> str | None:
        """The operator's key: configured, else from the environment."""
        if self.api_key is not None:
            return self.api_key.get_secret_value()
        return os.environ.get(self.api_key_env)


class Vllm(Section):
    """The command of a supervised vLLM."""

    command: tuple[str, ...] = ("vllm", "serve")
    model: str = "lmsys/vicuna-7b-v1.5"
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field({})
    chat_template: str | None = None
    port: int = Field(8101, ge=0, le=65535)
    ready_seconds: float = Field(600.0, gt=0)


class Embedded(Section):
    """The bundled llama.cpp server."""

    model: str | None = None
    context: int = Field(1024, ge=256)
    parallel: int = Field(4, ge=1)
    threads: int = Field(1, ge=1)
    ready_seconds: float = Field(30.0, gt=0)


def _expression(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as exc:
        raise ValueError(f"is not a regular expression ({exc.msg})") from None
    return pattern


class Local(Section):
    """The trusted model."""

    mode: Literal["embedded", "external", "vllm"] = "embedded"
    base_url: str = "http://127.0.0.1:8000/v1"
    api_key: SecretStr | None = None
    api_key_env: str = "INFERDPT_LOCAL_API_KEY"
    model: str | None = None
    context_tokens: int | None = Field(None, ge=256)
    tokens_per_cl100k: float = Field(1.3, ge=0.5, le=10)
    default_max_tokens: int = Field(1024, ge=1)
    temperature: float = Field(0.5, ge=0, le=2)
    timeout_seconds: float = Field(300.0, gt=0)
    concurrency: int = Field(64, ge=1)
    embeddings_model: str | None = None
    housekeeping: tuple[Annotated[str, AfterValidator(_expression)], ...] = SHIPPED
    vllm: Vllm = Vllm()
    embedded: Embedded = Embedded()

    @property
    def key(self) -> str | None:
        """The local server's key, if it wants one."""
        if self.api_key is not None:
            return self.api_key.get_secret_value()
        return os.environ.get(self.api_key_env)


class Config(Section):
    """Everything."""

    server: Server = Server()
    limits: Limits = Limits()
    privacy: Privacy = Privacy()
    remote: Remote = Remote()
    local: Local = Local()
    memo: Memo = Memo()
    store: Store = Store()
    prompts: dict[str, str] = Field({})

    @field_validator("prompts")
    @classmethod
    def _templates(cls, value: dict[str, str]) -> dict[str, str]:
        try:
            Prompts(**value)
        except TemplateError as exc:
            raise ValueError(str(exc)) from None
        except TypeError:
            known = ", ".join(Prompts.__dataclass_fields__)
            raise ValueError(f"unknown template; there are {known}") from None
        return value

    @property
    def server_clips(self) -> bool:
        """Whether the local server has to clip logits."""
        wanted = self.privacy.paraphrasing
        return wanted is not None and (wanted.mode, wanted.engine) == ("dp", "server")

    @model_validator(mode="after")
    def _clipping(self) -> Config:
        if self.server_clips and self.local.mode == "embedded":
            raise ValueError(
                f"privacy.mechanism {DP_PROMPT} in mode dp: local.mode embedded is llama.cpp, "
                "which cannot clip logits; serve the local model with vLLM, or set "
                "privacy.parameters.engine: transformers and a model"
            )
        return self


def load_config(path: str | Path | None, overrides: dict[str, Any] | None = None) -> Config:
    """Read `path` (None: defaults alone) and lay `overrides` over it, section by section.

    Raises:
        ConfigError: the file cannot be read, a key is unknown or a value breaks its rule.
    """
    data: Any = {}
    origin = "the command line"
    if path is not None:
        origin = str(path)
        try:
            data = yaml.safe_load(Path(path).read_text("utf-8")) or {}
        except OSError as exc:
            raise ConfigError(f"{path}: cannot be read ({exc.strerror})") from exc
        except (yaml.YAMLError, UnicodeDecodeError) as exc:
            raise ConfigError(f"{path}: is not valid YAML") from exc
    if not isinstance(data, dict):
        raise ConfigError(f"{origin}: must hold a mapping of sections")
    try:
        return Config.model_validate(_merge(data, overrides or {}))
    except ValidationError as exc:
        lines = []
        for error in exc.errors(include_url=False, include_input=False):
            key = ".".join(str(part) for part in error["loc"])
            text = "unknown key" if error["type"] == "extra_forbidden" else error["msg"]
            lines.append(
                f"{origin}: {key or 'configuration'}: {text.removeprefix('Value error, ')}"
            )
        raise ConfigError("\n".join(lines)) from None


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    out = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            value = _merge(out[key], value)
        out[key] = value
    return out
