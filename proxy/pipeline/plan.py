"""Plan a request: what is sent for a settled draft, its clearance and its privacy receipt.

A plan holds everything that is decided before anything is sent. A preview cannot be sent, and a
consultation adds the replies of the remote. A receipt says in counts and words how private texts
were treated. A trace takes notes for the line in the log, so that a failed request is logged up to
its failure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, Protocol

from extraction.backends.base import Delta, Usage
from extraction.extractor import Extraction, Job
from extraction.prompts import fill
from perturb import Perturbation, Sanitizer
from perturb.release import format_upper
from perturb.vocabulary.vocabulary import CLASS_NAMES
from proxy.access.auth import Client
from proxy.config.settings import Config
from proxy.demonstrations import Demonstrations
from proxy.pipeline.drafting import Draft, Quote, Settlement, TurnSpan
from proxy.release import Release
from proxy.remote.guard import Clearance, Cleared
from proxy.remote.messages import spell_messages
from proxy.remote.remotes import Route
from proxy.remote.upstream import Ending, Generation
from proxy.requests.messages import Prompt, spell_turn
from proxy.requests.protocol import SamplingRequest
from proxy.restoring.way_back import WayBack
from proxy.storage.ledger import Charge, Price, price, total

__all__ = [
    "Announce",
    "Answer",
    "Composer",
    "Consultation",
    "Emit",
    "Exchange",
    "Outgoing",
    "Plan",
    "Preview",
    "RemoteOutcome",
    "RemoteReply",
    "Trace",
    "Unsent",
    "add_actions",
    "format_epsilon",
    "join",
    "join_apart",
    "make_receipt",
    "merge",
]


RemoteOutcome = Literal[
    "answered",
    "dropped",
    "empty",
    "failed",
    "housekeeping",
    "irrelevant",
    "relayed",
    "scored",
    "skipped",
]
NOTHING_LEFT = "nothing left this machine: the local model answered alone"
EQUALITY = (
    "which texts and paragraphs are equal, here and in what the client sent before, and which of "
    "them hold another that left before",
    "which paragraphs were edited, where a text is sent again",
)
_REMOTE = {
    "answered": "the remote answered the perturbed text",
    "dropped": "the remote's answer was not whole, or too long for a demonstration; the local "
    "model worked alone",
    "empty": "the remote answered with nothing; the local model worked alone",
    "failed": "the remote failed; the local model worked alone",
    "irrelevant": "nothing in the remote's answer was about the document; the local model worked "
    "alone",
    "housekeeping": "client housekeeping: the local model answered, the remote was not called",
    "relayed": "the remote answers the sanitized request; its answer is restored here",
    "scored": "the local model told the prompt's log probabilities, the remote was not called",
    "skipped": "the remote was not called",
}
_ENDINGS = {
    "whole": "",
    "cut": "; the connection was closed where the local model would have seen no more of it",
    "abandoned": "; it was not waited for any longer (remote.patience_seconds)",
}


def make_receipt(
    level: Literal["summary", "full"],
    sanitizer: Sanitizer,
    texts: Sequence[tuple[Perturbation, bool]],
    outcomes: Sequence[tuple[RemoteOutcome, Ending]],
    exchanges: Sequence[dict[str, Any]] = (),
    budget: dict[str, Any] | None = None,
    *,
    public: Mapping[str, int] = MappingProxyType({}),
    demonstrations: int = 0,
    sent_to: str | None,
) -> dict[str, Any]:
    """Make the receipt of a request.

    `tokens` and `entities` count the perturbed parts: where a text is sent unchanged but for its
    sensitive parts, only those. `actions` counts parts by action, if it is not `replace`. The ε
    of the request counts every text once, drawn now or earlier; a text that was released before
    costs nothing new. `unbounded` counts the tokens without a proved bound, whatever the ε of the
    others.

    Args:
        level: `full` adds each text's own receipt and the exchanges with the remote.
        sanitizer: the sanitizer in force.
        texts: each private text's perturbation, and whether it was drawn for this request.
        outcomes: the outcome of each remote call, and how its answer ended.
        exchanges: for `full`: `{"sent": messages, "generation": text}` for each remote call.
        budget: the charge of the request and the remaining budget, see
            `proxy.storage.ledger.Charge`.
        public: the number of sensitive parts of each type in public text, which is sent as it is.
        demonstrations: the number of public examples in front of each body.
        sent_to: the alias of the remote; None if nothing was sent. The receipt then states no ε.
    """
    guarantee, sent = sanitizer.guarantee, sent_to is not None
    released = sum(p.receipt.released for p, _ in texts)
    new = sum(p.receipt.released for p, fresh in texts if fresh)
    entities: Counter[str] = Counter()
    for p, _ in texts:
        entities.update(p.receipt.entities)
    epsilon = {
        "nominal": guarantee.nominal,
        "per_token": _spell_number(guarantee.epsilon),
        "all_tokens": _spell_number(sum(p.receipt.epsilon_per_document for p, _ in texts)),
    }
    if guarantee.kind != "none":
        epsilon["delta"] = sanitizer.false_alarm * len(texts)
    reveals = [r for p, _ in texts for r in p.receipt.reveals]
    out: dict[str, Any] = {
        "mechanism": sanitizer.name if sent else "none",
        "sent_to": sent_to,
        "guarantee": guarantee.kind if sent else "nothing_left",
        "unit": guarantee.unit if sent else None,
        "statement": _state_guarantee(sanitizer, texts) if sent else NOTHING_LEFT,
        "epsilon": epsilon if sent else None,
        "tokens": {kind: sum(p.receipt.tokens[kind] for p, _ in texts) for kind in CLASS_NAMES},
        "entities": dict(sorted(entities.items())),
        "actions": add_actions(p for p, _ in texts),
        "public_findings": dict(public),
        "demonstrations": demonstrations,
        "released": released,
        "released_before": released - new,
        "unbounded": sum(p.receipt.unbounded for p, _ in texts),
        "budget": budget or {},
        "remote": [_REMOTE[outcome] + _ENDINGS[ending] for outcome, ending in outcomes],
        "reveals": list(dict.fromkeys((*reveals, *EQUALITY))) if sent and texts else [],
    }
    if level == "full":
        out["texts"] = [p.receipt.to_dict() for p, _ in texts]
        out["exchanges"] = list(exchanges)
    return out


def add_actions(made: Iterable[Perturbation]) -> dict[str, dict[str, int]]:
    """Add up the parts of perturbations by action and type, see `perturb.Receipt`."""
    counts: dict[str, Counter[str]] = {}
    for each in made:
        for action, types in each.receipt.actions.items():
            counts.setdefault(action, Counter()).update(types)
    return {action: dict(sorted(counts[action].items())) for action in sorted(counts)}


def _state_guarantee(sanitizer: Sanitizer, texts: Sequence[tuple[Perturbation, bool]]) -> str:
    """State the guarantee of a request.

    The mechanism's own guarantee covers neither the memo, which releases equal texts as equal
    texts, nor the guard, which conditions on the draw.
    """
    guarantee, delta = sanitizer.guarantee, sanitizer.false_alarm
    parts = [guarantee.statement, "equal texts and paragraphs leave as equal text, which shows"]
    epsilon = math.fsum(p.receipt.epsilon_per_document for p, _ in texts)
    if guarantee.kind != "none" and texts:
        count = "its text" if len(texts) == 1 else f"its {len(texts)} texts together"
        parts.append(f"this request as a whole, {count}: ε = {format_upper(epsilon)}")
    if guarantee.kind != "none" and delta:
        parts.append(
            f"the guard refuses an honest draw with probability at most "
            f"{format_upper(delta)}, so that each text's ε comes with δ = {format_upper(delta)}"
        )
    elif guarantee.kind != "none":
        parts.append("the guard refuses no honest draw, so that δ = 0")
    return "; ".join(parts)


def format_epsilon(sanitizer: Sanitizer) -> str:
    """Format ε per token, its kind of guarantee and, if there is one, the δ of a text:
    `6; guarantee=none`, `6; guarantee=ldp; delta=1e-09`."""
    guarantee = sanitizer.guarantee
    delta = "" if guarantee.kind == "none" else f"; delta={format_upper(sanitizer.false_alarm)}"
    return f"{format_upper(guarantee.nominal)}; guarantee={guarantee.kind}{delta}"


def _spell_number(value: float) -> float | str:
    return "infinity" if math.isinf(value) else value


@dataclass(frozen=True)
class Outgoing:
    """Hold a body for the remote, and the clearance to send it.

    Attributes:
        demonstrations: the number of public examples in the body.
        turns: the turns of the conversation in the body, without system turns.
    """

    body: dict[str, Any]
    clearance: Cleared
    demonstrations: int = 0
    turns: tuple[dict[str, str], ...] = ()


class Composer:
    """Compose bodies for the remote in the operator's templates.

    Args:
        demonstrations: public examples, which stand in front of every body.
    """

    def __init__(self, config: Config, demonstrations: Demonstrations) -> None:
        self._prompts = config.templates
        self._extraction = config.local.extraction
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
        turns = tuple(message for message in sent if message["role"] != "system")
        note = self._choose_note(draft, request.inferdpt.extraction or self._extraction)
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
        return Outgoing(body, clearance, self._demonstrations, turns)

    def _choose_note(self, draft: Draft, extraction: Extraction) -> str:
        """Return what the remote of a chat is told about the texts. A prefix explains itself, and
        to demonstrate a task the remote does with a passage what is asked of any text."""
        if draft.prompt.task == "continuation" or not draft.releases:
            return ""
        shown = {release.sanitizer.shows for release in draft.releases}
        if "passages" in shown:
            return "" if extraction == "demonstrate" else self._prompts.remote_passages
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


def merge(spans: Sequence[TurnSpan]) -> Perturbation:
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


def join(spans: Iterable[TurnSpan]) -> str:
    """Join the outgoing text of spans, never two of them into one word."""
    return join_apart([span.outgoing for span in spans])


def join_apart(pieces: Sequence[str]) -> str:
    """Join public and perturbed pieces, never two of them into one word."""
    out: list[str] = []
    for piece in filter(None, pieces):
        apart = out and not out[-1][-1].isspace() and not piece[0].isspace()
        out += [" ", piece] if apart else [piece]
    return "".join(out)


class Trace:
    """Take notes for the log alone. They hold no text.

    Args:
        outcomes: for each prompt, its outcome if nothing is sent for it.
    """

    def __init__(self, outcomes: Sequence[RemoteOutcome]) -> None:
        self._seconds: dict[str, float] = {}
        self._outcomes = list(outcomes)
        self._endings: dict[int, Ending] = {}
        self._failures: dict[int, dict[str, Any]] = {}

    def note_stage(self, name: str, seconds: float) -> None:
        """Note the duration of a stage."""
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def note_outcome(self, prompt: int, outcome: RemoteOutcome) -> None:
        """Note the outcome of the remote call for a prompt, by its number."""
        self._outcomes[prompt] = outcome

    def note_ending(self, prompt: int, ending: Ending) -> None:
        """Note that the remote's answer was not read to its end."""
        if ending != "whole":
            self._endings[prompt] = ending

    def note_failure(self, prompt: int, names: dict[str, Any] | None) -> None:
        """Note the known names in the remote's error."""
        if names:
            self._failures[prompt] = names

    @property
    def seconds(self) -> Mapping[str, float]:
        """Return the seconds of each stage."""
        return self._seconds

    @property
    def outcomes(self) -> list[RemoteOutcome]:
        """Return the outcome for each prompt, in order."""
        return list(self._outcomes)

    @property
    def endings(self) -> list[Ending]:
        """Return how the answers ended that were not read to their end, in the order of the
        prompts."""
        return [ending for _, ending in sorted(self._endings.items())]

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Return the known names in the remote's errors, in the order of the prompts."""
        return [names for _, names in sorted(self._failures.items())]


