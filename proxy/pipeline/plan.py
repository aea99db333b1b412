"""Define plans, which hold everything that is decided about a request before anything is sent,
previews, which cannot be sent, and consultations, which add the replies of the remote. A
trace takes notes for the line in the log, so that a failed request is logged up to its failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from extraction.extractor import Job
from perturb import Sanitizer
from proxy.access.grants import Client
from proxy.pipeline.composing import Outgoing
from proxy.pipeline.receipt import RemoteOutcome, make_receipt
from proxy.pipeline.settling import Settlement
from proxy.release import Release
from proxy.remote.generation import Ending, Generation
from proxy.remote.remotes import Route
from proxy.requests.messages import Prompt
from proxy.requests.protocol import SamplingRequest
from proxy.restoring.way_back import WayBack
from proxy.storage.prices import Charge, Price, price, total

__all__ = ["Consultation", "Exchange", "Plan", "Preview", "Reply", "Trace", "Unsent"]


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
    """Hold a decided request of which nothing has been sent yet.

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
class Reply:
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
    replies: tuple[Reply, ...]

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
