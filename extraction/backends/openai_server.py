"""The backend for any OpenAI-compatible local server (vLLM, FastChat, Ollama, llama.cpp)."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from extraction.backends.base import (
    Delta,
    Scores,
    Usage,
    count_characters,
    read_count,
    read_finish_reason,
    read_list,
    read_logprob,
    read_logprobs,
    read_message,
    read_object,
    read_stop,
    read_text,
    read_usage,
    read_vector,
)
from extraction.backends.scoring import is_llama_cpp, read_scores, score_by_steps
from extraction.codec import dump
from extraction.control import read_tokens
from extraction.errors import (
    CannotScore,
    LocalModelError,
    LocalModelRefused,
    LocalModelTimeout,
    LocalModelUnavailable,
    TooManyNumbers,
)
from extraction.http.client import (
    DONE,
    EVENT,
    LARGE,
    SMALL,
    Blocked,
    CutShort,
    HttpClient,
    HttpError,
    Limit,
    Reply,
    TimedOut,
    Unreachable,
    parse,
)

__all__ = ["Continuation", "Embeddings", "OpenAIServer", "fetch_tokens"]

LIST_SECONDS = 5.0  # for the list of models
TEXT = 2_000_000  # characters of one answer
BATCH = 64  # texts embedded at once: bounds the answer that holds their vectors
NUMBERS = 2**22  # in the vectors of one answer: 2,048 texts of 2,048 dimensions
# vLLM silently ignores its old names, so the request is sent under both.
_GUIDED = {
    "guided_json": "json",
    "guided_regex": "regex",
    "guided_choice": "choice",
    "guided_grammar": "grammar",
}
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
    """Hold the continuation of a raw prompt.

    Attributes:
        text: the generated text.
        finish_reason: `stop` or `length`.
        logprobs: each token and its log probability, where asked for.
    """

    text: str
    finish_reason: str
    logprobs: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Embeddings:
    """Hold one vector of 32-bit floats for each text, in order, and the tokens of all texts."""

    vectors: tuple[array[float], ...]
    tokens: int


class OpenAIServer:
    """Talk to an OpenAI-compatible local server.

    Args:
        base_url: ends in `/v1`.
        model: the name to request; None takes the first model that the server lists.
        api_key: None if the server requires none.
        timeout: seconds for a whole answer, and between two steps of a stream.
        concurrency: the number of answers generated at once; other requests wait.
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
        # Raw text goes here: the environment's HTTP proxies must not see it.
        self._http, self._beside = (
            HttpClient(url, key=api_key or "none", proxied=False, kept=True)
            for url in (base_url, base_url.rstrip("/").removesuffix("/v1"))
        )
        self.base_url = base_url
        self.model = model
        self._timeout = timeout
        self._listed: str | None = None
        self._listing = asyncio.Lock()
        self._slots = asyncio.Semaphore(concurrency)

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        limit = LARGE if options.get("logprobs") else SMALL
        async with self._slots:
            body = await self._build_body(messages, options)
            answer = await self._post("/chat/completions", body, limit)
        with _map_errors("a chat completion"):
            choice = read_object(read_list(answer.get("choices"))[0])
            return Delta(
                message=read_message(choice.get("message")),
                logprobs=read_logprobs(choice.get("logprobs")),
                finish_reason=read_finish_reason(choice.get("finish_reason")) or "stop",
                usage=read_usage(answer.get("usage")),
                stop=read_stop(choice.get("stop_reason")),
            )

    async def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncGenerator[Delta]:
        finished: str | None = None
        stop: str | None = None
        usage: Usage | None = None
        size = 0
        async with self._slots:
            body = await self._build_body(messages, options)
            body |= {"stream": True, "stream_options": {"include_usage": True}}
            with _map_errors("a stream of OpenAI's form"):
                async with self._http.open(
                    "/chat/completions", dump(body), seconds=self._timeout, streamed=True
                ) as reply:
                    await self._accept(reply)
                    async for data in reply.events(self._timeout):
                        if data == DONE:
                            break
                        step = read_object(parse(data, EVENT))
                        _raise_error_frame(step)
                        usage = read_usage(step.get("usage")) or usage
                        for choice in read_list(step.get("choices") or [])[:1]:
                            finish = read_object(choice).get("finish_reason")
                            finished = read_finish_reason(finish) or finished
                            stop = read_stop(choice.get("stop_reason")) or stop
                            message = read_message(choice.get("delta"), streamed=True)
                            logprobs = read_logprobs(choice.get("logprobs"))
                            size += count_characters(message)
                            if size > TEXT:
                                raise ValueError("too long")
                            if message or logprobs:
                                yield Delta(message=message, logprobs=logprobs)
        if finished is None:  # a server that dies may close its stream as if it were done
            raise LocalModelUnavailable("the local server stopped in the middle of an answer")
        yield Delta(finish_reason=finished, usage=usage, stop=stop)

    async def warm(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> None:
        body = await self._build_body(messages, {**options, "max_tokens": 1})
        await self._post("/chat/completions", body, SMALL)

    async def continue_text(
        self, prompts: list[str], options: dict[str, Any]
    ) -> tuple[list[Continuation], Usage]:
        """Continue raw prompts without a chat template. Returns one continuation per prompt, in
        order, and the tokens of all of them, end tokens included.

        Raises:
            LocalModelError: the server does not answer, or not in the form of completions.
        """
        async with self._slots:
            body = {"model": await self._choose_model(), "prompt": prompts, **options}
            answer = await self._post("/completions", body, LARGE)
        with _map_errors("a text completion"):
            choices = _sort_items(answer.get("choices"), len(prompts))
            told = read_object(answer.get("usage"))
            counts = [told.get("prompt_tokens"), told.get("completion_tokens")]
            if None in counts:  # they determine the cost of a paraphrase
                raise ValueError("not counted")
            return [_read_continuation(choice) for choice in choices], Usage(
                *map(read_count, counts)
            )

    async def score(self, prompt: str | list[int], *, top: int, generate: bool) -> Scores:
        """Score a prompt, see `Scoring`."""
        async with self._slots:
            try:
                if is_llama_cpp(await self._list_models()):
                    return await score_by_steps(
                        self._post_beside, prompt, top=top, generate=generate
                    )
                options = {"echo": True, "logprobs": top, "max_tokens": int(generate)}
                body = {"model": await self._choose_model(), "prompt": prompt, **options}
                answer = await self._post("/completions", {**body, "temperature": 0}, LARGE)
                return read_scores(answer, prompt)
            except (ValueError, IndexError):
                raise CannotScore(
                    "the local server does not return the log probabilities of prompts"
                ) from None

    async def embed(
        self, texts: list[str], model: str, *, dimensions: int | None = None
    ) -> Embeddings:
        """Embed texts with the server's embedding model; `dimensions` is passed on.

        Raises:
            TooManyNumbers: the vectors would not fit one answer; known from `dimensions`, else
                from the first of them.
            LocalModelError: the server does not answer, or not in the form of embeddings.
        """
        _check_numbers(len(texts), dimensions or 0)
        # Floats: not every server knows the packed form.
        options: dict[str, Any] = {"model": model, "encoding_format": "float"}
        if dimensions is not None:
            options["dimensions"] = dimensions
        vectors: list[array[float]] = []
        tokens = 0
        async with self._slots:
            for first in range(0, len(texts), BATCH):
                batch = texts[first : first + BATCH]
                answer = await self._post("/embeddings", {**options, "input": batch}, LARGE)
                with _map_errors("embeddings"):
                    items = _sort_items(answer.get("data"), len(batch))
                    vectors += [read_vector(item.get("embedding")) for item in items]
                    usage = read_usage(answer.get("usage"))
                    tokens += usage.prompt_tokens if usage else 0
                _check_numbers(len(texts), max(map(len, vectors)))
        return Embeddings(tuple(vectors), tokens)

    async def context_tokens(self) -> int | None:
        try:
            models = await self._list_models()
        except LocalModelError:
            return None
        for model in models:
            # llama.cpp serves its one model under any name
            if self.model in (None, model["id"]) or len(models) == 1:
                meta = model.get("meta")
                found = model.get("max_model_len") or (
                    meta.get("n_ctx") if isinstance(meta, dict) else None
                )
                return found if type(found) is int and found > 0 else None
        return None

    async def special_tokens(self) -> tuple[str, ...] | None:
        return await fetch_tokens(self._beside)

    async def ready(self) -> bool:
        try:
            await self._list_models()
        except LocalModelError:
            return False
        return True

    async def aclose(self) -> None:
        await self._http.aclose()
        await self._beside.aclose()

    async def _build_body(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> dict[str, Any]:
        body = {"model": await self._choose_model(), "messages": messages, **options}
        for old, new in _GUIDED.items():
            if old in options:
                body.setdefault("structured_outputs", {new: options[old]})
        return body

    async def _choose_model(self) -> str:
        """Return the configured name, or the first one that the server lists; the list is asked
        for once."""
        if self.model is not None:
            return self.model
        async with self._listing:
            if self._listed is None:
                models = await self._list_models()
                if not models:
                    raise LocalModelUnavailable("the local server lists no model")
                self._listed = models[0]["id"]
            return self._listed

    async def _list_models(self) -> list[dict[str, Any]]:
        """Return the models that the server lists, each with its `id`."""
        with _map_errors("a list of models"):
            async with self._http.open("/models", seconds=LIST_SECONDS) as reply:
                await self._accept(reply)
                listed = read_object(await reply.json(SMALL))
            models = [read_object(model) for model in read_list(listed.get("data") or [])]
            return [{**model, "id": read_text(model.get("id"))} for model in models]

    async def _post(
        self, path: str, body: dict[str, Any], limit: Limit, http: HttpClient | None = None
    ) -> dict[str, Any]:
        with _map_errors("an answer of OpenAI's form"):
            opened = (http or self._http).open(path, dump(body), seconds=self._timeout)
            async with opened as reply:
                await self._accept(reply)
                return read_object(await reply.json(limit))

    async def _post_beside(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Post to a path of the server's own, beside those of OpenAI's form."""
        return await self._post(path, body, SMALL, self._beside)

    async def _accept(self, reply: Reply) -> None:
        """Raise `LocalModelError` unless the server accepted the request."""
        if reply.ok:
            return
        if reply.status == 404:
            self._listed = None  # the server may serve another model now
        raise _make_error(reply.status, await reply.read(SMALL))


@contextmanager
def _map_errors(form: str) -> Iterator[None]:
    """Map the errors of reading an answer; no message repeats what the server sent."""
    try:
        yield
    except TimedOut as exc:
        raise LocalModelTimeout("the local server did not answer in time") from exc
    except HttpError as exc:
        raise LocalModelUnavailable(f"the local server failed: {exc}") from exc
    except (ValueError, IndexError, RecursionError) as exc:
        raise LocalModelUnavailable(f"the local server's answer is not {form}") from exc


def _make_error(status: int, told: bytes) -> LocalModelError:
    if status not in (400, 413, 422):
        return LocalModelUnavailable(f"the local server failed with HTTP {status}")
    said = told.decode("utf-8", "replace").casefold()
    return LocalModelRefused(
        f"the local server refused the request with HTTP {status}",
        status=status,
        too_long=any(sign in said for sign in _TOO_LONG),
    )


def _raise_error_frame(step: dict[str, Any]) -> None:
    """Raise the error that a frame of a stream reports. FastChat's has an `error_code`; vLLM sends
    some refusals with the HTTP status as `code`."""
    error = step if step.get("object") == "error" else step.get("error")
    if error is None and step.get("error_code") is None:
        return
    code = error.get("code") if isinstance(error, dict) else None
    raise _make_error(code if isinstance(code, int) else 500, dump(error))


def _check_numbers(texts: int, dimensions: int) -> None:
    if texts * dimensions > NUMBERS:
        raise TooManyNumbers(
            f"{texts} vectors of {dimensions} numbers are more than the {NUMBERS} numbers that "
            "one answer may hold"
        )


def _sort_items(value: Any, count: int) -> list[dict[str, Any]]:
    """Return `count` items sorted by their `index`. Raises `ValueError`."""
    found = map(read_object, read_list(value, count))
    items = {read_count(item.get("index")): item for item in found}
    try:
        return [items[i] for i in range(count)]
    except KeyError:
        raise ValueError("an item is missing") from None


def _read_continuation(choice: dict[str, Any]) -> Continuation:
    reason = read_finish_reason(choice.get("finish_reason")) or "stop"
    told = choice.get("logprobs")
    if told is None:
        return Continuation(read_text(choice.get("text")), reason)
    tokens = read_list(read_object(told).get("tokens"))
    values = read_list(told.get("token_logprobs"))
    pairs = zip(map(read_text, tokens), map(read_logprob, values), strict=True)
    return Continuation(read_text(choice.get("text")), reason, tuple(pairs))


PAGES = ("/tokenizer_info", "/props")  # vLLM's, where it is enabled; llama.cpp's
SECONDS = 5.0  # for each page


async def fetch_tokens(http: HttpClient) -> tuple[str, ...] | None:
    """Fetch the control tokens of a server's own model.

    Args:
        http: a client for the server's root, the address without `/v1`.

    Returns:
        None if nothing answers there; no tokens if the server does not report them.
    """
    for page in PAGES:
        try:
            async with http.open(page, seconds=SECONDS) as reply:
                if reply.status == 200 and (told := read_tokens(await reply.json(SMALL))):
                    return told
        except (Unreachable, Blocked, CutShort):
            return None
        except (HttpError, ValueError, RecursionError):
            pass
    return ()