Unsent = Literal["housekeeping", "skipped"]


@dataclass(frozen=True)
class Exchange:
    """Hold a prompt and the body that is sent for it.

    Attributes:
        outgoing: None if nothing is sent; `unsent` then gives the reason.
        scope: the scope of equal answers.
        way_back: restores the remote's answer, where that is the answer.
    """

    prompt: Prompt
    outgoing: Outgoing | None
    scope: str
    unsent: Unsent
    way_back: WayBack | None = None


@dataclass(frozen=True)
class Plan:
    """Hold a fully decided request, not yet sent.

    Attributes:
        route: where it goes, if anything is sent.
        options: the options of the local model.
        candidates: how many answers it writes for each choice; the best is returned.
        settlement: the releases in it, and their charge.
        exceeded: the limit at which the local model answers alone.
        public_findings: sensitive parts in public text, by type.
        trace: the notes for the log.
    """

    client: Client
    request: SamplingRequest
    route: Route
    sanitizer: Sanitizer
    exchanges: tuple[Exchange, ...]
    options: dict[str, Any]
    candidates: int
    settlement: Settlement
    exceeded: str | None
    public_findings: Mapping[str, int]
    trace: Trace

    @property
    def tenant(self) -> str:
        """Return the owner of the request."""
        return self.client.tenant

    @property
    def sent_to(self) -> str | None:
        """Return the alias of the remote; None if nothing is sent."""
        return self.route.remote.alias if self.is_sent else None

    @property
    def is_sent(self) -> bool:
        """Tell if anything is sent to the remote."""
        return any(exchange.outgoing is not None for exchange in self.exchanges)

    @property
    def demonstrations(self) -> int:
        """Return the number of public examples in front of each body."""
        return max(
            (each.outgoing.demonstrations for each in self.exchanges if each.outgoing), default=0
        )

    @property
    def releases(self) -> tuple[Release, ...]:
        """Return the private texts that are released, each once."""
        return self.settlement.releases

    @property
    def released(self) -> int:
        """Return the number of perturbed tokens in the request."""
        return sum(release.sanitized.receipt.released for release in self.releases)

    @property
    def fresh(self) -> int:
        """Return the number of them that are released for the first time."""
        fresh = (release for release in self.releases if release.fresh)
        return sum(release.sanitized.receipt.released for release in fresh)


