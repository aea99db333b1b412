"""Relay a sanitized request to the remote, and restore its answer: whole, or while it streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from extraction.backends.base import (
    Delta,
    Usage,
    count_characters,
    read_finish_reason,
    read_list,
    read_logprob,
    read_logprobs,
    read_message,
    read_object,
    read_stop,
    read_text,
    read_usage,
)
from extraction.extractor import gather
from extraction.http.client import CUT, DONE, EVENT, LARGE, SMALL, CutShort, Reply, parse
from perturb.work import SHORT, offload
from proxy.errors import ApiError, remote_error
from proxy.metrics import Metrics
from proxy.pipeline.plan import Answer, Emit, Exchange, Plan
from proxy.remote.errors import explain_answer
from proxy.remote.upstream import CHATS
from proxy.requests.protocol import CompletionRequest, SamplingRequest
from proxy.restoring.way_back import Restored, RestoredText, WayBack

__all__ = ["CHAT", "COMPLETION", "Choice", "End", "Relayer", "Wire", "choose_wire"]


@dataclass(frozen=True)
class Wire:
    """Describe an endpoint of the remote.

    Attributes:
        path: appended to the remote's address.
        completes: whether its answers are text completions; else they are chat completions.
    """

    path: str
    completes: bool = False

    def read(self, choice: Mapping[str, Any], *, streamed: bool) -> Delta:
        """Read one choice, or a step of it. Raises `ValueError`."""
        finish = read_finish_reason(choice.get("finish_reason"))
        if self.completes:
            text = read_text(choice.get("text"))
            logprobs = _read_completion_logprobs(choice.get("logprobs"))
            return Delta({"content": text} if text else {}, logprobs, finish)
        told = (
            choice.get("message") if not streamed or "message" in choice else choice.get("delta")
        )
        message = read_message(told, streamed=streamed)
        stop = read_stop(choice.get("stop_reason"))
        return Delta(message, read_logprobs(choice.get("logprobs")), finish, stop=stop)


CHAT = Wire(CHATS)
COMPLETION = Wire("/completions", completes=True)


def choose_wire(request: SamplingRequest) -> Wire:
    """Return the endpoint of the remote that a request goes to."""
    return COMPLETION if isinstance(request, CompletionRequest) else CHAT


def _read_completion_logprobs(value: Any) -> dict[str, Any] | None:
    """Read the parallel lists of text completions, and return them in the chat form. Raises
    `ValueError`."""
    if value is None:
        return None
    told = read_object(value)
    tokens, numbers = read_list(told.get("tokens")), read_list(told.get("token_logprobs"))
    others = read_list(told.get("top_logprobs") or [None] * len(tokens))
    return {
        "content": [
            {
                **_token(token, number),
                "top_logprobs": [_token(*each) for each in read_object(other or {}).items()],
            }
            for token, number, other in zip(tokens, numbers, others, strict=True)
        ],
        "refusal": None,
    }


def _token(token: Any, logprob: Any) -> dict[str, Any]:
    return {"token": read_text(token), "bytes": None, "logprob": read_logprob(logprob)}


TEXTS = ("content", "refusal")


class Choice:
    """Restore one choice. Each text and each tool call in it is restored by itself.

    Attributes:
        finish_reason: the reason with which the remote ended the choice; None before that.
        stop: the client's stop sequence that ended it, if the remote names it.
    """

    def __init__(self, way_back: WayBack) -> None:
        self._back = way_back
        self._texts: dict[str, RestoredText] = {}
        self._calls: dict[int, _Call] = {}
        self._function: _Call | None = None
        self.finish_reason: str | None = None
        self.stop: str | None = None

    @property
    def begun(self) -> bool:
        """Tell if the remote has sent a part of a text or of a call."""
        return bool(self._texts or self._calls or self._function)

    def step(self, step: Delta) -> Delta:
        """Return a step as far as it is certain, without its end."""
        self.finish_reason = step.finish_reason or self.finish_reason
        if step.stop is not None:
            self.stop = self._back.wholes.get(step.stop, step.stop)
        message: dict[str, Any] = {}
        for name in TEXTS:
            if text := step.message.get(name):
                restorer = self._texts.setdefault(name, self._back.read_content())
                if shown := restorer.feed(text):
                    message[name] = shown
        calls = []
        for place, call in enumerate(step.message.get("tool_calls") or ()):
            index = call.get("index", place)
            own = self._calls.setdefault(index, _Call(self._back))
            function = own.step(call.get("function") or {})
            if function or "id" in call or "type" in call:
                calls.append({**call, "function": function})
        if calls:
            message["tool_calls"] = calls
        if legacy := step.message.get("function_call"):
            self._function = self._function or _Call(self._back)
            if shown_call := self._function.step(legacy):
                message["function_call"] = shown_call
        return Delta(message, step.logprobs)

    def finish(self) -> Delta:
        """Return what was held back."""
        rests = {name: self._texts[name].finish() for name in TEXTS if name in self._texts}
        message: dict[str, Any] = {name: rest for name, rest in rests.items() if rest}
        calls = [
            {"index": index, "function": rest}
            for index, call in sorted(self._calls.items())
            if (rest := call.finish())
        ]
        if calls:
            message["tool_calls"] = calls
        if self._function is not None and (rest := self._function.finish()):
            message["function_call"] = rest
        return Delta(message)

    def restore(self, whole: Delta) -> Delta:
        """Return a whole choice, restored."""
        first, rest = self.step(whole), self.finish()
        message = dict(first.message)
        for name in TEXTS:
            if text := message.get(name, "") + rest.message.get(name, ""):
                message[name] = text
        calls = message.get("tool_calls", [])
        for late in rest.message.get("tool_calls", ()):
            _extend(calls[late["index"]]["function"], late["function"])
        if "function_call" in whole.message:
            function = message.setdefault("function_call", {})
            _extend(function, rest.message.get("function_call", {}))
        return replace(whole, message=message, stop=self.stop)

    def count(self) -> Restored:
        """Count what was restored, once the choice is finished."""
        calls = [*self._calls.values(), *([self._function] if self._function else [])]
        texts = [*self._texts.values(), *(call.arguments for call in calls)]
        return sum((text.count() for text in texts), Restored(sum(c.renamed for c in calls)))


class _Call:
    """Restore one call: its name as a whole, its arguments as JSON."""

    def __init__(self, way_back: WayBack) -> None:
        self._names = way_back.names
        self._name = ""  # held back: it may yet become one that was replaced
        self.arguments = way_back.read_json()
        self.renamed = 0

    def step(self, function: Mapping[str, str]) -> dict[str, str]:
        shown: dict[str, str] = {}
        self._name += function.get("name", "")
        arguments = function.get("arguments", "")
        waits = any(known.startswith(self._name) for known in self._names if known != self._name)
        if self._name and (arguments or not waits):
            shown["name"] = self._take_name()
        if "arguments" in function:
            text = self.arguments.feed(arguments)
            if text or not arguments:
                shown["arguments"] = text
        return shown

    def finish(self) -> dict[str, str]:
        shown = {"name": self._take_name()} if self._name else {}
        rest = self.arguments.finish()
        return {**shown, "arguments": rest} if rest else shown

    def _take_name(self) -> str:
        name, self._name = self._name, ""
        self.renamed += name in self._names
        return self._names.get(name, name)


def _extend(function: dict[str, str], rest: Mapping[str, str]) -> None:
    for part in ("name", "arguments"):
        function[part] = function.get(part, "") + rest.get(part, "")


OTHER_FORM = "The remote's answer is not of the requested form."
CHARACTERS = 2_000_000  # of all choices of a stream: the remote may send anything
End = tuple[int, Delta]  # the last step of a choice, by the choice's number


class Relayer:
    """Relay plans to their remotes."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def answer(self, plan: Plan) -> tuple[list[Answer], Restored]:
        """Return the answers, ordered `prompt_index * n + i`, and what was restored in them.

        Raises:
            ApiError: the remote failed, or the guard refused.
        """
        with self._metrics.stage("remote", plan.trace.note_stage):
            jobs = [self._answer(plan, p, each) for p, each in enumerate(plan.exchanges)]
            found = await gather(jobs)
        answers = [answer for own, _ in found for answer in own]
        return answers, sum((count for _, count in found), Restored())

    async def stream(self, plan: Plan, emit: Emit) -> tuple[list[End], Restored]:
        """Pass every step of the answers to `emit` as soon as it is certain.

        Returns:
            The end of each choice, which is not passed on yet, and what was restored.

        Raises:
            ApiError: as `answer`.
        """
        with self._metrics.stage("remote", plan.trace.note_stage):
            jobs = [self._stream(plan, p, each, emit) for p, each in enumerate(plan.exchanges)]
            found = await gather(jobs)
        ends = [end for own, _ in found for end in own]
        return ends, sum((count for _, count in found), Restored())

    async def _answer(
        self, plan: Plan, number: int, exchange: Exchange
    ) -> tuple[list[Answer], Restored]:
        wire, back = choose_wire(plan.request), _way_back(exchange)
        large = plan.request.wants_logprobs or plan.request.choices > 1
        try:
            assert exchange.outgoing is not None
            outgoing = exchange.outgoing
            async with plan.route.remote.open(
                wire.path, outgoing.body, outgoing.clearance, streamed=False
            ) as reply:
                told = await reply.json(LARGE if large else SMALL)
            steps = _read_choices(wire, reply, told, plan.request.choices)
            self._metrics.count_remote(plan.request.model, steps[0].usage)
        except ApiError as exc:
            raise self._note(plan, number, exc) from exc
        plan.trace.note_outcome(number, "relayed")
        size = sum(count_characters(step.message) for step in steps)
        made, counts = await offload(size <= SHORT, _restore, back, steps)
        answers = [
            Answer(
                each.message, each.logprobs, each.finish_reason or "stop", each.usage, each.stop
            )
            for each in made
        ]
        return answers, counts

    async def _stream(
        self, plan: Plan, number: int, exchange: Exchange, emit: Emit
    ) -> tuple[list[End], Restored]:
        wire, back, n = choose_wire(plan.request), _way_back(exchange), plan.request.choices
        choices, remote = [Choice(back) for _ in range(n)], plan.route.remote
        usage: Usage | None = None
        size, done = 0, False
        try:
            assert exchange.outgoing is not None
            outgoing = exchange.outgoing
            async with (
                remote.open(wire.path, outgoing.body, outgoing.clearance, streamed=True) as reply,
                aclosing(_read_events(reply, remote.config.timeout_seconds)) as events,
            ):
                plan.trace.note_outcome(number, "relayed")
                async for told in events:
                    if told is DONE:
                        done = True
                        break
                    steps, counted = _read_event(wire, reply, told, n)
                    usage = counted or usage
                    for i, step in steps:
                        length = count_characters(step.message)
                        size += length
                        if size > CHARACTERS:
                            raise remote_error("The remote's answer is too long.")
                        shown = await offload(length <= SHORT, choices[i].step, step)
                        if shown.message or shown.logprobs:
                            await emit(number * n + i, shown)
                        if step.finish_reason and (rest := choices[i].finish()).message:
                            await emit(number * n + i, rest)
                for i, choice in enumerate(choices):
                    if choice.finish_reason is None:
                        if not (done and choice.begun):
                            raise CutShort(CUT)  # a server that dies may end its stream properly
                        choice.finish_reason = "stop"  # as for a whole answer without a reason
                    if (rest := choice.finish()).message:  # also of what came after a reason
                        await emit(number * n + i, rest)
        except ApiError as exc:
            raise self._note(plan, number, exc) from exc
        self._metrics.count_remote(plan.request.model, usage)
        ends = [
            (
                number * n + i,
                Delta({}, None, choice.finish_reason, None if i else usage, choice.stop),
            )
            for i, choice in enumerate(choices)
        ]
        counts = await offload(size <= SHORT, _count, choices)
        return ends, counts

    def _note(self, plan: Plan, number: int, error: ApiError) -> ApiError:
        """Note a failure for the log and the metrics."""
        self._metrics.count_failure("remote", error, plan.route.remote.alias)
        plan.trace.note_outcome(number, "failed")
        plan.trace.note_failure(number, error.upstream)
        return error


