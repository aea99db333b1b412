"""The backend: any OpenAI-compatible local server (vLLM, FastChat, Ollama, llama.cpp)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, NoReturn

import openai
from openai import DEFAULT_CONNECTION_LIMITS, AsyncOpenAI, DefaultAsyncHttpxClient

from extraction.backend import Delta, Usage
from extraction.errors import (
    LocalModelRefused,
    LocalModelTimeout,
    LocalModelUnavailable,
)

__all__ = ["Continuation", "Embeddings", "OpenAIServer", "quiet_libraries"]

# Fields the SDK's own method declares; the rest (vLLM's extensions) travels in `extra_body`.
_SDK_FIELDS = {
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "response_format",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
}
_TEXT_FIELDS = {
    "temperature",
    "top_p",
    "max_tokens",
    "n",
    "echo",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
}
# vLLM ignores its old names in silence: what they ask for is asked for under both.
_GUIDED = {
    "guided_json": "json",
    "guided_regex": "regex",
    "guided_choice": "choice",
    "guided_grammar": "grammar",
}
_MESSAGE_FIELDS = ("content", "refusal", "tool_calls", "function_call")
# What reading an answer of another form ends in.
_NOT_OPENAI = (AttributeError, IndexError, TypeError, ValueError)
_TOO_LONG = (
    "context length",
    "context size",
    "context_length",
    "exceed_context",
    "max_model_len",
    "too long",
)


@dataclass(frozen=True)
class Continuation:
    """A raw prompt's continuation.

    Attributes:
        text: what was generated.
        finish_reason: `stop` or `length`.
        logprobs: each token and its log probability, where asked for.
    """

    text: str
    finish_reason: str
    logprobs: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Embeddings:
    """One vector for each text, in order, and the tokens of all of them."""

    vectors: tuple[tuple[float, ...], ...]
    tokens: int


# A connection for each request. Servers close kept ones without a word: uvicorn (vLLM, FastChat)
# after five idle seconds, llama.cpp now and then after a stream. A request that meets that moment
# would fail.
_LIMITS = type(DEFAULT_CONNECTION_LIMITS)(
    max_connections=DEFAULT_CONNECTION_LIMITS.max_connections, max_keepalive_connections=0
)


class OpenAIServer:
    """A local server.

    Args:
        base_url: ends in `/v1`.
        model: the name to ask for; None takes the first one the server lists.
        api_key: None where the server wants none.
        timeout: seconds for a whole answer, and between two steps of a stream.
        concurrency: answers generated at once; the rest wait their turn.
    """

    def __init__(
        self,
        base_url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        timeout: float = 300.0,
        concurrency: int = 64,
    ) -> None:
        # Raw text goes here. The environment's HTTP proxies must not see it, a redirect must
        # not move it, and the SDK's debug logging must not print it.
        quiet_libraries()
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            organization="",
            project="",
            max_retries=0,
            timeout=timeout,
            http_client=DefaultAsyncHttpxClient(
                trust_env=False, follow_redirects=False, limits=_LIMITS
            ),
        )
        self.base_url = base_url
        self.model = model
        self._listed: str | None = None
        self._listing = asyncio.Lock()
        self._slots = asyncio.Semaphore(concurrency)

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        try:
            async with self._slots:
                answer: Any = await self._client.chat.completions.create(
                    **await self._body(messages, options)
                )
            choice = answer.choices[0]
            return Delta(
                message=_fields(choice.message),
                logprobs=_dump(choice.logprobs),
                finish_reason=choice.finish_reason or "stop",
                usage=_usage(answer),
            )
        except openai.OpenAIError as exc:
            self._failed(exc)
        except _NOT_OPENAI as exc:
            raise LocalModelUnavailable(
                "the local server's answer is not a chat completion"
            ) from exc

    async def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncIterator[Delta]:
        finished: str | None = None
        usage: Usage | None = None
        try:
            async with self._slots:
                body = await self._body(messages, options)
                steps: Any = await self._client.chat.completions.create(
                    **body, stream=True, stream_options={"include_usage": True}
                )
                async with steps:
                    async for step in steps:
                        usage = _usage(step) or usage
                        if getattr(step, "error_code", None) is not None:  # FastChat's error frame
                            raise LocalModelUnavailable("the local server failed while answering")
                        for choice in (step.choices or ())[:1]:
                            finished = choice.finish_reason or finished
                            message = _fields(choice.delta, streamed=True)
                            logprobs = _dump(choice.logprobs)
                            if message or logprobs:
                                yield Delta(message=message, logprobs=logprobs)
        except openai.OpenAIError as exc:
            self._failed(exc)
        except _NOT_OPENAI as exc:
            raise LocalModelUnavailable("the local server's stream is not OpenAI's form") from exc
        if finished is None:  # a server that dies may close its stream as if it were done
            raise LocalModelUnavailable("the local server stopped in the middle of an answer")
        yield Delta(finish_reason=finished, usage=usage)

    async def continue_text(
        self, prompts: list[str], options: dict[str, Any]
    ) -> tuple[list[Continuation], Usage]:
        """Continue raw prompts, without a chat template: one continuation for each, in order,
        and the tokens of all of them, end tokens included.

        Raises:
            LocalModelError: the server does not answer, or not in the form of completions.
        """
        known = {name: value for name, value in options.items() if name in _TEXT_FIELDS}
        extra = {name: value for name, value in options.items() if name not in _TEXT_FIELDS}
        try:
            async with self._slots:
                answer: Any = await self._client.completions.create(
                    model=await self._model_name(), prompt=prompts, extra_body=extra, **known
                )
            choices = sorted(answer.choices, key=lambda choice: choice.index)
            if [choice.index for choice in choices] != list(range(len(prompts))):
                raise ValueError
            found = [
                Continuation(choice.text, choice.finish_reason, _token_logprobs(choice))
                for choice in choices
            ]
            usage = answer.usage
            return found, Usage(int(usage.prompt_tokens), int(usage.completion_tokens))
        except openai.OpenAIError as exc:
            self._failed(exc)
        except _NOT_OPENAI as exc:
            raise LocalModelUnavailable(
                "the local server's answer is not a text completion"
            ) from exc

    async def embed(
        self, texts: list[str], model: str, *, dimensions: int | None = None
    ) -> Embeddings:
        """Embed texts by the server's embedding model; `dimensions` is passed on.

        Raises:
            LocalModelError: the server does not answer, or not in the form of embeddings.
        """
        extra = {} if dimensions is None else {"dimensions": dimensions}
        try:
            async with self._slots:
                # Floats: not every server knows the packed form.
                answer: Any = await self._client.embeddings.create(
                    model=model, input=texts, encoding_format="float", extra_body=extra
                )
            data = sorted(answer.data, key=lambda item: item.index)
            if [item.index for item in data] != list(range(len(texts))):
                raise ValueError
            vectors = tuple(tuple(map(float, item.embedding)) for item in data)
            usage = answer.usage
            return Embeddings(vectors, usage.prompt_tokens or 0 if usage else 0)
        except openai.OpenAIError as exc:
            self._failed(exc)
        except _NOT_OPENAI as exc:
            raise LocalModelUnavailable("the local server's answer is not embeddings") from exc

    async def context_tokens(self) -> int | None:
        try:
            listed = await self._client.models.list(timeout=5.0)
            models = listed.data or []
            for model in models:
                # llama.cpp serves its one model under any name it is asked for
                if self.model in (None, model.id) or len(models) == 1:
                    extra = model.model_extra or {}
                    meta = extra.get("meta")
                    found = extra.get("max_model_len") or (
                        meta.get("n_ctx") if isinstance(meta, dict) else None
                    )
                    return found if isinstance(found, int) and found > 0 else None
        except (openai.OpenAIError, *_NOT_OPENAI):
            pass
        return None

    async def ready(self) -> bool:
        try:
            await self._client.models.list(timeout=5.0)
        except (openai.OpenAIError, *_NOT_OPENAI):
            return False
        return True

    async def aclose(self) -> None:
        await self._client.close()

    async def _body(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> dict[str, Any]:
        known = {name: value for name, value in options.items() if name in _SDK_FIELDS}
        extra = {name: value for name, value in options.items() if name not in _SDK_FIELDS}
        for old, new in _GUIDED.items():
            if old in extra:
                extra.setdefault("structured_outputs", {new: extra[old]})
        return {
            "model": await self._model_name(),
            "messages": messages,
            "extra_body": extra or None,
            **known,
        }

    async def _model_name(self) -> str:
        """The configured name, else the first one the server lists, asked for once."""
        if self.model is not None:
            return self.model
        async with self._listing:
            if self._listed is None:
                listed = await self._client.models.list(timeout=5.0)
                if not listed.data:
                    raise LocalModelUnavailable("the local server lists no model")
                self._listed = listed.data[0].id
            return self._listed

    def _failed(self, exc: openai.OpenAIError) -> NoReturn:
        if isinstance(exc, openai.NotFoundError):
            self._listed = None  # it may serve another model now
        _raise(exc)


def quiet_libraries() -> None:
    """The SDK and its HTTP library print bodies at debug level: never that, whatever else the
    process logs."""
    for name in ("openai", "httpx2"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))


def _raise(exc: openai.OpenAIError) -> NoReturn:
    """Map the SDK's errors, most specific first; no message of the server is repeated."""
    if isinstance(exc, openai.APITimeoutError):
        raise LocalModelTimeout("the local server did not answer in time") from exc
    status = _status(exc)
    if status in (400, 413, 422):
        assert isinstance(exc, openai.APIError)
        told = str(exc.body or exc.message).casefold()
        raise LocalModelRefused(
            f"the local server refused the request with HTTP {status}",
            status=status,
            too_long=any(sign in told for sign in _TOO_LONG),
        ) from exc
    raise LocalModelUnavailable(f"the local server failed ({type(exc).__name__})") from exc


