"""A request, decided: what it is made of on its way through the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from extraction.backend import Delta, Usage
from extraction.extractor import Job, Task
from perturb import Perturbation, Sanitizer
from proxy.grants import Client
from proxy.guard import Clearance
from proxy.ledger import Charge
from proxy.memo import Entry
from proxy.messages import Turn, turn_key
from proxy.protocol import SamplingRequest
from proxy.receipt import RemoteOutcome, receipt
from proxy.upstream import Generation

__all__ = ["Answer", "Exchange", "Plan", "Private", "Prompt"]


@dataclass(frozen=True)
class Private:
    """A private text on its way, and the conversation it stands in (its HMAC)."""

    raw: str
    entry: Entry
    conversation: str

    @property
    def released(self) -> Perturbation:
        """What leaves for it; final once the entry is settled."""
        return self.entry.released


@dataclass(frozen=True)
class Prompt:
    """One prompt as it came: its task, the turns that concern the remote, the raw messages for
    the local model, and every text in them that is private."""

    task: Task
    turns: tuple[Turn, ...]
    raw: tuple[dict[str, Any], ...]
    private: tuple[str, ...]


@dataclass
class Exchange:
    """One prompt: what would leave for it, and what the local model is to do with the answer.
    `question` is the raw turn that is answered, `scope` that of the memo."""

    job: Job
    question: str
    scope: str = ""
    body: dict[str, Any] = field(default_factory=dict)
    clearance: Clearance | None = None
    outcome: RemoteOutcome = "skipped"
    generation: Generation | None = None


@dataclass
class Plan:
    """A request, decided: nothing has left yet. `texts` are the private texts in it, each once,
    by the memo's key."""

    client: Client
    request: SamplingRequest
    sanitizer: Sanitizer
    exchanges: list[Exchange]
    options: dict[str, Any]
    texts: dict[bytes, Private] = field(default_factory=dict)
    charge: Charge | None = None
    exceeded: str | None = None  # the limit at which the local model was left to work alone
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def tenant(self) -> str:
        """Whose request it is."""
        return self.client.tenant

    @property
    def released(self) -> int:
        """How many perturbed words stand in the request."""
        return sum(text.released.receipt.released for text in self.texts.values())

    @property
    def fresh(self) -> int:
        """How many of them leave for the first time."""
        texts = (text for text in self.texts.values() if text.entry.fresh)
        return sum(text.released.receipt.released for text in texts)

    def receipt(self) -> dict[str, Any] | None:
        """The receipt the client asked for; complete once the remote has been called."""
        level = self.request.inferdpt.receipt
        if level == "none":
            return None
        sent = [
            {
                "sent": e.body.get("messages", []),
                "generation": e.generation.text if e.generation else None,
            }
            for e in self.exchanges
        ]
        outcomes = [e.outcome for e in self.exchanges]
        texts = [(text.released, text.entry.fresh) for text in self.texts.values()]
        budget = (self.charge or Charge()).to_dict() | {"exceeded": self.exceeded}
        return receipt(level, self.sanitizer, texts, outcomes, sent, budget)


@dataclass
class Answer:
    """One choice, put together from its steps."""

    message: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None

    def add(self, step: Delta) -> None:
        """Take in a streamed step (text and tool calls: what `key` needs)."""
        if text := step.message.get("content"):
            self.message["content"] = self.message.get("content", "") + text
        calls = self.message.setdefault("tool_calls", []) if "tool_calls" in step.message else []
        for call in step.message.get("tool_calls", ()):
            while len(calls) <= call["index"]:
                calls.append({"function": {"name": "", "arguments": ""}})
            for part in ("name", "arguments"):
                said = (call.get("function") or {}).get(part) or ""
                calls[call["index"]]["function"][part] += said
        self.finish_reason = step.finish_reason or self.finish_reason
        self.usage = step.usage or self.usage

    @property
    def key(self) -> str:
        """The answer as `messages.assistant_key` will spell the client's copy of it."""
        calls = [call["function"] for call in self.message.get("tool_calls") or ()]
        if self.message.get("function_call"):
            calls.append(self.message["function_call"])
        return turn_key(
            self.message.get("content") or "", ((c["name"], c["arguments"]) for c in calls)
        )
