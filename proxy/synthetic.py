"""The files of a synthesis, and the remote that proposes candidates for it.

The remote sees public words and what was picked, no private text.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from extraction.prompts import fill
from perturb.files import write_atomically
from perturb.synthetic.synthesis import Example
from proxy.errors import ConfigError
from proxy.remote.guard import Clearance
from proxy.remote.remotes import Route

__all__ = ["RemoteWriter", "check_output", "find_report", "read_private", "write_examples"]


def read_private(
    path: Path, text: str, label: str | None, labels: Sequence[str]
) -> dict[str | None, list[str]]:
    """Return the texts of each label, in the order of `labels`; under None where there are none.

    Args:
        path: JSONL in UTF-8, an object in each line that is not blank.
        text: the key of the text.
        label: the key of the label; None is no labels.
        labels: every label that there may be. They are public; labels found in the texts are not.

    Raises:
        ConfigError: a line breaks a rule. It is named by its number, and its text is not shown.
        OSError: the file cannot be read.
    """
    found: dict[str | None, list[str]] = {name: [] for name in labels} if label else {None: []}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise ConfigError(f"{path}, line {number}: must be an object of JSON") from None
            value = row.get(text) if isinstance(row, dict) else None
            if not isinstance(value, str):
                raise ConfigError(f"{path}, line {number}: must be an object with a string {text}")
            name = row.get(label) if label else None
            if not isinstance(name, str | None) or name not in found:
                raise ConfigError(f"{path}, line {number}: {label} must be one of the labels")
            found[name].append(value)
    if not any(found.values()):
        raise ConfigError(f"{path}: must hold at least one text")
    return found


def find_report(out: Path) -> Path:
    """Return the path of the report of an output."""
    return out.with_name(out.name + ".report.json")


def check_output(out: Path) -> None:
    """Check that an output can be written, before any ε is spent on it.

    Raises:
        ConfigError: it exists: another run is another release, and its ε adds up.
        OSError: its folder does not exist.
    """
    for path in (out, find_report(out)):
        if path.exists():
            raise ConfigError(
                f"{path} exists; another run is another release, so move it away first"
            )
    out.parent.resolve(strict=True)


def write_examples(
    out: Path, examples: Sequence[Example], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the examples and their report; return the report.

    Args:
        out: JSONL with `text`, and `label` where there are labels.
        examples: in the order of the output.
        facts: the guarantee and the public parameters.
    """
    lines = [
        json.dumps(
            {"text": each.text} | ({} if each.label is None else {"label": each.label}),
            ensure_ascii=False,
        )
        for each in examples
    ]
    data = "".join(line + "\n" for line in lines).encode("utf-8", "replace")
    report = {**facts, "examples": len(examples), "sha256": hashlib.sha256(data).hexdigest()}
    write_atomically(out, data)
    write_atomically(
        find_report(out), (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()
    )
    return report


TOKENS = 400  # the most of a candidate
BEGIN = (
    "Write a short text of this kind: {about}.{label} Choose its subject and its details freely: "
    "it is number {number} of {count}, and no two may be alike. Answer with the text alone."
)
VARY = (
    "This is a text of this kind: {about}.{label}\n\n{text}\n\nWrite another one that is like it "
    "in subject, length and tone, with other details. Answer with the text alone."
)
LABEL = " Its label is: {label}."


class RemoteWriter:
    """Ask a remote for candidates of one label, one request each.

    Args:
        route: the remote and its model.
        about: the kind of text, in a few public words.
        label: the label; None is none.
        runner: runs the requests.
        count: is called after each request.

    Every method raises `ApiError` if the remote fails after its retries.
    """

    def __init__(
        self,
        route: Route,
        about: str,
        label: str | None,
        runner: asyncio.Runner,
        count: Callable[[], None] = lambda: None,
    ) -> None:
        self._route = route
        self._about = about
        self._label = "" if label is None else fill(LABEL, label=label)
        self._runner = runner
        self._count = count

    def begin(self, count: int) -> list[str]:
        return self._ask(
            [self._spell(BEGIN, number=str(i + 1), count=str(count)) for i in range(count)], ()
        )

    def vary(self, parents: Sequence[str], count: int) -> list[str]:
        return self._ask(
            [self._spell(VARY, text=parents[i % len(parents)]) for i in range(count)], parents
        )

    def _spell(self, template: str, **values: str) -> str:
        return fill(template, about=self._about, label=self._label, **values)

    def _ask(self, prompts: Sequence[str], parents: Sequence[str]) -> list[str]:
        """Return the different answers that are neither empty nor a parent."""
        made = self._runner.run(self._gather(prompts))
        return [text for text in dict.fromkeys(made) if text and text not in parents]

    async def _gather(self, prompts: Sequence[str]) -> list[str]:
        # the first failure is raised; the runner cancels the others when it closes
        return await asyncio.gather(*map(self._ask_one, prompts))

    async def _ask_one(self, prompt: str) -> str:
        body = {
            "model": self._route.model,
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": TOKENS,
            "store": False,
        }
        # No private text is compared with what leaves: a refusal would depend on it.
        clearance = Clearance(pieces=(), private=(), constants=(prompt,))
        made = await self._route.remote.generate(body, clearance)
        self._count()
        return made.text.strip()
