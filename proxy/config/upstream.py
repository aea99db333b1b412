"""Define the settings of the two models: the untrusted one and the trusted one.

No error message repeats an address or a key: an address may hold a password.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator
from yarl import URL

from perturb.text.expressions import Expression
from proxy.config.housekeeping import SHIPPED
from proxy.config.section import Section

__all__ = ["BaseUrl", "Embedded", "Local", "PluggedModel", "Remote", "Vllm"]


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        URL(url)
    except ValueError:
        raise ValueError("must be an address such as https://host:port/v1") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError("must begin with http:// or https://")
    if not host or port == 0 or not url.isprintable() or " " in url:
        raise ValueError("must name a host and, if any, a port from 1 to 65535")
    if "?" in url or "#" in url:
        raise ValueError("must not have a query (?) or a fragment (#): paths are appended to it")
    return url


BaseUrl = Annotated[str, AfterValidator(_check_url)]


def _check_expression(pattern: str) -> str:
    try:
        Expression(pattern, "", 1.0)
    except ValueError as exc:
        raise ValueError(f"is not a regular expression ({exc})") from None
    return pattern


def _read_key(given: SecretStr | None, variable: str) -> str | None:
    """Return the configured key, else the environment's."""
    return os.environ.get(variable) if given is None else given.get_secret_value()


def _check_key(given: SecretStr | None, variable: str) -> None:
    """Check that a key can stand in a header.

    Raises:
        ValueError: it cannot; the message names the source of the key.
    """
    key = _read_key(given, variable)
    if key is not None and not key.strip().isprintable():
        name = variable if given is None else "api_key"
        raise ValueError(f"{name} must hold printable characters only")


class Remote(Section):
    """Hold the connection to the untrusted model."""

    base_url: BaseUrl = Field(
        "https://api.openai.com/v1", description="Address of the remote's OpenAI-compatible API."
    )
    api_key: SecretStr | None = Field(
        None, description="Key of the remote. Prefer the variable that `api_key_env` names."
    )
    api_key_env: str = Field(
        "OPENAI_API_KEY",
        description="Environment variable that holds the key where `api_key` is null.",
    )
    models: dict[str, str] = Field(
        {"gpt-4o": "gpt-4o"},
        min_length=1,
        description="Names that clients use, each with the remote's own name. Others are answered "
        "with 404.",
    )
    timeout_seconds: float = Field(120.0, gt=0, description="Seconds that one attempt may take.")
    retries: int = Field(
        2,
        ge=0,
        le=10,
        description="Further attempts of one call, on connection errors, 408, 409, 429 and 5xx.",
    )
    concurrency: int = Field(32, ge=1, description="Calls at once.")
    send_seed: bool = Field(False, description="Send a request's seed to the remote.")
    on_remote_failure: Literal["error", "local_only"] = Field(
        "error",
        description="If the remote fails: an error, or an answer by the local model alone, which "
        "the receipt states.",
    )

    @model_validator(mode="after")
    def _check_key_text(self) -> Remote:
        _check_key(self.api_key, self.api_key_env)
        return self

    @property
    def key(self) -> str | None:
        """Return the operator's key: configured, else from the environment."""
        return _read_key(self.api_key, self.api_key_env)


class Vllm(Section):
    """Hold the command of a supervised vLLM."""

    command: tuple[str, ...] = Field(
        ("vllm", "serve"), description="Command that starts vLLM. Model and options follow it."
    )
    model: str = Field("lmsys/vicuna-7b-v1.5", description="Model, by its name in vLLM.")
    args: tuple[str, ...] = Field(
        (),
        description="Further options, such as "
        '[--max-model-len, "4096", --gpu-memory-utilization, "0.9"].',
    )
    env: dict[str, str] = Field({}, description="Environment variables for vLLM.")
    chat_template: str | None = Field(
        None,
        description="Chat template file. null is our Vicuna template for Vicuna models, else "
        "the model's own.",
    )
    port: int = Field(
        8101, ge=0, le=65535, description="Port that vLLM listens on. 0 picks a free one."
    )
    ready_seconds: float = Field(
        600.0, gt=0, description="Seconds that vLLM may take until it answers."
    )


