"""Say of each replaced part of a preview what it is, who found it and what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perturb.release import Span
from perturb.selective.parts import CUSTOM
from perturb.selective.policies import PatternPolicy
from perturb.selective.profiles import Actions
from proxy.pipeline.plan import Preview

__all__ = ["ReplacedPart", "describe_parts", "list_parts"]

_PATTERNS = "regex"
_TREATMENTS = {
    "replace": "each word drawn anew",
    "surrogate": "another one of its kind",
    "tag": "its type and a number",
    "value": "a value near it",
}


@dataclass(frozen=True)
class ReplacedPart:
    """Hold a replaced part for the page.

    Attributes:
        evidence: who found it.
        treatment: what became of it.
    """

    raw: str
    released: str
    type: str
    evidence: str
    treatment: str

    @property
    def about(self) -> str:
        """Return all of it in a line."""
        return f"{self.type}, {self.evidence}: {self.treatment}"

    def write_setting(self, name: str) -> str:
        """Return the line of a configuration that lists the part, under `allow` or `deny`."""
        term = json.dumps(self.raw, ensure_ascii=False)  # JSON is YAML
        return f"privacy: {{parameters: {{{name}: [{term}]}}}}"


def list_parts(preview: Preview) -> tuple[ReplacedPart, ...]:
    """List the replaced parts of a preview, each once, in order; none where all is perturbed."""
    shipped = PatternPolicy.shipped()
    found: dict[tuple[str, str], ReplacedPart] = {}
    for release in preview.releases:
        replaced = release.sanitized.replaced
        if not replaced:
            continue
        parameters = release.sanitized.receipt.parameters
        actions = Actions(tuple((key, value) for key, value in parameters.get("actions", ())))
        finders, spans = _list_finders(parameters), list(shipped.find(release.raw))
        for part in replaced:
            raw = release.raw[part.start : part.end]
            if part.type == CUSTOM:
                evidence = "on a list"
            elif part.type in parameters.get("patterns", ()):
                evidence = "by your pattern"
            elif _PATTERNS in finders and _meets(spans, part.start, part.end):
                evidence = "by a pattern"
            else:
                others = [name for name in finders if name != _PATTERNS]
                evidence = f"by {' or '.join(others or finders)}"
            action = "tag" if part.text.startswith(f"{part.type}_") else actions.of(part.type)
            treatment = _TREATMENTS.get(action, action)
            new = ReplacedPart(raw, part.text, part.type, evidence, treatment)
            found.setdefault((raw, part.type), new)
    return tuple(found.values())


def _list_finders(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    policy = parameters.get("policy", ())
    return (policy,) if isinstance(policy, str) else tuple(policy)


def describe_parts(parts: Sequence[ReplacedPart], text: str) -> str:
    """Describe the parts that stand in a stretch of the raw or of the released text; "" if none
    does."""
    held = (part.about for part in parts if part.raw in text or part.released in text)
    return "; ".join(dict.fromkeys(held))


def _meets(spans: Sequence[Span], start: int, end: int) -> bool:
    return any(span.start < end and start < span.end for span in spans)
