"""Extraction: raw conversation + perturbed generation → the local model's prompt → the answer.

Everything here is raw text and stays on this machine. The generation is material, beside the
document in one turn, or it answers a demonstration: the turns that the remote was sent, which
stand before the conversation and show how such a task is done.

Of several candidate answers the one that is nearest to the document is returned. The first is the
local model's own, the others are made with the remote's generation. So a generation that makes
answers worse loses against the model's own answer. A reply to a passage is used only if it and the
passage are nearer to the document than that answer. Both are decided on this machine and cost no
privacy.

The local server may read a prompt while the remote is still writing: the raw document stands
before the generation in most prompts. A server with a prefix cache (vLLM, llama.cpp) that has read
it once reads only the rest when the answer is asked for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal, TypeVar

from extraction.backends.base import Backend, Delta, Warmable
from extraction.control import remove_control_tokens
from extraction.errors import LocalModelRefused
from extraction.judge import Judge
from extraction.prompts import Prompts, fill, find_opening
from perturb.work import SHORT, offload

__all__ = [
    "AnswerWriter",
    "Demonstration",
    "Extraction",
    "Extractor",
    "Job",
    "Task",
    "Tokenizer",
    "Warmer",
    "WhenToWarm",
    "gather",
    "read_document",
    "with_seed",
]


DEFAULT_CONTEXT = 4096
MESSAGE_OVERHEAD = 12  # an upper estimate of a chat template's tokens for each message
MINIMUM_TOKENS = 64  # neither the prompt nor the answer gets less
SHRINK = 0.6  # of the budget, for the next try after the server refused a prompt as too long
TRIES = 4
CHARACTERS_PER_TOKEN = 16  # more than prose of any language has
PROSE_CHARACTERS = 6  # of a cl100k token: English has 4 to 5, other languages fewer
GAP = "\n[…]\n"
RESULTS = ("tool", "function")
# Options that change the answer alone, and that a request for one token must not have.
ANSWERS_OWN = ("max_completion_tokens", "max_tokens", "min_tokens", "logprobs", "top_logprobs")
Task = Literal["chat", "continuation", "instruct"]
Extraction = Literal["relevant", "all", "demonstrate"]  # what is used of a generation, and how


@dataclass(frozen=True)
class Tokenizer:
    """Count and cut text in some tokenizer's tokens. The local model's tokens are estimated from
    these: `ratio` of them for each."""

    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    ratio: float = 1.3


@dataclass(frozen=True)
class Demonstration:
    """Hold an example of the task: what the remote was sent, and its answer.

    Attributes:
        turns: user and assistant turns in OpenAI's form; the last is the remote's answer.
        instruction: the public instruction that stands before the document in them; "" if there
            is none.
    """

    turns: tuple[dict[str, str], ...]
    instruction: str = ""


@dataclass(frozen=True)
class Job:
    """Describe a request to the local model, which works alone with neither a generation nor a
    demonstration. There are never both.

    Attributes:
        task: selects the prompt.
        messages: the raw conversation in OpenAI's form; the last is the document.
        generation: the remote's perturbed generation, as material.
        demonstration: the remote's turns, as an example that stands before the conversation.
    """

    task: Task
    messages: tuple[dict[str, Any], ...]
    generation: str | None
    demonstration: Demonstration | None = None

    @property
    def is_alone(self) -> bool:
        """Tell if the local model works alone."""
        return self.generation is None and self.demonstration is None

    @property
    def alone(self) -> Job:
        """Return the job without the remote's words."""
        return Job(self.task, self.messages, None)