@dataclass(frozen=True)
class Preview:
    """Hold what a chat would send. It is not settled, so it cannot be sent.

    Attributes:
        text: the released text of its turns, joined.
        releases: the private texts that would be released, each once.
        body: the bytes for the remote; None if there is no text to send.
        demonstrations: the number of public examples in it.
    """

    sanitizer: Sanitizer
    sent_to: str
    text: str
    releases: tuple[Release, ...]
    body: bytes | None
    demonstrations: int = 0

    @property
    def price(self) -> Price:
        """Return the most that sending it charges; a text that was sent before is free."""
        return total(price(self.sanitizer, release.sanitized) for release in self.releases)

    def make_receipt(self) -> dict[str, Any]:
        """Return the receipt that sending it would have, without outcomes and charges."""
        texts = [(release.sanitized, release.fresh) for release in self.releases]
        return make_receipt(
            "summary",
            self.sanitizer,
            texts,
            [],
            demonstrations=self.demonstrations,
            sent_to=self.sent_to,
        )


@dataclass(frozen=True)
class RemoteReply:
    """Hold the outcome of an exchange: the remote's generation, if there is one, and the local
    model's job with it.

    Attributes:
        passage: what the remote was shown, if the generation is held against answers made
            without it.
    """

    outcome: RemoteOutcome
    job: Job
    generation: Generation | None = None
    passage: str | None = None

    @property
    def ending(self) -> Ending:
        """Return how the generation ended."""
        return "whole" if self.generation is None else self.generation.ended


