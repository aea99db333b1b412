"""The remote proposes candidates. It sees public words and what was picked, no private text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from extraction.prompts import fill
from proxy.remote.guard import Clearance
from proxy.remote.remotes import Route

__all__ = ["RemoteWriter"]

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
