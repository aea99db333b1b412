"""What would leave for a prompt: drawn first, then, once it is settled, put together.

A draft holds the turns as pieces. Between drafting and composing the texts are committed to the
store, which may hold another replica's draw: only then is it known what leaves.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from extraction.errors import LocalModelError
from extraction.prompts import Prompts, fill
from perturb import DocumentTooLong, Perturbation, Perturber, Sanitizer, Span
from perturb.mechanism import EMPTY, Known
from perturb.policies import telling
from proxy.config import Config
from proxy.errors import from_local, too_large
from proxy.guard import Clearance, Segment
from proxy.memo import Memo, Wanted
from proxy.messages import Part, Turn
from proxy.metrics import Metrics
from proxy.paragraphs import split
from proxy.plan import Private, Prompt

__all__ = ["Draft", "Outgoing"]


@dataclass(frozen=True)
class _Own:
    """The remote's own words, an earlier generation of it, and the key of the answer that was
    made from it."""

    text: str
    key: bytes


@dataclass(frozen=True)
class Draft:
    """A prompt's turns as pieces, in order: role, and private texts, the remote's own words,
    public text and layout; the conversation they stand in (its HMAC), and within what equal
    texts and answers are one, see `Memo.entries`."""

    prompt: Prompt
    conversation: str
    scope: str
    turns: tuple[tuple[str, tuple[Private | _Own | str, ...]], ...]

    @property
    def private(self) -> list[Private]:
        """The private texts that leave with it."""
        return [p for _, pieces in self.turns for p in pieces if isinstance(p, Private)]

    @property
    def answers(self) -> list[bytes]:
        """The keys of the answers whose generations leave with it."""
        return [p.key for _, pieces in self.turns for p in pieces if isinstance(p, _Own)]


class Outgoing:
    """Drafts and composes what leaves."""

    def __init__(self, config: Config, *, memo: Memo, metrics: Metrics) -> None:
        self._config = config
        self._prompts = Prompts(**config.prompts)
        self._memo = memo
        self._metrics = metrics

    async def draft(
        self,
        tenant: str,
        sanitizer: Sanitizer,
        prompt: Prompt,
        known: dict[str, str],
        texts: dict[bytes, Private],
    ) -> Draft:
        """Draw what has not left before, and note it in `texts`: a text that stands twice is
        one. Raises `ApiError`.

        What is sensitive in one text is sensitive in those that come with it or after it:
        `known`, which grows. It is not in those before it, which left earlier as they are.
        """
        before = ""
        sent = {part.text for turn in prompt.turns for part in turn.parts}
        for text in prompt.private:
            if text not in sent:  # it stays here, and what it names is sensitive all the same
                known.update(await _findings(sanitizer, text))
        conversation = self._memo.conversation(tenant, _opening(prompt.raw))
        scope = conversation if self._config.memo.scope == "conversation" else ""
        turns = []
        for turn in prompt.turns:
            own = None
            if turn.role == "assistant":
                own = await self._own(self._memo.answer(tenant, scope, before, turn.text))
            if own is not None:
                pieces: list[Private | _Own | str] = [own]
            else:
                made = await self._pieces(tenant, sanitizer, turn, conversation, scope, known)
                pieces = [
                    texts.setdefault(piece.entry.key, piece)
                    if isinstance(piece, Private)
                    else piece
                    for piece in made
                ]
            turns.append((turn.role, tuple(pieces)))
            before = turn.text
        return Draft(prompt, conversation, scope, tuple(turns))

    async def _own(self, key: bytes) -> _Own | None:
        generation = await self._memo.generation(key)
        return None if generation is None else _Own(generation, key)

    async def _pieces(
        self,
        tenant: str,
        sanitizer: Sanitizer,
        turn: Turn,
        conversation: str,
        scope: str,
        known: dict[str, str],
    ) -> list[Private | _Own | str]:
        units = await asyncio.to_thread(self._units, turn, sanitizer)
        private = [unit.text for unit in units if _is_private(unit)]
        if len(private) > 1:
            whole = [part.text for part in turn.parts if _is_private(part)]
            for text in dict.fromkeys((*whole, *private)):
                known.update(await _findings(sanitizer, text))
        waiting = iter(await self._drawn(tenant, conversation, scope, sanitizer, private, known))
        pieces: list[Private | _Own | str] = []
        for unit in units:
            if _is_private(unit):
                pieces.append(leaving := next(waiting))
                spans = [Span(p.start, p.end, p.type) for p in leaving.released.replaced or ()]
                known.update(telling(leaving.raw, spans))
            else:
                pieces.append(unit.text if unit.public else self._blank(unit.text))
        return pieces

    def _units(self, turn: Turn, sanitizer: Sanitizer) -> list[Part]:
        """A turn's parts, the private ones of a user as paragraphs. Raises `ApiError`: 413."""
        memo, limit = self._config.memo, self._config.limits.document_tokens
        if not memo.paragraphs or turn.role != "user" or not isinstance(sanitizer, Perturber):
            return list(turn.parts)
        out: list[Part] = []
        for part in turn.parts:
            if not _is_private(part):
                out.append(part)
                continue
            pieces = split(part.text, memo.paragraph_words)
            if len(pieces) > 1:  # else the sanitizer counts
                tokens = len(sanitizer.vocabulary.encode(part.text))
                if tokens > limit:
                    raise too_large(f"a text must have <= {limit} tokens, got {tokens}.")
            out += map(Part, pieces)
        return out

    async def _drawn(
        self,
        tenant: str,
        conversation: str,
        scope: str,
        sanitizer: Sanitizer,
        texts: Sequence[str],
        known: Known,
    ) -> list[Private]:
        """What is to leave for texts, from the memo or drawn now. Raises `ApiError`."""
        wanted = [await self._wanted(tenant, sanitizer, text, known) for text in texts]
        try:
            entries = await self._memo.entries(tenant, scope, wanted)
        except DocumentTooLong as exc:
            raise too_large(f"{exc}.") from exc
        except LocalModelError as exc:  # of a paraphrase
            error = from_local(exc)
            self._metrics.upstream_errors.labels("local", error.code or "").inc()
            raise error from exc
        return [
            Private(text, entry, conversation) for text, entry in zip(texts, entries, strict=True)
        ]

    async def _wanted(self, tenant: str, sanitizer: Sanitizer, text: str, known: Known) -> Wanted:
        identity = sanitizer.identity()
        link = self._memo.link(tenant, identity)
        here = await asyncio.to_thread(sanitizer.known_in, text, known) if known else EMPTY
        if here:
            # What the text marks by itself changes nothing, wherever else it stands.
            own = await _findings(sanitizer, text)
            others = {part: type_ for part, type_ in here.items() if part not in own}
            identity = {**identity, "known": others} if others else identity

        async def create() -> Perturbation:
            return await sanitizer.release(text, link, here)

        return Wanted(identity, text, create)

    async def preview(self, text: str, sanitizer: Sanitizer, tenant: str) -> Perturbation:
        """What would leave for a text. The draw is remembered in memory: sending the text as a
        conversation's first turn sends this, so previewing does not average either."""
        turn = Turn("user", (Part(text),))
        prompt = Prompt("chat", (turn,), ({"role": "user", "content": text},), (text,))
        draft = await self.draft(tenant, sanitizer, prompt, {}, {})
        ((_, pieces),) = draft.turns
        if not draft.private:
            return await sanitizer.release(text)
        return _as_one([p.released if isinstance(p, Private) else str(p) for p in pieces])

    def composed(
        self, draft: Draft, sanitizer: Sanitizer, instruction: str | None, model: str
    ) -> tuple[list[dict[str, Any]], Clearance]:
        """The remote's messages, and the clearance to send them, from settled texts."""
        prompt = draft.prompt
        messages: list[dict[str, Any]] = []
        cleared: list[Segment | str] = []
        for role, pieces in draft.turns:
            content: list[str] = []
            for piece in pieces:
                if isinstance(piece, Private):
                    cleared.append(Segment(piece.raw, piece.released, sanitizer))
                    content.append(piece.released.text)
                elif isinstance(piece, _Own):
                    cleared.append(piece.text)
                    content.append(piece.text)
                else:
                    content.append(piece)
            messages.append({"role": role, "content": _joined(content)})
        document = messages[-1]["content"]
        if prompt.task == "continuation":
            document = fill(self._prompts.remote_continuation, document=document)
        if instruction:
            document = fill(
                self._prompts.remote_instruct, instruction=instruction, document=document
            )
        messages[-1]["content"] = document
        return [m for m in messages if m["content"]], Clearance(
            pieces=tuple(cleared),
            private=(*prompt.private, *(p.raw for p in draft.private)),
            constants=(self._prompts.remote_continuation, self._prompts.remote_instruct, model),
            public=tuple(part.text for turn in prompt.turns for part in turn.parts if part.public),
        )

    def _blank(self, text: str) -> str:
        """What leaves for white space: it is layout, and nothing to paraphrase."""
        keeps = self._config.privacy.document_options.layout == "keep"
        return text if keeps and text.isascii() else text and " "


