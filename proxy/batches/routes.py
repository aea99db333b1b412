"""Handle the endpoints of files and batches, which are written as OpenAI's API has them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import Field, field_validator

from proxy.access.admission import FILES_PATH
from proxy.api.app_keys import BODY, CONFIG, TENANT
from proxy.api.handlers import read_body
from proxy.api.render import cut_unfinished, limit_time
from proxy.batches.files import ACTIVE, BATCH, File, no_such
from proxy.batches.lines import ENDPOINTS
from proxy.batches.run import BATCHES, FILES, RUNNER
from proxy.batches.store import Batch
from proxy.batches.upload import EXPIRY, read_upload
from proxy.errors import bad_request
from proxy.requests.protocol import Strict
from proxy.requests.validation import validate

__all__ = [
    "CreateBatch",
    "ExpiresAfter",
    "batch_routes",
    "cancel_batch",
    "create_batch",
    "delete_file",
    "describe_batch",
    "describe_file",
    "list_batches",
    "list_files",
    "read_file",
    "upload_file",
    "write_batch",
    "write_file",
    "write_page",
]

LAST = ("completed", "failed", "expired", "cancelled")  # states that have a time of their own


def write_file(file: File) -> dict[str, Any]:
    """Return a file."""
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": int(file.created),
        "expires_at": int(file.expires),
        "filename": file.name,
        "purpose": file.purpose,
        "status": "uploaded" if file.purpose == BATCH else "processed",
    }


def write_batch(batch: Batch) -> dict[str, Any]:
    """Return a batch."""
    ended = batch.status not in ACTIVE
    errors = None if batch.errors is None else {"object": "list", "data": batch.errors}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "errors": errors,
        "input_file_id": batch.input,
        "completion_window": "24h",
        "status": batch.status,
        "output_file_id": batch.output if ended and batch.completed else None,
        "error_file_id": batch.refused if ended and batch.failed else None,
        "created_at": int(batch.created),
        "in_progress_at": _round(batch.began),
        "expires_at": int(batch.closes),
        "finalizing_at": None,
        **{f"{name}_at": _round(batch.ended) if batch.status == name else None for name in LAST},
        "cancelling_at": _round(batch.cancelling),
        "request_counts": {
            "total": batch.total,
            "completed": batch.completed,
            "failed": batch.failed,
        },
        "metadata": batch.metadata,
    }


def write_page(items: Sequence[dict[str, Any]], more: bool) -> dict[str, Any]:
    """Return a page of a list."""
    return {
        "object": "list",
        "data": list(items),
        "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
        "has_more": more,
    }


def _round(time: float | None) -> int | None:
    return None if time is None else int(time)


batch_routes = web.RouteTableDef()
BATCHES_PATH = "/v1/batches"
Key = Annotated[str, Field(max_length=64)]
Value = Annotated[str, Field(max_length=512)]


class ExpiresAfter(Strict):
    """Hold for how long a client wants to have the answers."""

    anchor: Literal["created_at"]
    seconds: int = Field(ge=EXPIRY[0], le=EXPIRY[1])


class CreateBatch(Strict):
    """Hold the body of a request for a batch."""

    input_file_id: str
    endpoint: str
    completion_window: Literal["24h"]
    metadata: dict[Key, Value] | None = Field(None, max_length=16)
    output_expires_after: ExpiresAfter | None = None

    @field_validator("endpoint")
    @classmethod
    def _check_endpoint(cls, value: str) -> str:
        if value not in ENDPOINTS:
            raise ValueError(f"must be one of {', '.join(ENDPOINTS)}")
        return value


@batch_routes.post(FILES_PATH)
async def upload_file(request: web.Request) -> web.Response:
    """Keep a file of lines."""
    settings = request.app[CONFIG].batches
    kind = request.headers.get("Content-Type", "")
    upload = await read_upload(kind, request.pop(BODY), settings)
    tenant = request[TENANT].tenant
    file = await request.app[FILES].add(tenant, upload.name, upload.lines, upload.seconds)
    return web.json_response(write_file(file))


@batch_routes.get(FILES_PATH)
async def list_files(request: web.Request) -> web.Response:
    """List files."""
    query = _read_query(request, ("purpose", "after", "limit", "order"))
    files, more = await request.app[FILES].list_some(
        request[TENANT].tenant,
        purpose=query.get("purpose"),
        after=query.get("after"),
        limit=_read_limit(query, 10_000, 10_000),
        newest_first=_choose(query, "order", ("desc", "asc")) == "desc",
    )
    return web.json_response(write_page([write_file(file) for file in files], more))


@batch_routes.get(f"{FILES_PATH}/{{id}}")
async def describe_file(request: web.Request) -> web.Response:
    """Describe a file."""
    file = await request.app[FILES].find(request[TENANT].tenant, request.match_info["id"])
    return web.json_response(write_file(file))


@batch_routes.delete(f"{FILES_PATH}/{{id}}")
async def delete_file(request: web.Request) -> web.Response:
    """Delete a file."""
    id_ = request.match_info["id"]
    await request.app[FILES].delete(request[TENANT].tenant, id_)
    return web.json_response({"id": id_, "object": "file", "deleted": True})


@batch_routes.get(f"{FILES_PATH}/{{id}}/content", allow_head=False)
async def read_file(request: web.Request) -> web.StreamResponse:
    """Send the lines of a file."""
    file = await request.app[FILES].find(request[TENANT].tenant, request.match_info["id"])
    response = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
    response.content_length = left = file.bytes
    async with cut_unfinished(request, response):
        async for page in request.app[FILES].read(file.id):
            async with limit_time(request):
                if not response.prepared:
                    await response.prepare(request)
                data = b"".join(line for _, line in page)
                await response.write(data)
                left -= len(data)
        if left:
            raise no_such("file")  # it was deleted meanwhile
    return response


@batch_routes.post(BATCHES_PATH)
async def create_batch(request: web.Request) -> web.Response:
    """Make a batch of a file's lines."""
    asked = await read_body(request, partial(validate, CreateBatch), {})
    expiry = asked.output_expires_after
    batch = await request.app[BATCHES].add(
        request[TENANT],
        asked.endpoint,
        asked.input_file_id,
        asked.metadata,
        None if expiry is None else expiry.seconds,
    )
    request.app[RUNNER].wake()
    return web.json_response(write_batch(batch))


