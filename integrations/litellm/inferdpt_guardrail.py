"""A guardrail for LiteLLM's proxy: chats leave sanitized by an InferDPT Proxy in gateway mode.

LiteLLM loads this file from the folder of its configuration. It refuses whatever it cannot have
sanitized: requests of other kinds than chats, unknown fields, and everything while the InferDPT
Proxy does not answer.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
from fastapi import HTTPException
from litellm import ModelResponse, ModelResponseStream
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.types.guardrails import GuardrailEventHooks
from litellm.types.utils import Delta, Message

from integrations.answer_restorer import AnswerRestorer

SECONDS = 60.0
MOST = 10_000  # answers that are awaited at once
CHATS = ("completion", "acompletion")
# What LiteLLM's proxy adds to a request for itself, by its exact name, and does not send. All else
# is a field of the request, and the InferDPT Proxy refuses those it does not know.
OWN = (
    "litellm_call_id",
    "litellm_logging_obj",
    "litellm_trace_id",
    "metadata",
    "proxy_server_request",
    "secret_fields",
    "_litellm_strip_stream_usage",
)
AWAITED = "inferdpt_answer"  # in LiteLLM's metadata: it names an answer that is awaited


class InferDPTGuardrail(CustomGuardrail):
    """Sanitize each chat before the call, and restore the answer after it.

    Args:
        api_base: address of the InferDPT Proxy, with `/v1`.
        api_key: key that it issued.
        model: a model that it serves; it only names the request there.
        more: what LiteLLM passes to each guardrail. `mode` and `default_on` have no effect.
    """

    def __init__(
        self,
        api_base: str = "http://127.0.0.1:8100/v1",
        api_key: str = "none",
        model: str = "gpt-4o",
        guardrail_name: str | None = None,
        **more: Any,
    ) -> None:
        self._url = api_base.rstrip("/") + "/privacy/sanitize"
        self._headers = {"Authorization": f"Bearer {api_key}"}
        self._model = model
        self._awaited: OrderedDict[str, AnswerRestorer] = OrderedDict()
        super().__init__(guardrail_name=guardrail_name, default_on=True)

    def should_run_guardrail(self, data: Any, event_type: GuardrailEventHooks) -> bool:
        """Run for every request: neither a client nor a key can leave it out."""
        return event_type in (GuardrailEventHooks.pre_call, GuardrailEventHooks.post_call)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Return the request with its chat sanitized.

        Raises:
            HTTPException: it is no chat, or the InferDPT Proxy refused or failed. Nothing is sent.
        """
        if call_type not in CHATS:
            raise _refuse(400, "only chat completions can be sanitized; nothing was sent")
        chat = {key: value for key, value in data.items() if key not in OWN}
        done = await self._sanitize(chat)
        body = {key: value for key, value in done["body"].items() if key != "store"}
        name = secrets.token_hex(16)
        self._awaited[name] = AnswerRestorer(done)
        while len(self._awaited) > MOST:
            self._awaited.popitem(last=False)
        own = {key: data[key] for key in OWN if key in data}
        sent = {**own, **body, "model": data["model"], "metadata": _clear(data, name)}
        if "proxy_server_request" in own:  # LiteLLM's loggers read it
            sent["proxy_server_request"] = {**own["proxy_server_request"], "body": body}
        return sent

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        """Restore a whole answer."""
        restorer = self._take(data)
        if restorer is None or not isinstance(response, ModelResponse):
            return response
        for choice in response.choices:
            plain = choice.message.model_dump()
            if isinstance(plain.get("content"), str):
                plain["content"] = restorer.restore_content(plain["content"])
            for key in ("reasoning_content", "refusal", "tool_calls"):
                if plain.get(key):
                    plain[key] = restorer.restore(plain[key])
            choice.message = Message(**plain)
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Restore an answer while it streams."""
        restorer = self._take(request_data)
        async for chunk in response:
            if restorer is not None and isinstance(chunk, ModelResponseStream):
                for choice in chunk.choices:
                    plain = choice.model_dump()
                    restorer.restore_choice(plain)
                    choice.delta = Delta(**plain["delta"])
            yield chunk

    async def async_post_call_failure_hook(
        self, request_data: dict[str, Any], *_: Any, **__: Any
    ) -> None:
        """Forget the request."""
        self._take(request_data)

    def _take(self, data: dict[str, Any]) -> AnswerRestorer | None:
        return self._awaited.pop((data.get("metadata") or {}).get(AWAITED, ""), None)

    async def _sanitize(self, chat: dict[str, Any]) -> dict[str, Any]:
        body = {**chat, "model": self._model}
        # Raw text goes here: the environment's HTTP proxies must not see it.
        session = aiohttp.ClientSession(trust_env=False, timeout=aiohttp.ClientTimeout(SECONDS))
        try:
            async with (
                session,
                session.post(
                    self._url, json=body, headers=self._headers, allow_redirects=False
                ) as answer,
            ):
                found: dict[str, Any] = await answer.json()
        except (aiohttp.ClientError, TimeoutError, TypeError, ValueError):
            raise _refuse(503, "the InferDPT Proxy cannot be reached; nothing was sent") from None
        if answer.status != 200 or found.get("object") != "privacy.sanitization":
            told = (found.get("error") or {}).get("message") or f"status {answer.status}"
            raise _refuse(400 if answer.status == 400 else 503, told)
        return found


def _clear(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return LiteLLM's metadata of a request without what the client wrote into it."""
    metadata = dict(data.get("metadata") or {})
    theirs = metadata.pop("requester_metadata", None) or {}
    kept = {key: value for key, value in metadata.items() if key not in (*theirs, "user_id")}
    return {**kept, AWAITED: name}


def _refuse(status: int, told: str) -> HTTPException:
    return HTTPException(status, detail={"error": f"InferDPT: {told}"})