def _is_private(part: Part) -> bool:
    return not part.public and bool(part.text.strip())


async def _findings(sanitizer: Sanitizer, text: str) -> Known:
    return await asyncio.to_thread(sanitizer.findings, text)


def _opening(raw: Sequence[dict[str, Any]]) -> list[str]:
    """What a conversation is known by: its system turns and its first user turn, raw."""
    first = next((i for i, turn in enumerate(raw) if turn["role"] == "user"), len(raw))
    return [
        part
        for i, turn in enumerate(raw)
        if turn["role"] == "system" or i == first
        for part in (turn["role"], turn["content"])
    ]


def _joined(pieces: Sequence[str]) -> str:
    """Public and perturbed pieces side by side, never glued into one word."""
    out: list[str] = []
    for piece in filter(None, pieces):
        apart = out and not out[-1][-1].isspace() and not piece[0].isspace()
        out += [" ", piece] if apart else [piece]
    return "".join(out)


def _as_one(pieces: Sequence[Perturbation | str]) -> Perturbation:
    """A text's paragraphs as one perturbation: texts joined, counts and bounds added up."""
    made = [piece for piece in pieces if isinstance(piece, Perturbation)]
    if len(pieces) == 1 == len(made):
        return made[0]
    tokens: Counter[str] = Counter()
    entities: Counter[str] = Counter()
    for piece in made:
        tokens.update(piece.receipt.tokens)
        entities.update(piece.receipt.entities)
    return Perturbation(
        text=_joined([p.text if isinstance(p, Perturbation) else p for p in pieces]),
        words=tuple(word for piece in made for word in piece.words),
        receipt=replace(
            made[0].receipt,
            tokens={kind: tokens[kind] for kind in made[0].receipt.tokens},
            released=sum(piece.receipt.released for piece in made),
            statistics=made[0].receipt.statistics if len(made) == 1 else {},
            epsilon_per_document=sum(piece.receipt.epsilon_per_document for piece in made),
            reveals=tuple(dict.fromkeys(r for piece in made for r in piece.receipt.reveals)),
            entities=dict(sorted(entities.items())),
        ),
    )