class Extractor:
    """Compose the local prompt, cut it to the context, and run the local model.

    Long input is cut in this order. The answer reserves `max_tokens`, but at most half of the
    context. The perturbed generation keeps its beginning, at most a third of the rest. The oldest
    turns are dropped first, whole, system turns last. The document keeps its end for
    `continuation`, and its beginning and end otherwise. A tool's result never stands without the
    turn that called it: if the last turn is one, that turn and its other results stay, cut like
    the document. A demonstration is never cut: it is left out unless it fits beside the whole
    conversation.

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
        self.running = 0  # answers that are being made, or wait for the server
        self._prompts = prompts
        self._tokenizer = tokenizer
        self._context = context
        self._tokens: tuple[str, ...] | None = None  # the model's own; None until known
        self._default_max_tokens = default_max_tokens
        self._temperature = temperature

    def limit_generation(self, options: dict[str, Any], spare: int = 1) -> int | None:
        """Return the characters after which a generation is of no use, whatever the document;
        None if it is expected to be shorter, with the tokens that the request allows it, or as
        long as the context is unknown.

        Args:
            options: of the local model.
            spare: times its share of the context, where only parts of it are used.
        """
        if self._context is None:
            return None
        _, budget = self._split_context(options, self._context)
        share = spare * max(budget // 3, MINIMUM_TOKENS // 2)
        expected = _read_limit(options) or self._default_max_tokens
        return None if expected <= share else PROSE_CHARACTERS * share

    async def compose_opening(
        self, job: Job, options: dict[str, Any]
    ) -> tuple[list[dict[str, Any]], dict[str, Any]] | None:
        """Return the part of a job's prompt that is the same whatever the remote writes, with the
        options of a request for it; None if there is no such part.

        There is none if the template has the generation first, or if the prompt may have to be
        cut: how much of the document fits depends on the generation.
        """
        brief, context = _is_brief(job, options), await self._ask_context()
        return await offload(brief, self._compose_opening, job, options, context)

    async def has_room(self, job: Job, options: dict[str, Any]) -> bool:
        """Tell if a job's demonstration fits the context beside the whole conversation."""
        context = await self._ask_server(job)

        def check() -> bool:
            _, budget = self._split_context(options, context)
            clipped = _clip_job(job, CHARACTERS_PER_TOKEN * budget)
            return self._demonstrate(clipped, budget - self._count_tools(options)) is not None

        return await offload(_is_brief(job, options), check)

    async def complete(self, job: Job, options: dict[str, Any]) -> Delta:
        """Return the whole answer. Raises `LocalModelError`."""
        with self._count_running():
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

    async def stream(self, job: Job, options: dict[str, Any]) -> AsyncGenerator[Delta]:
        """Yield the answer in steps. Raises `LocalModelError`."""
        with self._count_running():
            brief = _is_brief(job, options)
            context = await self._ask_server(job)
            for attempt in range(TRIES):
                size = int(context * SHRINK**attempt)
                messages, limits = await offload(brief, self._compose, job, options, size)
                try:
                    async with aclosing(self.backend.stream(messages, limits)) as steps:
                        async for step in steps:
                            yield step
                    return
                except LocalModelRefused as exc:  # a refusal comes before the first step
                    if not exc.too_long or attempt == TRIES - 1:
                        raise

    @contextmanager
    def _count_running(self) -> Iterator[None]:
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1

    async def _ask_server(self, job: Job) -> int:
        """Ask the server once for its control tokens and its context; return the number of tokens
        of the latter."""
        if self._tokens is None and not job.is_alone:
            self._tokens = await self.backend.special_tokens()
        return await self._ask_context()

    async def _ask_context(self) -> int:
        if self._context is None:
            self._context = await self.backend.context_tokens()
        return self._context or DEFAULT_CONTEXT

    def _split_context(self, options: dict[str, Any], context: int) -> tuple[int, int]:
        """Return the tokens of the answer, and the estimating tokenizer's for the prompt."""
        asked = _read_limit(options) or self._default_max_tokens
        answer = min(asked, max(context // 2, MINIMUM_TOKENS))
        return answer, max(int((context - answer) / self._tokenizer.ratio), MINIMUM_TOKENS)

    def _compose(
        self, job: Job, options: dict[str, Any], context: int
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return a prompt and options that fit `context` tokens of the local model."""
        answer, budget = self._split_context(options, context)
        limits = {"temperature": self._temperature, **options}
        limits.pop("max_completion_tokens", None)
        limits["max_tokens"] = answer
        if "min_tokens" in limits:  # a minimum above the maximum is refused
            limits["min_tokens"] = min(limits["min_tokens"], answer)
        job = _clip_job(job, CHARACTERS_PER_TOKEN * budget)
        return self._build_messages(job, budget - self._count_tools(options)), limits

    def _compose_opening(
        self, job: Job, options: dict[str, Any], context: int
    ) -> tuple[list[dict[str, Any]], dict[str, Any]] | None:
        template = self._choose_template(replace(job, generation=""))
        opening = find_opening(template)
        if opening is None:
            return None
        _, budget = self._split_context(options, context)
        job = _clip_job(job, CHARACTERS_PER_TOKEN * budget)
        budget -= self._count_tools(options)
        budget -= self._count(fill(template, document="", generation="")) + MESSAGE_OVERHEAD
        share = max(budget // 3, MINIMUM_TOKENS // 2)
        if sum(map(self._count_message, job.messages)) > budget - share:
            return None
        *history, last = job.messages
        messages = self._assemble(opening, history, last, _read_content(last), "")
        return messages, {k: v for k, v in options.items() if k not in ANSWERS_OWN}

    def _count_tools(self, options: dict[str, Any]) -> int:
        """Count the tokens that the chat template writes into the prompt for tools."""
        tools = [options[name] for name in ("tools", "functions") if options.get(name)]
        return sum(self._count(json.dumps(each, ensure_ascii=False)) for each in tools)

    def _build_messages(self, job: Job, budget: int) -> list[dict[str, Any]]:
        """Return the messages, within `budget` tokens of the estimating tokenizer."""
        if job.demonstration is not None:
            return self._demonstrate(job, budget) or self._build_messages(job.alone, budget)
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

    def _demonstrate(self, job: Job, budget: int) -> list[dict[str, Any]] | None:
        """Return a job's demonstration and its conversation, whose last turn has the form of the
        last one that was sent; None if they exceed `budget` tokens."""
        demonstration = job.demonstration
        assert demonstration is not None
        size = sum(len(turn["content"]) for turn in demonstration.turns)
        if size > CHARACTERS_PER_TOKEN * budget:  # it cannot fit
            return None
        *history, last = job.messages
        if last["role"] == "user":
            document = fill(self._choose_template(job), document=_read_content(last))
            if instruction := demonstration.instruction:
                document = fill(
                    self._prompts.remote_instruct, instruction=instruction, document=document
                )
            last = {**last, "content": document}
        # The remote is not trusted, and its earlier answers are among the turns.
        turns = [
            {**turn, "content": remove_control_tokens(turn["content"], self._tokens or ())}
            for turn in demonstration.turns
        ]
        # Many chat templates take system turns at the beginning only.
        systems = list(takewhile(lambda message: message["role"] == "system", history))
        messages = [*systems, *turns, *history[len(systems) :], last]
        return messages if sum(map(self._count_message, messages)) <= budget else None

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


def _read_limit(options: dict[str, Any]) -> int | None:
    """Return the tokens that a request allows the answer, if it says so."""
    limit: int | None = options.get("max_completion_tokens") or options.get("max_tokens")
    return limit


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
    shown = job.demonstration.turns if job.demonstration else ()
    size = sum(len(_read_content(message)) for message in (*job.messages, *shown))
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

    return replace(
        job,
        messages=tuple({**m, "content": clip(_read_content(m))} for m in job.messages),
        generation=None if job.generation is None else job.generation[:size],
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


T = TypeVar("T")
Write = Callable[[Job, dict[str, Any]], Coroutine[Any, Any, list[Delta]]]
DOCUMENT = 50_000  # characters at the end of a conversation that a text is held against
SEEDS_APART = 1 << 10  # between two candidates; a request has fewer choices


class AnswerWriter:
    """Write answers.

    Args:
        extractor: makes an answer from a job.
        judge: chooses the best candidate.
        note: called with `alone` or `generation` where a choice was made.
    """

    def __init__(
        self, extractor: Extractor, judge: Judge, note: Callable[[str], None] = lambda source: None
    ) -> None:
        self._extractor = extractor
        self._judge = judge
        self._note = note

    async def complete(
        self,
        job: Job,
        options: dict[str, Any],
        candidates: int = 1,
        *,
        passage: str | None = None,
    ) -> Delta:
        """Return the whole answer, the best of `candidates`.

        Args:
            job: the first of several candidates is made without the remote's words in it.
            options: of the local model.
            candidates: how many answers are written.
            passage: what the remote was shown. With one, the first candidate is written before
                the others, which are made with the generation only if it is helpful.

        Raises:
            LocalModelError: the local model failed on one of them.
        """
        if candidates == 1:
            return await self._extractor.complete(job, options)

        async def collect(job: Job, options: dict[str, Any]) -> list[Delta]:
            return [await self._extractor.complete(job, options)]

        (step,) = await self._write_best(job, options, candidates, passage, collect)
        return step

    async def stream(
        self,
        job: Job,
        options: dict[str, Any],
        candidates: int = 1,
        *,
        passage: str | None = None,
    ) -> AsyncGenerator[Delta]:
        """Yield the answer in steps. With several candidates the first step comes when all of
        them are finished. The arguments are those of `complete`.

        Raises:
            LocalModelError: as `complete`.
        """
        if candidates == 1:
            async with aclosing(self._extractor.stream(job, options)) as steps:
                async for step in steps:
                    yield step
            return

        async def collect(job: Job, options: dict[str, Any]) -> list[Delta]:
            return [step async for step in self._extractor.stream(job, options)]

        for step in await self._write_best(job, options, candidates, passage, collect):
            yield step

    async def _write_best(
        self,
        job: Job,
        options: dict[str, Any],
        candidates: int,
        passage: str | None,
        write: Write,
    ) -> list[Delta]:
        """Return the steps of the best of several answers."""
        first, *others = _vary(job, options, candidates)
        if passage is None or job.generation is None:
            found = await gather([write(*pair) for pair in (first, *others)])
        else:
            alone = await write(*first)
            if not await self._is_helpful(job, passage, alone):
                job = first[0]
                others = [(job, own) for _, own in others]
            found = [alone, *await gather([write(*pair) for pair in others])]
        return found[await self._choose(job, found)]

    async def _is_helpful(self, job: Job, passage: str, answer: list[Delta]) -> bool:
        """Tell if a job's generation can make a better answer than one made without it."""
        document, text = read_document(job), _join(answer)
        material = [job.generation or "", passage]
        brief = len(document) + len(text) + sum(map(len, material)) <= SHORT
        return await offload(brief, self._judge.is_helpful, document, text, material)

    async def _choose(self, job: Job, answers: list[list[Delta]]) -> int:
        """Return the place of the best answer."""
        texts = list(map(_join, answers))
        document = read_document(job)
        brief = len(document) + sum(map(len, texts)) <= SHORT
        best = await offload(brief, self._judge.choose_best, document, texts)
        self._note("alone" if best == 0 or job.is_alone else "generation")
        return best


def read_document(job: Job) -> str:
    """Return the text that generations and answers have to be about: the client's own turns."""
    return "\n".join(
        message.get("content") or ""
        for message in job.messages
        if message["role"] not in ("system", "assistant")
    )[-DOCUMENT:]


async def gather(jobs: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all jobs concurrently; the first failure cancels the others and is raised itself."""
    if len(jobs) == 1:  # it needs no task of its own
        return [await jobs[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


def _join(steps: list[Delta]) -> str:
    return "".join(step.message.get("content") or "" for step in steps)


def _vary(job: Job, options: dict[str, Any], count: int) -> list[tuple[Job, dict[str, Any]]]:
    """Return the job and the options of each candidate. With a seed, each has its own."""
    jobs = [job.alone, *[job] * (count - 1)]
    return [(each, with_seed(options, SEEDS_APART * i)) for i, each in enumerate(jobs)]


# About 500 tokens: fewer are read in so little time that a further request is not worth it.
LONG = 2_000
READING_SECONDS = 30.0  # for a server that still reads when the remote has finished
WhenToWarm = Literal["auto", "always", "never"]


class Warmer:
    """Fill the prefix cache of the local server.

    A warm-up is worth nothing by itself: its failure changes nothing but the time of the answer.

    Args:
        extractor: composes the prompts.
        when: `auto` warms for prompts of 2,000 characters or more, `always` for any.
        places: the prompts that the server holds at once. A warm-up begins only where fewer than
            that are being answered or wait, warmed, for their generation.
        note: called with the end of each: `done`, `failed` or `cancelled`.
    """

    def __init__(
        self,
        extractor: Extractor,
        when: WhenToWarm,
        *,
        places: int,
        note: Callable[[str], None] = lambda end: None,
    ) -> None:
        self._extractor = extractor
        self._when = when
        self._places = places
        self._note = note
        self._held = 0

    @asynccontextmanager
    async def warming(self, job: Job, options: dict[str, Any]) -> AsyncIterator[None]:
        """Read a job's prompt ahead while the block runs, which waits for its generation.

        At the end of the block, a warm-up that has not begun is cancelled. One that the server
        has begun is waited for: reading the same text again would take longer.
        """
        backend = self._extractor.backend
        if not (self._is_worthwhile(job) and isinstance(backend, Warmable)):
            yield
            return
        self._held += 1
        sent = asyncio.Event()
        task = asyncio.create_task(self._warm(backend, job, options, sent))
        try:
            yield
            if sent.is_set():
                await asyncio.wait([task], timeout=READING_SECONDS)
        finally:
            self._held -= 1
            task.cancel()
            await asyncio.wait([task])
            end = "cancelled" if task.cancelled() else task.result()
            if end is not None:
                self._note(end)

    def _is_worthwhile(self, job: Job) -> bool:
        if self._when == "never" or self._extractor.running + self._held >= self._places:
            return False
        size = sum(len(message.get("content") or "") for message in job.messages)
        return self._when == "always" or size >= LONG

    async def _warm(
        self, backend: Warmable, job: Job, options: dict[str, Any], sent: asyncio.Event
    ) -> str | None:
        """Return `done` or `failed`; None if the prompt cannot be warmed."""
        try:
            opening = await self._extractor.compose_opening(job, options)
            if opening is None:
                return None
            sent.set()
            await backend.warm(*opening)
        except Exception:  # a plug-in may raise anything
            return "failed"
        return "done"
