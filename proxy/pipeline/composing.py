"""Compose a settled draft into a body for the remote and its clearance, and a previewed draft into
a single perturbation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from extraction.prompts import fill
from perturb import Perturbation
from proxy.config.settings import Config
from proxy.demonstrations import Demonstrations
from proxy.pipeline.drafting import Draft, Quote, Span
from proxy.pipeline.receipt import add_actions
from proxy.release import Release
from proxy.remote.guard import Clearance, Cleared
from proxy.remote.messages.request import spell_messages
from proxy.remote.remotes import Route
from proxy.requests.protocol import SamplingRequest

__all__ = ["Composer", "Outgoing", "join", "join_apart", "merge"]


@dataclass(frozen=True)
class Outgoing:
    """Hold a body for the remote, and the clearance to send it.

    Attributes:
        demonstrations: the number of public examples in the body.
    """

    body: dict[str, Any]
    clearance: Cleared
    demonstrations: int = 0


class Composer:
    """Compose bodies for the remote in the operator's templates.

    Args:
        demonstrations: public examples, which stand in front of every body.
    """

    def __init__(self, config: Config, demonstrations: Demonstrations) -> None:
        self._prompts = config.templates
        self._demonstrations = len(demonstrations)
        self._examples = demonstrations.spell()

    def compose(self, draft: Draft, request: SamplingRequest, route: Route) -> Outgoing | None:
        """Compose the body for a settled draft, with its clearance; None if there is no text to
        send.

        Args:
            route: where it goes.
        """
        instruction = request.inferdpt.instruction
        messages = [{"role": turn.role, "content": join(turn.spans)} for turn in draft.turns]
        document = messages[-1]["content"]
        if draft.prompt.task == "continuation":
            document = fill(self._prompts.remote_continuation, document=document)
        if instruction:
            document = fill(
                self._prompts.remote_instruct, instruction=instruction, document=document
            )
        messages[-1]["content"] = document
        sent = [message for message in messages if message["content"]]
        if not sent:
            return None
        note = self._choose_note(draft)
        opening = [note] if note else []
        if self._examples:
            opening.append(
                fill(self._prompts.remote_demonstrations, demonstrations=self._examples)
            )
        if opening:
            sent.insert(0, {"role": "system", "content": "\n\n".join(opening)})
        clearance = Clearance(
            pieces=(
                *([self._examples] if self._examples else ()),
                *(
                    content.text if isinstance(content, Quote) else content
                    for content in (span.content for span in draft.spans)
                    if isinstance(content, Release | Quote)
                ),
            ),
            private=(*draft.prompt.private, *(release.raw for release in draft.releases)),
            constants=(
                self._prompts.remote_continuation,
                self._prompts.remote_instruct,
                self._prompts.remote_demonstrations,
                note,
                route.model,
            ),
            public=(
                *(p.text for turn in draft.prompt.turns for p in turn.parts if p.public),
                *filter(None, [instruction]),
            ),
        )
        numbers = _select_numbers(request, seeded=route.remote.config.send_seed)
        body = {"model": route.model, "messages": sent, **numbers}
        if route.remote.config.api == "messages":
            body = spell_messages(body)
        return Outgoing(body, clearance, self._demonstrations)

    def _choose_note(self, draft: Draft) -> str:
        """Return what the remote of a chat is told about the texts; a prefix explains itself."""
        if draft.prompt.task == "continuation" or not draft.releases:
            return ""
        shown = {release.sanitizer.shows for release in draft.releases}
        if "passages" in shown:
            return self._prompts.remote_passages
        return self._prompts.remote_words if "words" in shown else ""


def _select_numbers(request: SamplingRequest, *, seeded: bool) -> dict[str, Any]:
    """Return the sampling numbers that may influence the remote."""
    names = ["temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort"]
    if seeded:
        names.append("seed")
    found = {name: getattr(request, name, None) for name in names}
    # Rounded: seventeen digits of a temperature could carry a message, two cannot.
    numbers = {k: round(v, 2) if isinstance(v, float) else v for k, v in found.items()}
    return {**{k: v for k, v in numbers.items() if v is not None}, "store": False}


def merge(spans: Sequence[Span]) -> Perturbation:
    """Merge spans, at least one of them a release, into one perturbation: texts joined, counts and
    bounds added up."""
    made = [span.content.sanitized for span in spans if isinstance(span.content, Release)]
    if len(spans) == 1:
        return made[0]
    tokens: Counter[str] = Counter()
    entities: Counter[str] = Counter()
    for one in made:
        tokens.update(one.receipt.tokens)
        entities.update(one.receipt.entities)
    return Perturbation(
        text=join(spans),
        words=tuple(word for one in made for word in one.words),
        receipt=replace(
            made[0].receipt,
            tokens={kind: tokens[kind] for kind in made[0].receipt.tokens},
            released=sum(one.receipt.released for one in made),
            statistics=made[0].receipt.statistics if len(made) == 1 else {},
            epsilon_per_document=sum(one.receipt.epsilon_per_document for one in made),
            unbounded=sum(one.receipt.unbounded for one in made),
            reveals=tuple(dict.fromkeys(r for one in made for r in one.receipt.reveals)),
            entities=dict(sorted(entities.items())),
            actions=add_actions(made),
        ),
    )


def join(spans: Iterable[Span]) -> str:
    """Join the outgoing text of spans, never two of them into one word."""
    return join_apart([span.outgoing for span in spans])


def join_apart(pieces: Sequence[str]) -> str:
    """Join public and perturbed pieces, never two of them into one word."""
    out: list[str] = []
    for piece in filter(None, pieces):
        apart = out and not out[-1][-1].isspace() and not piece[0].isspace()
        out += [" ", piece] if apart else [piece]
    return "".join(out)