@batch_routes.get(BATCHES_PATH)
async def list_batches(request: web.Request) -> web.Response:
    """List batches, the newest first."""
    query = _read_query(request, ("after", "limit"))
    batches, more = await request.app[BATCHES].list_some(
        request[TENANT].tenant, after=query.get("after"), limit=_read_limit(query, 20, 100)
    )
    return web.json_response(write_page([write_batch(batch) for batch in batches], more))


@batch_routes.get(f"{BATCHES_PATH}/{{id}}")
async def describe_batch(request: web.Request) -> web.Response:
    """Describe a batch."""
    batch = await request.app[BATCHES].find(request[TENANT].tenant, request.match_info["id"])
    return web.json_response(write_batch(batch))


@batch_routes.post(f"{BATCHES_PATH}/{{id}}/cancel")
async def cancel_batch(request: web.Request) -> web.Response:
    """Cancel a batch; its body is not read."""
    batch = await request.app[BATCHES].cancel(request[TENANT].tenant, request.match_info["id"])
    request.app[RUNNER].wake()
    return web.json_response(write_batch(batch))


def _read_query(request: web.Request, known: Sequence[str]) -> dict[str, str]:
    """Return the known parameters of a query; others are ignored, as everywhere."""
    return {name: request.query[name] for name in known if name in request.query}


def _read_limit(query: dict[str, str], default: int, most: int) -> int:
    given = query.get("limit", str(default))
    if not (given.isdecimal() and len(given) < 9 and 1 <= int(given) <= most):
        raise bad_request(
            f"'limit' must be a whole number from 1 to {most}.",
            param="limit",
            code="invalid_value",
        )
    return int(given)


def _choose(query: dict[str, str], name: str, choices: Sequence[str]) -> str:
    given = query.get(name, choices[0])
    if given not in choices:
        raise bad_request(
            f"'{name}' must be {' or '.join(choices)}.", param=name, code="invalid_value"
        )
    return given
