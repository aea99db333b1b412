"""The contract of a local backend, as a pytest class to inherit.

    from extraction.testing import BackendContract

    class TestMine(BackendContract):
        @asynccontextmanager
        async def running(self):
            yield MyBackend()

Nothing else imports it: it needs pytest (extra `testing`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, ClassVar, cast

import pytest

from extraction.backends.base import FINISH_REASONS, Backend, Delta, Usage, Warmable
from extraction.errors import LocalModelError

__all__ = ["BackendContract"]

CANARY = "sent-canary"
MESSAGES = [
    {"role": "system", "content": "Answer in one sentence."},
    {"role": "user", "content": f"Say something about {CANARY}."},
]
PARTS = {"content", "tool_calls", "function_call", "refusal"}


class BackendContract:
    """Check the contract of every local backend: inherit this class and define `running`.

    Attributes:
        options: the options of every call, under OpenAI's names.
        seconds: the longest that a call, and a stop, may take.
    """

    options: ClassVar[dict[str, Any]] = {"max_tokens": 16, "temperature": 0.5}
    seconds: ClassVar[float] = 60.0

    def running(self) -> AbstractAsyncContextManager[Backend]:
        """Return a backend that is up for as long as the block runs; the contract closes it."""
        raise NotImplementedError("a backend's tests define `running`")

    def failing(self) -> AbstractAsyncContextManager[Backend] | None:
        """Return a backend whose model is down; None if that cannot happen."""
        return None

    def test_a_whole_answer_has_a_text_and_a_reason(self) -> None:
        """Check that `complete` returns one step with everything in it."""

        async def body(backend: Backend) -> None:
            _check_delta(done := await backend.complete(MESSAGES, self.options))
            assert isinstance(done.message["content"], str)
            assert done.message["content"]
            assert done.finish_reason is not None

        self._run(body)

    def test_a_streamed_answer_ends_with_a_reason(self) -> None:
        """Check that `stream` yields steps; the last one, and no other, has a `finish_reason`."""

        async def body(backend: Backend) -> None:
            steps = [step async for step in backend.stream(MESSAGES, self.options)]
            for step in steps:
                _check_delta(step)
            assert "".join(step.message.get("content") or "" for step in steps)
            assert [step.finish_reason is not None for step in steps[:-1]].count(True) == 0
            assert steps[-1].finish_reason is not None

        self._run(body)

    def test_arguments_are_left_as_they_were(self) -> None:
        """Check that messages and options, which are the caller's, are left alone."""

        async def body(backend: Backend) -> None:
            messages, options = json.loads(json.dumps([MESSAGES, self.options]))
            await backend.complete(messages, options)
            assert [step async for step in backend.stream(messages, options)]
            assert [messages, options] == [MESSAGES, self.options]

        self._run(body)

    def test_answers_are_made_side_by_side(self) -> None:
        """Check that several calls at once are all answered."""

        async def body(backend: Backend) -> None:
            calls = [backend.complete(MESSAGES, self.options) for _ in range(4)]
            assert all(done.finish_reason for done in await asyncio.gather(*calls))

        self._run(body)

    def test_a_stream_may_be_left_and_a_call_be_cancelled(self) -> None:
        """Check that a client that goes away ends its generation, and the next one is answered."""

        async def body(backend: Backend) -> None:
            async with aclosing(backend.stream(MESSAGES, self.options)) as steps:
                await anext(steps)
            call = asyncio.ensure_future(backend.complete(MESSAGES, self.options))
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.wait([call])
            assert (await backend.complete(MESSAGES, self.options)).finish_reason

        self._run(body)

    def test_it_reports_its_readiness_context_and_tokens(self) -> None:
        """Check its readiness, and the types of its context and its control tokens."""

        async def body(backend: Backend) -> None:
            assert await backend.ready() is True
            context = await backend.context_tokens()
            assert context is None or (type(context) is int and context > 0)
            tokens = await backend.special_tokens()
            assert tokens is None or isinstance(tokens, tuple)
            assert all(isinstance(token, str) and token for token in tokens or ())

        self._run(body)

    def test_a_prompt_that_is_read_ahead_is_answered_as_any(self) -> None:
        """Check `warm`, which is optional: it returns nothing and spoils no answer."""

        async def body(backend: Backend) -> None:
            if isinstance(backend, Warmable):
                done = cast(Any, await backend.warm(MESSAGES[:1], self.options))
                assert done is None
            assert (await backend.complete(MESSAGES, self.options)).finish_reason

        self._run(body)

    def test_it_may_be_closed_twice(self) -> None:
        """Check that `aclose` lets go of everything, and does no harm a second time."""

        async def body(backend: Backend) -> None:
            await backend.aclose()

        self._run(body)

    def test_a_model_that_is_down_is_an_error_without_text(self) -> None:
        """Check that its calls raise `LocalModelError` without text of the request."""

        async def body(backend: Backend) -> None:
            assert await backend.ready() is False
            with pytest.raises(LocalModelError) as whole:
                await backend.complete(MESSAGES, self.options)
            with pytest.raises(LocalModelError) as streamed:
                _ = [step async for step in backend.stream(MESSAGES, self.options)]
            for error in (whole.value, streamed.value):
                assert CANARY not in f"{error} {error!r}"

        failing = self.failing()
        if failing is not None:
            asyncio.run(self._within(failing, body))

    def _run(self, body: Callable[[Backend], Awaitable[None]]) -> None:
        asyncio.run(self._within(self.running(), body))

    async def _within(
        self,
        made: AbstractAsyncContextManager[Backend],
        body: Callable[[Backend], Awaitable[None]],
    ) -> None:
        async with asyncio.timeout(self.seconds), made as backend:
            try:
                await body(backend)
            finally:
                await backend.aclose()


def _check_delta(step: Delta) -> None:
    """Check the form of a step."""
    assert isinstance(step, Delta)
    assert set(step.message) <= PARTS
    assert isinstance(step.message.get("content", ""), str)
    assert step.usage is None or isinstance(step.usage, Usage)
    assert step.finish_reason in (None, *FINISH_REASONS)
