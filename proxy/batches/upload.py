"""Read an uploaded file: a form of known fields, and lines within the limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import BodyPartReader, MultipartReader, StreamReader
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import HttpProcessingError

from proxy.batches.files import BATCH
from proxy.config.store import Batches as Settings
from proxy.errors import ApiError, bad_request, too_large
from proxy.requests.validation import clean_name

__all__ = ["EXPIRY", "Upload", "read_upload"]

EXPIRY = (3600, 2_592_000)  # the seconds for which clients may ask, OpenAI's range
FIELDS = ("file", "purpose", "expires_after[anchor]", "expires_after[seconds]")
FIELD_BYTES = 100  # of a field other than the file
NAME_CHARACTERS = 255
BUFFER = 65_536


@dataclass(frozen=True)
class Upload:
    """Hold an uploaded file.

    Attributes:
        lines: with their line feeds.
        seconds: until it is to expire; None leaves that to the operator.
    """

    name: str
    lines: list[bytes]
    seconds: int | None


async def read_upload(content_type: str, body: bytes, settings: Settings) -> Upload:
    """Read the body of an upload.

    Raises:
        ApiError: 400, it is not such a form; 413, the file exceeds a limit.
    """
    name, fields = await _read_form(content_type, body, settings.file_bytes)
    data = fields.get("file")
    if data is None:
        raise bad_request("'file' is required.", param="file", code="invalid_value")
    if fields.get("purpose") != BATCH.encode():
        raise bad_request(
            f"'purpose' must be {BATCH}.", param="purpose", code="unsupported_parameter"
        )
    lines = await asyncio.to_thread(_split, data, settings)
    return Upload(name, lines, _read_expiry(fields))


async def _read_form(content_type: str, body: bytes, most: int) -> tuple[str, dict[str, bytes]]:
    """Return the file's name and the fields of a form."""
    fields: dict[str, bytes] = {}
    filename = ""
    try:
        stream = StreamReader(BaseProtocol(asyncio.get_running_loop()), BUFFER)
        for start in range(0, len(body), BUFFER):
            stream.feed_data(body[start : start + BUFFER])
        stream.feed_eof()
        if not content_type.lower().startswith("multipart/form-data"):
            raise ValueError("another type")
        reader = MultipartReader({"Content-Type": content_type}, stream)
        while (part := await reader.next()) is not None:
            if not isinstance(part, BodyPartReader):
                raise ValueError("a form within the form")
            name = part.name or ""
            if name not in FIELDS:
                name = clean_name(name)
                raise bad_request(
                    f"Unknown field '{name}' in the form; unknown fields are refused.",
                    param=name,
                    code="unknown_parameter",
                )
            if name in fields:
                raise ValueError("a field twice")
            fields[name] = await _read_part(part, name, most if name == "file" else FIELD_BYTES)
            if name == "file":
                filename = part.filename or ""
        if not reader.at_eof():
            raise ValueError("no end")
    except ApiError:
        raise
    except (ValueError, RuntimeError, AssertionError, LookupError, HttpProcessingError):
        raise bad_request(
            "The body must be a form (multipart/form-data) with the fields file and purpose.",
            code="invalid_body",
        ) from None
    return filename[:NAME_CHARACTERS] or "batch.jsonl", fields


async def _read_part(part: BodyPartReader, name: str, most: int) -> bytes:
    data = bytearray()
    while chunk := await part.read_chunk():
        data += chunk
        if len(data) > most:
            raise too_large(f"'{name}' may have at most {most} bytes.", param=name)
    return bytes(data)


def _split(data: bytes, settings: Settings) -> list[bytes]:
    """Cut a file into lines."""
    if data.count(b"\n") + (not data.endswith(b"\n")) > settings.lines:
        raise too_large(f"A file may have at most {settings.lines} lines.", param="file")
    lines = [line + b"\n" for line in data.split(b"\n")]
    if last := lines.pop()[:-1]:
        lines.append(last)
    if max(map(len, lines), default=0) > settings.line_bytes:
        raise too_large(
            f"A line of a file may have at most {settings.line_bytes} bytes.", param="file"
        )
    if not data.strip():
        raise bad_request("The file has no lines.", param="file", code="empty_file")
    return lines


def _read_expiry(fields: Mapping[str, bytes]) -> int | None:
    anchor, seconds = (fields.get(f"expires_after[{name}]") for name in ("anchor", "seconds"))
    if anchor is None and seconds is None:
        return None
    if anchor != b"created_at":
        raise bad_request(
            "'expires_after[anchor]' must be created_at.",
            param="expires_after[anchor]",
            code="invalid_value",
        )
    least, most = EXPIRY
    if not (seconds and seconds.isdigit() and least <= int(seconds) <= most):
        raise bad_request(
            f"'expires_after[seconds]' must be a whole number from {least} to {most}.",
            param="expires_after[seconds]",
            code="invalid_value",
        )
    return int(seconds)
