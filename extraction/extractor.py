"""Extraction: raw conversation + perturbed generation → the local model's prompt → the answer.

Everything here is raw text and stays on this machine.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Literal

from extraction.backends.base import Backend, Delta
from extraction.control import remove_control_tokens
from extraction.errors import LocalModelRefused
from extraction.prompts import Prompts, fill
from perturb.offload import SHORT, offload

__all__ = ["Extractor", "Job", "Task", "Tokenizer", "with_seed"]

DEFAULT_CONTEXT = 4096
MESSAGE_OVERHEAD = 12  # an upper estimate of a chat template's tokens for each message
MINIMUM_TOKENS = 64  # neither the prompt nor the answer gets less
SHRINK = 0.6  # of the budget, for the next try after the server refused a prompt as too long
TRIES = 4
CHARACTERS_PER_TOKEN = 16  # more than prose of any language has
GAP = "\n[…]\n"
RESULTS = ("tool", "function")
Task = Literal["chat", "continuation", "instruct"]


@dataclass(frozen=True)
class Tokenizer:
    """Count and cut text in some tokenizer's tokens. The local model's tokens are estimated from
    these: `ratio` of them for each."""

    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    ratio: float = 1.3


@dataclass(frozen=True)
class Job:
    """Describe a request to the local model.

    Attributes:
        task: selects the prompt.
        messages: the raw conversation in OpenAI's form; the last is the document.
        generation: the remote's perturbed generation; None if the local model works alone.
    """

    task: Task
    messages: tuple[dict[str, Any], ...]
    generation: str | None


class Extractor:
    """Compose the local prompt, cut it to the context, and run the local model.

    Long input is cut in this order. The answer reserves `max_tokens`, but at most half of the
    context. The perturbed generation keeps its beginning, at most a third of the rest. The oldest
    turns are dropped first, whole, system turns last. The document keeps its end for
    `continuation`, and its beginning and end otherwise. A tool's result never stands without the
    turn that called it: if the last turn is one, that turn and its other results stay, cut like
    the document.

    Args:
        backend: the local model.
        prompts: the templates.
        tokenizer: for counting and cutting.
        context: the local model's context in its own tokens; None asks the server.
        default_max_tokens: the limit for a request without one.
        temperature: the temperature for a request without one.
    """

    def __init__(
        self,
        backend: Backend,
        prompts: Prompts,
        tokenizer: Tokenizer,
        *,
        context: int | None = None,
        default_max_tokens: int = 1024,
        temperature: float = 0.5,
    ) -> None:
        self.backend = backend
        self._prompts = prompts
        self._tokenizer = tokenizer
        self._context = context
        self._tokens: tuple[str, ...] | None = None  # the model's own; None until known
        self._default_max_tokens = default_max_tokens
        self._temperature = temperature

    async def complete(self, job: Job, options: dict[str, Any]) -> Delta:
        """Return the whole answer. Raises `LocalModelError`."""
        brief = _is_brief(job, options)
        context = await self._ask_server(job)
        for attempt in range(TRIES):
            size = int(context * SHRINK**attempt)
            messages, limits = await offload(brief, self._compose, job, options, size)
            try:
                return await self.backend.complete(messages, limits)
            except LocalModelRefused as exc:
                if not exc.too_long or attempt == TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    async def stream(self, job: Job, options: dict[str, Any]) -> AsyncIterator[Delta]:
        """Yield the answer in steps. Raises `LocalModelError`."""
        brief = _is_brief(job, options)
        context = await self._ask_server(job)
        for attempt in range(TRIES):
            size = int(context * SHRINK**attempt)
            messages, limits = await offload(brief, self._compose, job, options, size)
            try:
                async for step in self.backend.stream(messages, limits):
                    yield step
                return
            except LocalModelRefused as exc:  # a refusal comes before the first step
                if not exc.too_long or attempt == TRIES - 1:
                    raise

    async def _ask_server(self, job: Job) -> int:
        """Ask the server once for its control tokens and its context; return the number of tokens
        of the latter."""
        if self._tokens is None and job.generation is not None:
            self._tokens = await self.backend.special_tokens()
        if self._context is None:
            self._context = await self.backend.context_tokens()
        return self._context or DEFAULT_CONTEXT

    def _compose(
        self, job: Job, options: dict[str, Any], context: int
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return a prompt and options that fit `context` tokens of the local model."""
        asked = options.get("max_completion_tokens") or options.get("max_tokens")
        answer = min(asked or self._default_max_tokens, max(context // 2, MINIMUM_TOKENS))
        limits = {"temperature": self._temperature, **options}
        limits.pop("max_completion_tokens", None)
        limits["max_tokens"] = answer
        if "min_tokens" in limits:  # a minimum above the maximum is refused
            limits["min_tokens"] = min(limits["min_tokens"], answer)
        budget = max(int((context - answer) / self._tokenizer.ratio), MINIMUM_TOKENS)
        job = _clip_job(job, CHARACTERS_PER_TOKEN * budget)
        for name in ("tools", "functions"):  # the chat template writes them into the prompt
            if options.get(name):
                budget -= self._count(json.dumps(options[name], ensure_ascii=False))
        return self._build_messages(job, budget), limits

    def _build_messages(self, job: Job, budget: int) -> list[dict[str, Any]]:
        """Return the messages, within `budget` tokens of the estimating tokenizer."""
        *history, last = job.messages
        template = self._choose_template(job)
        generation = job.generation
        if generation is not None:
            # The remote is not trusted: its text must not end a turn and start another.
            generation = remove_control_tokens(generation, self._tokens or ())
        if _measure(template, history, last) + 3 * len(_spell(generation or "")) <= budget:
            return self._assemble(template, history, last, _read_content(last), generation)
        calling = len(history) - _count_bound_turns(history, last)
        history, bound = history[:calling], history[calling:]
        budget -= self._count(fill(template, document="", generation=""))
        budget -= sum(
            self._count_message({**message, "content": ""}) for message in (*bound, last)
        )
        if generation is not None:
            if last["role"] != "user":
                budget -= MESSAGE_OVERHEAD  # the note's own
            generation = self._keep_head(generation, max(budget // 3, MINIMUM_TOKENS // 2))
            budget -= self._count(generation)
        document = _read_content(last)
        bound = self._squeeze(bound, self._count(document), budget)
        budget -= sum(self._count(_read_content(message)) for message in bound)
        share = max(budget // 2, MINIMUM_TOKENS // 2)
        history = self._fit(history, budget - min(self._count(document), share))
        budget -= sum(self._count_message(message) for message in history)
        history += bound
        budget = max(budget, MINIMUM_TOKENS // 2)
        cut = self._keep_tail if job.task == "continuation" else self._keep_ends
        return self._assemble(template, history, last, cut(document, budget), generation)

    def _assemble(
        self,
        template: str,
        history: list[dict[str, Any]],
        last: dict[str, Any],
        document: str,
        generation: str | None,
    ) -> list[dict[str, Any]]:
        """Return the messages with the document, and the generation in its template."""
        if last["role"] != "user":
            # Instructions do not belong in a tool's result or an unfinished answer: they follow.
            note = [] if generation is None else [self._build_note(template, generation)]
            return [*history, {**last, "content": document}, *note]
        content = fill(template, document=document, generation=generation or "")
        return [*history, {**last, "content": content}]

    def _choose_template(self, job: Job) -> str:
        if job.generation is None:
            alone = self._prompts.remote_continuation
            return alone if job.task == "continuation" else "{document}"
        if job.task == "continuation":
            return self._prompts.local_continuation
        return self._prompts.local_answer

    @staticmethod
    def _build_note(template: str, generation: str) -> dict[str, Any]:
        return {
            "role": "user",
            "content": fill(template, document="", generation=generation).strip(),
        }

    def _fit(self, history: list[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
        """Drop the oldest turns until the rest fits. System turns go last; a tool's result goes
        with the turn that called it."""
        kept = [(message, self._count_message(message)) for message in history]
        total = sum(cost for _, cost in kept)
        while kept and total > budget:
            turn = next((i for i, (m, _) in enumerate(kept) if m["role"] != "system"), 0)
            total -= kept.pop(turn)[1]
            # The rest must begin with a question: many chat templates refuse anything else.
            while turn < len(kept) and kept[turn][0]["role"] in (*RESULTS, "assistant"):
                total -= kept.pop(turn)[1]
        return [message for message, _ in kept]

    def _squeeze(
        self, bound: list[dict[str, Any]], document: int, budget: int
    ) -> list[dict[str, Any]]:
        """Cut each of the turns that have to stay to its share, unless all of them fit."""
        if sum(self._count(_read_content(message)) for message in bound) + document <= budget:
            return bound
        share = max(budget // (len(bound) + 1), MINIMUM_TOKENS // 2)
        return [{**m, "content": self._keep_ends(_read_content(m), share)} for m in bound]

    def _count_message(self, message: dict[str, Any]) -> int:
        calls = message.get("tool_calls") or message.get("function_call") or ""
        return (
            self._count(_read_content(message)) + self._count(str(calls or "")) + MESSAGE_OVERHEAD
        )

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text))

    def _keep_head(self, text: str, size: int) -> str:
        tokens = self._tokenizer.encode(text)
        return text if len(tokens) <= size else self._tokenizer.decode(tokens[:size])

    def _keep_tail(self, text: str, size: int) -> str:
        tokens = self._tokenizer.encode(text)
        return text if len(tokens) <= size else self._tokenizer.decode(tokens[-size:])

    def _keep_ends(self, text: str, size: int) -> str:
        tokens = self._tokenizer.encode(text)
        if len(tokens) <= size:
            return text
        half = max((size - self._count(GAP)) // 2, 1)
        decode = self._tokenizer.decode
        return decode(tokens[:half]) + GAP + decode(tokens[-half:])


def _measure(template: str, history: list[dict[str, Any]], last: dict[str, Any]) -> int:
    """Return an upper bound of the tokens of messages in a template: a token has one or more
    bytes."""
    calls = [m.get("tool_calls") or m.get("function_call") or "" for m in (*history, last)]
    texts = [template, *map(_read_content, (*history, last)), *map(str, calls)]
    return sum(len(_spell(text)) for text in texts) + MESSAGE_OVERHEAD * (len(history) + 2)


def _spell(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_brief(job: Job, options: dict[str, Any]) -> bool:
    """Tell if the prompt is composed in about a millisecond."""
    size = sum(len(_read_content(message)) for message in job.messages)
    plain = not {"tools", "functions"} & options.keys()
    return plain and size + len(job.generation or "") <= 2 * SHORT


def with_seed(options: dict[str, Any], index: int) -> dict[str, Any]:
    """Return the options for the choice `index`: with a seed, every choice has its own."""
    seed = options.get("seed")
    return options if seed is None else {**options, "seed": seed + index}


def _clip_job(job: Job, size: int) -> Job:
    """Cut every text of a job to about `size` characters before anything is tokenized. The rest
    cannot fit, and tokenizing megabytes takes seconds."""

    def clip(text: str) -> str:
        if len(text) <= size:
            return text
        if job.task == "continuation":
            return text[-size:]
        return text[: size // 2] + GAP + text[-size // 2 :]

    return Job(
        job.task,
        tuple({**m, "content": clip(_read_content(m))} for m in job.messages),
        None if job.generation is None else job.generation[:size],
    )


def _count_bound_turns(history: list[dict[str, Any]], last: dict[str, Any]) -> int:
    """Count the turns at the end of the history that `last` depends on. A tool's result needs the
    turn that called it, and that turn needs the results of its other calls."""
    if last["role"] not in RESULTS:
        return 0
    turns = enumerate(reversed(history), 1)
    return next((i for i, message in turns if message["role"] not in RESULTS), 0)


def _read_content(message: dict[str, Any]) -> str:
    return message.get("content") or ""
