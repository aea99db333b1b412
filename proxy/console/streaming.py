"""Render an answer as a page that grows while it is written. A browser needs no script for it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web
from markupsafe import escape

from extraction.backends.base import Delta
from proxy.api.render import Receipt, Renderer
from proxy.console.pages import render
from proxy.errors import ApiError
from proxy.pipeline.plan import Answer, Plan

__all__ = ["PageRenderer"]


class PageRenderer(Renderer):
    """Render one answer between the beginning and the end of its page."""

    ping = b"<!-- -->"

    def __init__(
        self, request: web.Request, token: str, form: Mapping[str, str], plan: Plan
    ) -> None:
        self._request = request
        self._token = token
        self._form = form
        self._plan = plan
        self._begun = False

    def body(self, answers: Sequence[Answer], receipt: Receipt) -> dict[str, Any]:
        raise NotImplementedError("a page is always streamed")

    def start(self, receipt: Receipt) -> bytes:
        self._begun = True
        return self._page(receipt)[0]

    def step(self, index: int, step: Delta, receipt: Receipt = None) -> bytes:
        return str(escape(step.message.get("content") or "")).encode("utf-8", "replace")

    def end(self, receipt: Receipt) -> bytes:
        return b"" if not self._begun else self._page(receipt)[1]

    def fail(self, error: ApiError) -> bytes:
        top, bottom = self._page(None, error)
        return bottom if self._begun else top + bottom

    def _page(self, receipt: Receipt, error: ApiError | None = None) -> tuple[bytes, bytes]:
        """Return what stands before the answer, and what stands after it."""
        here = secrets.token_hex(32)  # drawn after every text of the page, so that none holds it
        text = render(
            self._request,
            "sent.html",
            token=self._token,
            form=self._form,
            answer=here,
            receipt=receipt,
            error=error,
            sent_to=self._plan.sent_to,
        )
        top, _, bottom = text.partition(here)
        return top.encode("utf-8", "replace"), bottom.encode("utf-8", "replace")
