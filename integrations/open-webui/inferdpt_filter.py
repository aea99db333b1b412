"""
title: InferDPT
description: Replaces names, numbers and addresses before a chat leaves, and puts them back.
author: InferDPT Proxy
version: 0.2.0
license: MIT
requirements: aiohttp
required_open_webui_version: 0.12.0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from pydantic import BaseModel, Field

from integrations.answer_restorer import AnswerRestorer

SECONDS = 60.0
OLDEST = (0, 12)  # of Open WebUI: older ones do not call `request`, or name settings otherwise
# A shield, shown beside the message box.
ICON = (
    "data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' "
    "fill='none' stroke='currentColor' stroke-width='2'>"
    "<path d='M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z'/></svg>"
)
# Settings of Open WebUI that make it send a chat by itself, where no filter sees it.
UNSEEN = {
    "task.title.enable": "titles",
    "task.tags.enable": "tags",
    "task.follow_up.enable": "follow-up questions",
    "task.autocomplete.enable": "autocompletion",
    "task.query.search.enable": "queries for web search",
    "task.query.retrieval.enable": "queries for retrieval",
    "chat.context_compaction.enable": "context compaction",
    "memories.background_review.enable": "review of memories",
}
USER_HEADER = "X-OpenWebUI-User-Id"  # which counts where the key is one of a front end
KEPT = ("metadata", "model")  # Open WebUI reads the first and does not send it
Emit = Callable[[dict[str, Any]], Awaitable[None]]


class Filter:
    """Sanitize chats with an InferDPT Proxy in gateway mode while the switch is on."""

    class Valves(BaseModel):
        """Hold the settings that an administrator makes."""

        priority: int = Field(1_000_000, description="Run after filters with a lower number.")
        base_url: str = Field("http://127.0.0.1:8100/v1", description="Address of the proxy.")
        api_key: str = Field("none", description="Key that the proxy issued.")
        model: str = Field("gpt-4o", description="A model that the proxy serves.")
        show: bool = Field(True, description="Show the text that left, below the answer.")
        allow_unseen: bool = Field(
            False,
            description="Serve although Open WebUI sends texts that no filter sees, such as "
            "requests for titles: only if they go to a model of your own.",
        )

    def __init__(self) -> None:
        self.valves = self.Valves()
        self.toggle = True  # Open WebUI shows a switch, and runs the filter while it is on
        self.icon = ICON

    async def inlet(self, body: dict[str, Any]) -> dict[str, Any]:
        """Refuse a chat of which Open WebUI would send something past its filters.

        Raises:
            RuntimeError: Open WebUI shows the reason, and does not send the chat.
        """
        if not self.valves.allow_unseen and (unseen := await _list_unseen(body.get("model"))):
            raise RuntimeError(
                f"InferDPT: Open WebUI sends {', '.join(unseen)} past its filters. An "
                "administrator can turn them off, or set the valve allow_unseen."
            )
        return body

    async def request(
        self,
        body: dict[str, Any],
        __metadata__: dict[str, Any],
        __request__: Any,
        __event_emitter__: Emit | None = None,
        __user__: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the whole request sanitized, directly before it is sent. After a tool has
        answered, Open WebUI calls this again.

        Raises:
            RuntimeError: the proxy refused or failed. Open WebUI shows the reason, and sends
                nothing.
        """
        restorers = _get_restorers(__request__)
        chat = {key: value for key, value in body.items() if key not in KEPT}
        if (former := restorers.get(_name(__metadata__))) is not None:
            # The turns so far have been sanitized already; replacements are not replaced again.
            chat["messages"] = former.restore(chat["messages"])
        done = await self._sanitize(chat, (__user__ or {}).get("id"))
        restorers[_name(__metadata__)] = AnswerRestorer(done)
        if __event_emitter__ is not None:
            for event in _describe(done, show=self.valves.show):
                await __event_emitter__(event)
        done["body"].pop("store", None)
        return {**done["body"], **{key: body[key] for key in KEPT if key in body}}

    def stream(
        self, event: dict[str, Any], __metadata__: dict[str, Any], __request__: Any
    ) -> dict[str, Any]:
        """Restore one event of a streamed answer."""
        restorer = _get_restorers(__request__).get(_name(__metadata__))
        if restorer:
            for choice in event.get("choices") or ():
                restorer.restore_choice(choice)
        return event

    async def outlet(
        self, body: dict[str, Any], __metadata__: dict[str, Any], __request__: Any
    ) -> dict[str, Any]:
        """Restore an answer that did not stream."""
        restorer = _get_restorers(__request__).get(_name(__metadata__))
        messages = body.get("messages") or []
        if (
            restorer
            and not restorer.streamed
            and messages
            and messages[-1].get("role") == "assistant"
        ):
            last = messages[-1]
            if isinstance(last.get("content"), str):
                last["content"] = restorer.restore_content(last["content"])
            last |= {"output": restorer.restore(last["output"])} if last.get("output") else {}
        return body

    async def _sanitize(self, chat: dict[str, Any], user: str | None) -> dict[str, Any]:
        url = self.valves.base_url.rstrip("/") + "/privacy/sanitize"
        body = {**chat, "model": self.valves.model}
        headers = {"Authorization": f"Bearer {self.valves.api_key}"}
        if user is not None:
            headers[USER_HEADER] = user
        # Raw text goes here: the environment's HTTP proxies must not see it.
        session = aiohttp.ClientSession(trust_env=False, timeout=aiohttp.ClientTimeout(SECONDS))
        try:
            async with (
                session,
                session.post(url, json=body, headers=headers, allow_redirects=False) as answer,
            ):
                found: dict[str, Any] = await answer.json()
        except (aiohttp.ClientError, TimeoutError, ValueError):
            raise RuntimeError("The InferDPT Proxy cannot be reached; nothing was sent.") from None
        if answer.status != 200 or found.get("object") != "privacy.sanitization":
            told = (found.get("error") or {}).get("message") or f"status {answer.status}"
            raise RuntimeError(f"InferDPT: {told}")
        return found