def _way_back(exchange: Exchange) -> WayBack:
    assert exchange.way_back is not None  # each exchange of a gateway has one
    return exchange.way_back


def _restore(back: WayBack, steps: list[Delta]) -> tuple[list[Delta], Restored]:
    choices = [Choice(back) for _ in steps]
    made = [choice.restore(step) for choice, step in zip(choices, steps, strict=True)]
    return made, _count(choices)


def _count(choices: list[Choice]) -> Restored:
    return sum((choice.count() for choice in choices), Restored())


async def _read_events(reply: Reply, seconds: float) -> AsyncGenerator[Any]:
    """Yield the events of a stream, and `DONE` if the remote says that it is complete. A remote
    that does not stream sends one event, the whole answer."""
    if reply.is_json:
        yield await reply.json(LARGE)
        return
    async with aclosing(reply.events(seconds)) as events:
        async for data in events:
            if data == DONE:
                yield DONE
                return
            yield parse(data, EVENT)


def _read_choices(wire: Wire, reply: Reply, told: Any, n: int) -> list[Delta]:
    """Read a whole answer with `n` choices; raise `ApiError`."""
    try:
        answer = read_object(told)
        steps = dict(_read_each(wire, answer, n, streamed=False))
        usage = read_usage(answer.get("usage"))
        return [replace(steps[i], usage=None if i else usage) for i in range(n)]
    except (ValueError, KeyError):
        raise explain_answer(OTHER_FORM, reply.status, told) from None


def _read_event(
    wire: Wire, reply: Reply, told: Any, n: int
) -> tuple[list[tuple[int, Delta]], Usage | None]:
    """Read the steps in an event of a stream, and the usage if it states it; raise `ApiError`."""
    try:
        event = read_object(told)
        if event.get("error") or event.get("object") == "error":
            raise ValueError("an error")
        usage = event.get("usage")
        counted = None if usage is None else read_usage(usage)
        return _read_each(wire, event, n, streamed=True), counted
    except ValueError:
        raise explain_answer(OTHER_FORM, reply.status, told) from None


def _read_each(
    wire: Wire, told: dict[str, Any], n: int, *, streamed: bool
) -> list[tuple[int, Delta]]:
    """Read the choices of an answer, or of an event. Raises `ValueError`."""
    found = []
    for choice in read_list(told.get("choices") or [], n):
        index = read_object(choice).get("index") or 0
        if type(index) is not int or not 0 <= index < n:
            raise ValueError("not a place")
        found.append((index, wire.read(choice, streamed=streamed)))
    return found