class Embedded(Section):
    """Hold the bundled llama.cpp server."""

    model: str | None = Field(None, description="GGUF file. null is the bundled model.")
    context: int = Field(1024, ge=256, description="Context of one request, in tokens.")
    parallel: int = Field(4, ge=1, description="Requests at once.")
    threads: int = Field(
        1,
        ge=1,
        description="Threads. One is enough for the bundled model: on a busy machine, more would "
        "wait for each other.",
    )
    ready_seconds: float = Field(
        30.0, gt=0, description="Seconds that the server may take until it answers."
    )


class PluggedModel(Section):
    """Hold the local model of an installed plug-in."""

    name: str = Field("", description="Name of its entry point, in the group inferdpt.backends.")
    options: dict[str, Any] = Field({}, description="Options to build the plug-in with.")


class Local(Section):
    """Hold the connection to the trusted model, or the way to start it."""

    mode: Literal["embedded", "external", "vllm", "plugin"] = Field(
        "embedded",
        description="embedded (bundled, a demonstration), external (a server that runs already), "
        "vllm (started by the proxy) or plugin (a model of an installed package).",
    )
    base_url: BaseUrl = Field(
        "http://127.0.0.1:8000/v1",
        description="Address of an external server: vLLM, FastChat, Ollama, llama.cpp and so on.",
    )
    api_key: SecretStr | None = Field(
        None, description="Key of the server. Prefer the variable that `api_key_env` names."
    )
    api_key_env: str = Field(
        "INFERDPT_LOCAL_API_KEY",
        description="Environment variable that holds the key where `api_key` is null.",
    )
    model: str | None = Field(
        None, description="Model. null is the first one that the server lists."
    )
    context_tokens: int | None = Field(
        None,
        ge=256,
        description="Context of the model, in its tokens. null asks the server, and assumes 4096 "
        "without an answer.",
    )
    tokens_per_cl100k: float = Field(
        1.3,
        ge=0.5,
        le=10,
        description="Tokens of the local model for one cl100k token, to cut long input by.",
    )
    default_max_tokens: int = Field(
        1024, ge=1, description="Tokens of an answer where the request names no limit."
    )
    temperature: float = Field(
        0.5, ge=0, le=2, description="Temperature where the request names none."
    )
    timeout_seconds: float = Field(
        300.0,
        gt=0,
        description="Seconds for a whole answer, and between two steps of a stream.",
    )
    concurrency: int = Field(64, ge=1, description="Answers generated at once. The rest wait.")
    extraction: Literal["relevant", "all"] = Field(
        "relevant",
        description="What the model sees of a generation for a perturbed text: the sentences that "
        "are about the document (relevant; it works alone where there are none; with a passage "
        "for a text and several candidates, the whole generation where there are any), or all, "
        "as in the paper. Clients may choose with `extraction`.",
    )
    candidates: int = Field(
        1,
        ge=1,
        le=128,
        description="Answers that the model writes for each choice: the first without the "
        "generation, the others with it. The one nearest to the document is returned. With more "
        "than one, a stream begins when all are finished. Clients may choose with `candidates`.",
    )
    embeddings_model: str | None = Field(
        None,
        description="Embedding model for /v1/embeddings, and for codebooks that were made with "
        "it. With null that path is not served.",
    )
    housekeeping: tuple[Annotated[str, AfterValidator(_check_expression)], ...] = Field(
        SHIPPED,
        description="Requests that chat clients make on their own behalf are answered by the "
        "local model alone and cost nothing: those in which the last user text, or a system text, "
        "matches one of these regular expressions from its beginning (white space aside). They "
        "see its first 1,000 and its last 200 characters. A request on which they take too long "
        "is refused. [] recognises none.",
    )
    vllm: Vllm = Field(Vllm(), description="The supervised vLLM of mode `vllm`.")
    embedded: Embedded = Field(
        Embedded(), description="The bundled llama.cpp server of mode `embedded`."
    )
    plugin: PluggedModel = Field(
        PluggedModel(), description="The plug-in of mode `plugin`. See docs/plugins.md."
    )

    @model_validator(mode="after")
    def _check_key_text(self) -> Local:
        _check_key(self.api_key, self.api_key_env)
        return self

    @model_validator(mode="after")
    def _check_plugin(self) -> Local:
        if self.mode == "plugin" and not self.plugin.name:
            raise ValueError("mode plugin needs plugin.name")
        if self.mode == "plugin" and self.embeddings_model:
            raise ValueError("embeddings_model needs a server, which mode plugin is not")
        return self

    @property
    def key(self) -> str | None:
        """Return the local server's key, if there is one."""
        return _read_key(self.api_key, self.api_key_env)