@dataclass(frozen=True)
class Consultation:
    """Hold a plan whose remote calls are over, with a reply for each of its exchanges."""

    plan: Plan
    replies: tuple[RemoteReply, ...]

    def make_receipt(self) -> dict[str, Any] | None:
        """Return the receipt at the level that the client requested."""
        plan = self.plan
        level = plan.request.inferdpt.receipt
        if level == "none":
            return None
        budget = (plan.settlement.charge or Charge()).to_dict() | {"exceeded": plan.exceeded}
        exchanges = [
            {
                "sent": _list_messages(exchange.outgoing.body) if exchange.outgoing else [],
                "generation": reply.generation.text if reply.generation else None,
            }
            for exchange, reply in zip(plan.exchanges, self.replies, strict=True)
        ]
        return make_receipt(
            level,
            plan.sanitizer,
            [(release.sanitized, release.fresh) for release in plan.releases],
            [(reply.outcome, reply.ending) for reply in self.replies],
            exchanges,
            budget,
            public=plan.public_findings,
            demonstrations=plan.demonstrations,
            sent_to=plan.sent_to,
        )


def _list_messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a body; in the Messages API, the system's texts stand beside them."""
    system = [{"role": "system", "content": body["system"]}] if "system" in body else []
    return [*system, *body["messages"]]


@dataclass
class Answer:
    """Hold one choice, whole in `message` or assembled from its steps."""

    message: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    stop: str | None = None
    _texts: list[str] = field(default_factory=list)
    _calls: dict[int, dict[str, str]] = field(default_factory=dict)

    def add(self, step: Delta) -> None:
        """Add a streamed step: the text and tool calls that `key` needs."""
        self._texts.append(step.message.get("content") or "")
        for call in step.message.get("tool_calls", ()):
            function = self._calls.setdefault(call["index"], {"name": "", "arguments": ""})
            for part in function:
                function[part] += (call.get("function") or {}).get(part) or ""

    @property
    def text(self) -> str:
        """Return the answer's text, without surrounding blanks."""
        return (self.message.get("content") or "".join(self._texts)).strip()

    @property
    def key(self) -> str:
        """Return the answer as `messages.spell_assistant` spells the client's copy of it."""
        calls = [call["function"] for call in self.message.get("tool_calls") or ()]
        if self.message.get("function_call"):
            calls.append(self.message["function_call"])
        calls += [self._calls[index] for index in sorted(self._calls)]
        return spell_turn(self.text, ((c["name"], c["arguments"]) for c in calls))


Announce = Callable[[dict[str, Any] | None], Awaitable[None]]  # takes the receipt of a stream


class Emit(Protocol):
    """Pass on a step of the choice with this number. The last step of a stream may carry the
    receipt, where it is not known before."""

    async def __call__(
        self, index: int, step: Delta, receipt: dict[str, Any] | None = None
    ) -> None: ...
