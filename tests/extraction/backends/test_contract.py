"""The contract of local backends: kept by the client of servers, and each mistake is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from extraction.backends.base import Backend, Delta
from extraction.backends.openai_server import OpenAIServer
from extraction.backends.plugged import GROUP, load_backend
from extraction.errors import LocalModelUnavailable
from extraction.testing import BackendContract
from perturb import plugins
from perturb.errors import PluginError
from tests.extraction.local_servers import unused_port
from tests.limits import LIMIT
from tests.plugins import lay_distribution
from tests.servers import fake_server


class TestOpenAIServer(BackendContract):
    @asynccontextmanager
    async def running(self) -> AsyncIterator[Backend]:
        async with fake_server() as server:
            yield OpenAIServer(server.base_url, timeout=LIMIT)

    @asynccontextmanager
    async def failing(self) -> AsyncIterator[Backend]:
        yield OpenAIServer(f"http://127.0.0.1:{unused_port()}/v1", timeout=LIMIT)


# -- negative controls ----------------------------------------------------------------------


class Sound:
    """Answers with two words."""

    def __init__(self, down: bool = False) -> None:
        self.down = down

    def check(self, messages: list[dict[str, Any]]) -> None:
        if self.down:
            raise LocalModelUnavailable("the model is down")

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        self.check(messages)
        return Delta({"content": "Two words."}, finish_reason="stop")

    async def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncGenerator[Delta]:
        self.check(messages)
        yield Delta({"content": "Two "})
        yield Delta({"content": "words."})
        yield Delta(finish_reason="stop")

    async def context_tokens(self) -> int | None:
        return None

    async def special_tokens(self) -> tuple[str, ...] | None:
        return ()

    async def ready(self) -> bool:
        return not self.down

    async def aclose(self) -> None:
        pass


class SaysNothing(Sound):
    async def complete(self, messages: Any, options: Any) -> Delta:
        return Delta({"content": ""}, finish_reason="stop")


class NeverEnds(Sound):
    async def stream(self, messages: Any, options: Any) -> AsyncGenerator[Delta]:
        yield Delta({"content": "Two words."})


class EndsTwice(Sound):
    async def stream(self, messages: Any, options: Any) -> AsyncGenerator[Delta]:
        yield Delta({"content": "Two"}, finish_reason="stop")
        yield Delta({"content": " words."}, finish_reason="stop")


class ChangesOptions(Sound):
    async def complete(self, messages: Any, options: Any) -> Delta:
        options.pop("max_tokens", None)
        return await super().complete(messages, options)


class OneAtATime(Sound):
    busy = False

    async def complete(self, messages: Any, options: Any) -> Delta:
        if self.busy:
            raise RuntimeError("busy")
        self.busy = True
        await asyncio.sleep(0)
        self.busy = False
        return await super().complete(messages, options)


class StaysBusy(OneAtATime):
    async def complete(self, messages: Any, options: Any) -> Delta:
        if self.busy:
            raise RuntimeError("busy")
        self.busy = True
        await asyncio.sleep(0.01)
        self.busy = False
        return Delta({"content": "Two words."}, finish_reason="stop")


class GuessesItsContext(Sound):
    async def context_tokens(self) -> int | None:
        return 0


class ClosesOnce(Sound):
    closed = False

    async def aclose(self) -> None:
        assert not self.closed
        self.closed = True


class QuotesTheText(Sound):
    def check(self, messages: list[dict[str, Any]]) -> None:
        if self.down:
            raise LocalModelUnavailable(f"no answer to {messages}")


class AnswersAhead(Sound):
    async def warm(self, messages: Any, options: Any) -> Delta:
        return await self.complete(messages, options)


class Contract(BackendContract):
    def __init__(self, kind: type[Sound]) -> None:
        self.kind = kind

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Backend]:
        yield self.kind()

    @asynccontextmanager
    async def failing(self) -> AsyncIterator[Backend]:
        yield self.kind(down=True)


CONTROLS: list[tuple[str, type[Sound]]] = [
    ("test_a_whole_answer_has_a_text_and_a_reason", SaysNothing),
    ("test_a_streamed_answer_ends_with_a_reason", NeverEnds),
    ("test_a_streamed_answer_ends_with_a_reason", EndsTwice),
    ("test_arguments_are_left_as_they_were", ChangesOptions),
    ("test_answers_are_made_side_by_side", OneAtATime),
    ("test_a_stream_may_be_left_and_a_call_be_cancelled", StaysBusy),
    ("test_it_reports_its_readiness_context_and_tokens", GuessesItsContext),
    ("test_a_prompt_that_is_read_ahead_is_answered_as_any", AnswersAhead),
    ("test_it_may_be_closed_twice", ClosesOnce),
    ("test_a_model_that_is_down_is_an_error_without_text", QuotesTheText),
]


@pytest.mark.parametrize(("test", "kind"), CONTROLS)
def test_mistake_is_caught(test: str, kind: type[Sound]) -> None:
    getattr(Contract(Sound), test)()
    with pytest.raises((AssertionError, RuntimeError)):
        getattr(Contract(kind), test)()


def test_every_test_of_the_contract_has_a_control() -> None:
    tests = {name for name in dir(BackendContract) if name.startswith("test_")}
    assert {test for test, _ in CONTROLS} == tests


# -- by entry point -------------------------------------------------------------------------

SOURCE = """
from tests.extraction.backends.test_contract import Sound

def raises(**options):
    raise OSError("no weights")

class Half:
    async def complete(self, messages, options):
        pass
"""


def test_a_local_model_is_named_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = {"sound": "acme:Sound", "raises": "acme:raises", "half": "acme:Half"}
    lay_distribution(tmp_path, monkeypatch, "acme", {GROUP: points}, SOURCE)
    try:
        assert isinstance(load_backend("sound", {"down": True}), Sound)
        for name, options, said in (
            ("gone", {}, f"no plug-in in {GROUP} has the name 'gone'; there are half, raises, so"),
            ("sound", {"up": True}, "acme 1.0 .* cannot be built: TypeError: "),
            ("raises", {}, "acme 1.0 .* cannot be built: OSError: no weights$"),
            ("half", {}, "acme 1.0 .* must make a backend; it lacks stream, context_tokens, "),
        ):
            with pytest.raises(PluginError, match=said):
                load_backend(name, options)
    finally:
        plugins._plugins.cache_clear()