def _get_restorers(request: Any) -> dict[str, AnswerRestorer]:
    """Return the restorers of the answers to one request of a browser; it may ask many models."""
    if not hasattr(request.state, "inferdpt"):
        request.state.inferdpt = {}
    found: dict[str, AnswerRestorer] = request.state.inferdpt
    return found


def _name(metadata: dict[str, Any]) -> str:
    """Return the name of an answer that is awaited."""
    return f"{metadata.get('chat_id')}/{metadata.get('message_id')}"


async def _list_unseen(model: Any) -> list[str]:
    """List what Open WebUI sends past its filters. Raises `RuntimeError`: it cannot be told."""
    try:
        from open_webui.env import VERSION
        from open_webui.models.config import Config
        from open_webui.models.models import Models

        version = tuple(map(int, VERSION.split(".")[:2]))
        on = {name: await Config.get(name) for name in UNSEEN}
        info = await Models.get_model_by_id(model)
        prompt = info.params.model_dump().get("system") if info else None
    except (ImportError, AttributeError, TypeError, ValueError):
        version, on, prompt = (0, 0), {}, None
    if version < OLDEST or None in on.values():
        raise RuntimeError("InferDPT: this filter does not know this version of Open WebUI.")
    return [UNSEEN[name] for name, is_on in on.items() if is_on] + (
        ["the model's own system prompt"] if prompt else []
    )


def _describe(done: dict[str, Any], *, show: bool) -> list[dict[str, Any]]:
    """Return the events that tell what was replaced in the messages, and what leaves."""
    counts: Counter[str] = Counter()
    for position, found in done["receipt"]["positions"].items():
        if position.startswith("messages"):
            counts.update(found)
    parts = ", ".join(f"{number} × {kind}" for kind, number in counts.items())
    told = f"InferDPT replaced {parts}" if parts else "InferDPT found nothing to replace"
    events = [{"type": "status", "data": {"description": told, "done": True}}]
    texts = [_join(message.get("content")) for message in done["body"]["messages"]]
    if show and (left := [text for text in texts if text][-1:]):
        source = {
            "document": left,
            "metadata": [{"source": "What left"}],
            "source": {"name": "What left"},
        }
        events.append({"type": "source", "data": source})
    return events


def _join(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())
