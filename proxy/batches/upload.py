"""Read an uploaded file: a form of known fields, and lines within the limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser

from proxy.batches.files import BATCH
from proxy.config.store import Batches as Settings
from proxy.errors import ApiError, bad_request, too_large
from proxy.requests.validation import clean_name

__all__ = ["EXPIRY", "Upload", "read_upload"]

EXPIRY = (3600, 2_592_000)  # the seconds for which clients may ask, OpenAI's range
FIELDS = ("file", "purpose", "expires_after[anchor]", "expires_after[seconds]")
FIELD_BYTES = 100  # of a field other than the file
NAME_CHARACTERS = 255
HEAD_BYTES = 8192  # of a part


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
    return await asyncio.to_thread(_read, content_type, body, settings)


def _read(content_type: str, body: bytes, settings: Settings) -> Upload:
    try:
        name, fields = _read_form(content_type, body, settings.file_bytes)
    except ValueError:  # a number in the name of a parameter (RFC 2231) may have any length
        raise _not_a_form() from None
    data = fields.get("file")
    if data is None:
        raise bad_request("'file' is required.", param="file", code="invalid_value")
    if fields.get("purpose") != BATCH.encode():
        raise bad_request(
            f"'purpose' must be {BATCH}.", param="purpose", code="unsupported_parameter"
        )
    return Upload(name, _split(data, settings), _read_expiry(fields))


def _read_form(content_type: str, body: bytes, most: int) -> tuple[str, dict[str, bytes]]:
    """Return the file's name and the fields of a form (RFC 7578).

    aiohttp's reader would warn of a malformed header, and the warning quotes it.
    """
    head = _parse_head(f"Content-Type: {content_type}")
    boundary = head.get_param("boundary")
    if head.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
        raise _not_a_form()
    line = b"--" + boundary.encode("utf-8", "replace")
    first, *parts = body.split(b"\r\n" + line, len(FIELDS))
    if not boundary or not first.startswith(line + b"\r\n") or not parts:
        raise _not_a_form()
    if parts.pop().rstrip(b"\r\n") != b"--":
        raise _not_a_form()
    fields: dict[str, bytes] = {}
    filename = None
    for part in (first.removeprefix(line), *parts):
        head, content = _read_part(part)
        name = str(head.get_param("name", "", "content-disposition"))
        if name not in FIELDS:
            name = clean_name(name)
            raise bad_request(
                f"Unknown field '{name}' in the form; unknown fields are refused.",
                param=name,
                code="unknown_parameter",
            )
        if name in fields:
            raise _not_a_form()
        size = most if name == "file" else FIELD_BYTES
        if len(content) > size:
            raise too_large(f"'{name}' may have at most {size} bytes.", param=name)
        fields[name] = content
        filename = filename or head.get_filename()
    return (filename or "batch.jsonl")[:NAME_CHARACTERS], fields


def _read_part(part: bytes) -> tuple[Message, bytes]:
    """Return the head and the content of a part of a form."""
    head, end, content = part.partition(b"\r\n\r\n")
    if not end or not head.startswith(b"\r\n") or len(head) > HEAD_BYTES:
        raise _not_a_form()
    return _parse_head(head[2:].decode("utf-8", "replace")), content


def _parse_head(head: str) -> Message:
    return HeaderParser().parsestr(head)


def _not_a_form() -> ApiError:
    return bad_request(
        "The body must be a form (multipart/form-data) with the fields file and purpose.",
        code="invalid_body",
    )


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
