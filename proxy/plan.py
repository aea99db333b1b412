"""A request, decided: what it is made of on its way through the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from extraction.backend import Delta, Usage
from extraction.extractor import Job, Task
from perturb import Perturbation, Sanitizer
from proxy.guard import Clearance
from proxy.messages import Turn, turn_key
from proxy.protocol import SamplingRequest
from proxy.receipt import RemoteOutcome, receipt
from proxy.upstream import Generation

__all__ = ["Answer", "Exchange", "Plan", "Prompt"]


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
    `question` is the raw turn that is answered."""

    job: Job
    question: str
    body: dict[str, Any] = field(default_factory=dict)
    clearance: Clearance | None = None
    outcome: RemoteOutcome = "skipped"
    generation: Generation | None = None


@dataclass
class Plan:
    """A request, decided: nothing has left yet."""

    tenant: str
    request: SamplingRequest
    sanitizer: Sanitizer
    exchanges: list[Exchange]
    texts: list[tuple[Perturbation, bool]]
    options: dict[str, Any]
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def released(self) -> int:
        """How many perturbed words stand in the request."""
        return sum(p.receipt.released for p, _ in self.texts)

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
        return receipt(level, self.sanitizer, self.texts, outcomes, sent)


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
