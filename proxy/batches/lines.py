"""Read a line of a batch, and answer it as a request of its tenant would be answered."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import web

from perturb.errors import OutOfTime
from perturb.work import limit_work, offload, remember_texts
from proxy.access.auth import Client, Visit
from proxy.api.app_keys import (
    CONFIG,
    FINDINGS,
    KEYRING,
    LARGE_WORK,
    METRICS,
    RATES,
    RECORDER,
    Current,
)
from proxy.api.handlers import (
    CHAT,
    INLINE_BYTES,
    RESPONSES,
    answer_plan,
    plan_chat,
    plan_completion,
    read_completion,
)
from proxy.api.middleware import describe_plan
from proxy.api.render import Renderer
from proxy.batches.store import Batch
from proxy.config.settings import Limits
from proxy.errors import ApiError, bad_request, internal_error, unsupported
from proxy.pipeline.plan import Plan
from proxy.records.chain import write_end
from proxy.requests.validation import clean_name, parse_object

__all__ = ["ENDPOINTS", "BatchLine", "LineAnswerer", "read_line", "spell_late"]

logger = logging.getLogger("inferdpt.request")
ID_CHARACTERS = 512  # of a custom_id
FIELDS = ("custom_id", "method", "url", "body")
# A line that fails for one of these waits with its batch, for as long as the window is open.
POSTPONING = ("store_unavailable", "rate_limits_unavailable")
DELAYS = (1.0, 4.0, 16.0)  # seconds before a line is tried again
Planner = Callable[[web.Application, Client, bytes], Awaitable[tuple[Plan, Renderer]]]


async def _plan_completion(
    app: web.Application, client: Client, data: bytes
) -> tuple[Plan, Renderer]:
    return await plan_completion(app, client, await read_completion(app, data))


ENDPOINTS: Mapping[str, Planner] = {
    "/v1/chat/completions": partial(plan_chat, dialect=CHAT),
    "/v1/responses": partial(plan_chat, dialect=RESPONSES),
    "/v1/completions": _plan_completion,
}


@dataclass(frozen=True)
class BatchLine:
    """Hold a line: the name that the client gave it, and all of its fields."""

    custom_id: str
    fields: Mapping[str, Any]

    def read_body(self, endpoint: str) -> bytes:
        """Return the body of the request that the line stands for.

        Raises:
            ApiError: 400, a field breaks its rule.
        """
        for name in self.fields:
            if name not in FIELDS:
                name = clean_name(name)
                raise bad_request(
                    f"Unknown field '{name}' in the line; unknown fields are refused.",
                    param=name,
                    code="unknown_parameter",
                )
        if self.fields.get("method") != "POST":
            raise bad_request("'method' must be POST.", param="method", code="invalid_value")
        if self.fields.get("url") != endpoint:
            raise bad_request(
                f"'url' must be the endpoint of the batch, {endpoint}.",
                param="url",
                code="invalid_value",
            )
        body = self.fields.get("body")
        if not isinstance(body, dict):
            raise bad_request("'body' must be an object.", param="body", code="invalid_value")
        if body.get("stream"):
            raise unsupported("stream", "a line of a batch is answered in full")
        return json.dumps(body).encode()


def read_line(data: bytes, limits: Limits) -> BatchLine:
    """Read a line.

    Raises:
        ApiError: 400 or 413, it is not a JSON object with a usable `custom_id`.
    """
    try:
        fields = parse_object(data, limits)
    except ApiError as exc:
        exc.message = exc.message.replace("The body", "The line").replace("the body", "the line")
        raise
    custom_id = fields.get("custom_id")
    if not isinstance(custom_id, str) or not 0 < len(custom_id) <= ID_CHARACTERS:
        raise bad_request(
            f"'custom_id' must be a string of 1 to {ID_CHARACTERS} characters.",
            param="custom_id",
            code="invalid_value",
        )
    return BatchLine(custom_id, fields)


def spell_late(data: bytes, limits: Limits) -> bytes:
    """Return the error of a line that was not answered within the completion window."""
    message = "The completion window of the batch was over before this line was answered."
    error = {"code": "batch_expired", "message": message}
    return _spell(_make_id(), read_line(data, limits).custom_id, None, error)


class LineAnswerer:
    """Answer each line through the pipeline of the application that is current as it begins."""

    def __init__(self, current: Current) -> None:
        self._current = current

    @property
    def limits(self) -> Limits:
        """Return the limits in force."""
        return self._current.app[CONFIG].limits

    async def wait_for_rate(self, batch: Batch) -> None:
        """Wait until the rate limit of the batch's key allows a line. Raise `ApiError` 503."""
        app = self._current.app
        try:
            client = await app[KEYRING].recall(batch.tenant, batch.key)
        except ApiError as exc:
            if exc.status != 401:
                raise
            return  # `answer` refuses the line
        while True:
            try:
                await app[RATES].take(client)
            except ApiError as exc:
                if exc.status != 429:
                    raise
                await asyncio.sleep(float(exc.headers["retry-after"]))
            else:
                return

    async def answer(self, batch: Batch, data: bytes) -> tuple[bool, bytes]:
        """Answer a line, again if an error says that this may help or is the proxy's own fault.

        Returns:
            Whether it was answered, and the line for the output or for the errors.

        Raises:
            ApiError: 503, the store failed all the time: the line has to wait.
        """
        start = time.perf_counter()
        app = self._current.app
        limits, brief = app[CONFIG].limits, len(data) <= INLINE_BYTES
        line = await offload(brief, read_line, data, limits)
        visit = Visit(_make_id(), batch.endpoint, time.time())
        client, plan = Client(batch.tenant, key=batch.key, visit=visit), None
        remember = remember_texts(app[FINDINGS], batch.tenant)
        with remember, limit_work(limits.work_seconds, app[LARGE_WORK]):
            for delay in (*DELAYS, None):
                try:
                    client = await app[KEYRING].recall(batch.tenant, batch.key)
                    client = client.during(visit)
                    plan, body = await self._try(app, batch, client, line)
                    status, failed = 200, None
                    break
                except Exception as exc:
                    failed = exc if isinstance(exc, ApiError) else internal_error(exc)
                    status, body = failed.status, failed.body()
                    expected = isinstance(exc, (ApiError, OutOfTime))
                    if delay is None or (expected and not failed.retry):
                        break
                await asyncio.sleep(delay)
        self._note(batch, client, plan, failed, status, time.perf_counter() - start)
        if failed is not None and failed.code in POSTPONING:
            raise failed
        response = {"status_code": status, "request_id": visit.request, "body": body}
        error = None if failed is None else {"code": failed.code, "message": failed.message}
        return failed is None, _spell(visit.request, line.custom_id, response, error)

    async def _try(
        self, app: web.Application, batch: Batch, client: Client, line: BatchLine
    ) -> tuple[Plan, dict[str, Any]]:
        """Plan and answer a line once. Raise `ApiError`."""
        data = line.read_body(batch.endpoint)
        plan, renderer = await ENDPOINTS[batch.endpoint](app, client, data)
        return plan, await answer_plan(app, plan, renderer)

    def _note(
        self,
        batch: Batch,
        client: Client,
        plan: Plan | None,
        failed: ApiError | None,
        status: int,
        seconds: float,
    ) -> None:
        """Count a line, and write its line in the log and its row in the record."""
        outcome = "answered" if failed is None else "refused" if status < 500 else "failed"
        code = None if failed is None else failed.code or failed.type
        if code in POSTPONING:
            outcome = "postponed"
        self._current.app[METRICS].batch_lines.labels(outcome).inc()
        line = {
            "request_id": client.visit.request,
            "batch": batch.id,
            "path": batch.endpoint,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "tenant": client.tenant,
            "error": code,
            "param": None if failed is None else failed.param,
            **({} if plan is None else describe_plan(plan)),
        }
        logger.info("line", extra={"fields": {k: v for k, v in line.items() if v is not None}})
        entry = write_end(
            client,
            status=status,
            error=code,
            seconds=seconds,
            model=None if plan is None else plan.request.model,
            remote=[] if plan is None else plan.trace.outcomes,
        )
        self._current.app[RECORDER].end(client.tenant, entry)


def _make_id() -> str:
    return f"batch_req_{secrets.token_hex(12)}"


def _spell(
    id_: str, custom_id: str, response: Mapping[str, Any] | None, error: Mapping[str, Any] | None
) -> bytes:
    line = {"id": id_, "custom_id": custom_id, "response": response, "error": error}
    return json.dumps(line).encode() + b"\n"
