"""Read the remote's answer to a chat request, whole or as it is written."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from extraction.backends.answers import read_list, read_object, read_text, read_usage
from extraction.backends.base import Usage
from extraction.http.client import CUT, EVENT, SMALL, CutShort, Reply, parse
from proxy.errors import ApiError, remote_error
from proxy.remote.errors import RemoteFailure

__all__ = ["Ending", "Generation", "Transcript", "read_answer"]

CHARACTERS = 1_000_000  # the most kept of an answer: the remote may send anything
Ending = Literal["whole", "cut", "abandoned"]


@dataclass(frozen=True)
class Generation:
    """Hold the remote's answer.

    Attributes:
        ended: `whole`; `cut` where the local model would have seen no more of it; `abandoned`
            where it took longer than the operator's patience.
        usage: the tokens that the remote states.
    """

    text: str
    ended: Ending = "whole"
    usage: Usage | None = None


class Transcript:
    """Collect an answer as it comes, up to so many characters."""

    def __init__(self, most: int = CHARACTERS) -> None:
        self._most = most
        self._parts: list[str] = []
        self._size = 0

    def clear(self) -> None:
        """Forget what a failed attempt has left."""
        self._parts.clear()
        self._size = 0

    def add(self, text: str) -> None:
        """Add the next part."""
        if text:  # a remote may send any number of empty parts
            self._parts.append(text)
            self._size += len(text)

    @property
    def full(self) -> bool:
        """Tell if more would be of no use."""
        return self._size >= self._most

    @property
    def text(self) -> str:
        """Return what has come."""
        return "".join(self._parts)[: self._most]


async def read_answer(
    reply: Reply, seconds: float, transcript: Transcript, *, streamed: bool
) -> Generation:
    """Read an answer into an empty transcript.

    A remote that was asked for a stream may send JSON; that is read as it is.

    Args:
        seconds: how long the next event of a stream may take.

    Raises:
        HttpError: the answer breaks off, or is over a limit.
        ApiError: it is not a chat completion.
    """
    told: Any = None
    try:
        if streamed and not reply.is_json:
            async with aclosing(reply.events(seconds)) as events:
                finished = False
                async for data in events:
                    if data == b"[DONE]":
                        return Generation(transcript.text)
                    told = read_object(parse(data, EVENT))
                    finished = _add_step(told, transcript) or finished
                    if transcript.full:
                        return Generation(transcript.text, "cut")
            if not finished:  # a server that dies may close its stream as if it were done
                raise CutShort(CUT)
        else:
            told = await reply.json(SMALL)
            choice = read_object(read_list(read_object(told).get("choices"))[0])
            message = read_object(choice.get("message"))
            text = read_text(message.get("content"))[:CHARACTERS]
            return Generation(text, usage=_read_usage(told))
    except (ValueError, IndexError):
        raise _make_error(reply, told) from None
    return Generation(transcript.text)


def _read_usage(told: dict[str, Any]) -> Usage | None:
    """Return the tokens that an answer states; a wrong statement is no reason to refuse it."""
    try:
        return read_usage(told.get("usage"))
    except ValueError:
        return None


def _add_step(step: dict[str, Any], transcript: Transcript) -> bool:
    """Add a step of a stream; return whether it is the last with text. Raises `ValueError`."""
    if step.get("error") or step.get("error_code") or step.get("object") == "error":
        raise ValueError("an error")
    finished = False
    for choice in read_list(step.get("choices") or [])[:1]:
        delta = read_object(read_object(choice).get("delta"))
        transcript.add(read_text(delta.get("content")))
        finished = choice.get("finish_reason") is not None
    return finished


def _make_error(reply: Reply, told: Any) -> ApiError:
    error = remote_error("The remote's answer is not a chat completion.")
    error.upstream = RemoteFailure.read(reply.status, told).names
    return error
