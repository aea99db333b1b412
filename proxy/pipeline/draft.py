"""Define drafts: a prompt's turns cut into spans, each with its outgoing content."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from proxy.release import Release
from proxy.requests.messages import Prompt

__all__ = ["Draft", "DraftTurn", "Private", "Quote", "Span", "Text"]


@dataclass(frozen=True)
class Private:
    """Hold a private text that has no release yet."""

    raw: str


@dataclass(frozen=True)
class Quote:
    """Hold an earlier generation of the remote, and the key of the answer made from it."""

    text: str
    key: bytes


Content = Release | Quote | Private | str


@dataclass(frozen=True)
class Span:
    """Hold a stretch of a text.

    Attributes:
        content: sent in its place; a string is sent as it is.
        start, end: its place in the text, in characters.
    """

    content: Content
    start: int = 0
    end: int = 0

    @property
    def outgoing(self) -> str:
        """Return the text that is sent in its place."""
        match self.content:
            case Release(sanitized=sanitized):
                return sanitized.text
            case Quote(text=text):
                return text
            case str(text):
                return text
        raise AssertionError("a private text without a release cannot be sent")


@dataclass(frozen=True)
class Text:
    """Hold a text of a turn; `raw` is None for public text and for a recognised answer."""

    raw: str | None
    spans: tuple[Span, ...]

    @property
    def private(self) -> list[str]:
        """Return the raw private texts in it, as they are released."""
        kinds = (Release, Private)
        return [span.content.raw for span in self.spans if isinstance(span.content, kinds)]


@dataclass(frozen=True)
class DraftTurn:
    """Hold a turn of a prompt."""

    role: str
    texts: tuple[Text, ...]

    @property
    def spans(self) -> list[Span]:
        """Return all spans in order."""
        return [span for text in self.texts for span in text.spans]

    @property
    def private(self) -> list[str]:
        """Return the raw private texts in it, whole and as they are released."""
        whole = [text.raw for text in self.texts if text.raw is not None]
        return [*whole, *(raw for text in self.texts for raw in text.private)]

    @property
    def pending(self) -> list[str]:
        """Return the raw private texts in it that have no release yet."""
        return [span.content.raw for span in self.spans if isinstance(span.content, Private)]


@dataclass(frozen=True)
class Draft:
    """Hold a prompt as it was read for the remote.

    Attributes:
        conversation: the name of the conversation it belongs to.
        scope: the scope of equal texts and answers, see `Memo.releases`.
    """

    prompt: Prompt
    conversation: str
    scope: str
    turns: tuple[DraftTurn, ...]

    @property
    def spans(self) -> list[Span]:
        """Return all spans in order."""
        return [span for turn in self.turns for span in turn.spans]

    @property
    def releases(self) -> list[Release]:
        """Return the releases that are sent with it."""
        return [span.content for span in self.spans if isinstance(span.content, Release)]

    @property
    def unique_releases(self) -> tuple[Release, ...]:
        """Return the release of each private text once, as it is charged."""
        return tuple({release.key: release for release in self.releases}.values())

    @property
    def quotes(self) -> list[Quote]:
        """Return the remote's own words that are sent with it."""
        return [span.content for span in self.spans if isinstance(span.content, Quote)]

    def change(self, change: Callable[[Content], Content]) -> Draft:
        """Return the draft with a function applied to the content of each span."""

        def change_text(text: Text) -> Text:
            spans = [Span(change(span.content), span.start, span.end) for span in text.spans]
            return Text(text.raw, tuple(spans))

        turns = [DraftTurn(turn.role, tuple(map(change_text, turn.texts))) for turn in self.turns]
        return Draft(self.prompt, self.conversation, self.scope, tuple(turns))