def _status(exc: openai.OpenAIError) -> int | None:
    """The HTTP status; of an error in a stream, where vLLM puts some refusals, its `code`."""
    if isinstance(exc, openai.APIStatusError):
        return exc.status_code
    body = exc.body if isinstance(exc, openai.APIError) else None
    code = body.get("code") if isinstance(body, dict) else None
    return code if isinstance(code, int) else None


def _fields(message: Any, *, streamed: bool = False) -> dict[str, Any]:
    dumped = message.model_dump(include=set(_MESSAGE_FIELDS), exclude_unset=True)
    if streamed:  # some servers send a call whole and leave out its place
        for place, call in enumerate(dumped.get("tool_calls") or ()):
            if not isinstance(call.get("index"), int):
                call["index"] = place
    return {name: value for name, value in dumped.items() if value not in (None, [], "")}


def _token_logprobs(choice: Any) -> tuple[tuple[str, float], ...]:
    found = choice.logprobs
    if found is None:
        return ()
    return tuple(zip(found.tokens, found.token_logprobs, strict=True))


def _dump(value: Any) -> dict[str, Any] | None:
    return None if value is None else value.model_dump()


def _usage(answer: Any) -> Usage | None:
    usage = getattr(answer, "usage", None)
    if usage is None:
        return None
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0)
