"""Load the secret under which the store's keys are hashed.

The database alone is not enough to test a guess of a text, but database and secret together are.
Losing the secret loses everything that was remembered and reveals nothing.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proxy.errors import ConfigError

__all__ = ["load_secret", "offer_secret", "read_secret"]

VARIABLE = "INFERDPT_SECRET"
BYTES = 32  # the least: the output size of HMAC-SHA-256


def load_secret(path: Path, *, create: bool) -> bytes:
    """Return the secret: from $INFERDPT_SECRET (hexadecimal), else from a file.

    Args:
        path: the file, mode 0600.
        create: make the file if there is none. Two processes that start at the same time agree:
            the finished file is linked into place, and only one link can be made.

    Raises:
        ConfigError: it is missing, cannot be made, is too short, is not hexadecimal, or is open
            to other users.
    """
    given = os.environ.get(VARIABLE)
    return read_secret(path, create=create) if given is None else _decode(given, f"${VARIABLE}")


def read_secret(path: Path, *, create: bool) -> bytes:
    """Return the secret in a file; arguments and errors are those of `load_secret`."""
    if create and not path.exists():
        try:
            _create(path)
        except OSError as exc:
            raise ConfigError(f"the store's secret: {path} cannot be made ({exc})") from None
    try:
        mode = path.stat().st_mode & 0o777
        text = path.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        raise ConfigError(
            f"the store's secret: set ${VARIABLE} or store.secret_file to the same {BYTES} bytes "
            "in hexadecimal for all replicas (python -c 'import secrets; "
            f"print(secrets.token_hex({BYTES}))'); {path} cannot be read"
        ) from None
    if mode & 0o077:
        raise ConfigError(f"{path}: mode must be 0600, is {mode:04o}: chmod 600 it")
    return _decode(text, str(path))


@contextmanager
def offer_secret(path: Path) -> Iterator[bytes]:
    """Yield the secret in a file, which is made if there is none and goes again if the block
    refuses the secret with a `ConfigError`. After any other error the store may have it already.

    Raises:
        ConfigError: as `read_secret`.
    """
    made = not path.exists()
    secret = read_secret(path, create=True)
    try:
        yield secret
    except ConfigError:
        if made:
            path.unlink()
        raise


def _decode(text: str, origin: str) -> bytes:
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        raise ConfigError(f"{origin}: must be hexadecimal") from None
    if len(secret) < BYTES:
        raise ConfigError(f"{origin}: must have >= {BYTES} bytes, has {len(secret)}")
    return secret


def _create(path: Path) -> None:
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(BYTES))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # the other process was first
            os.link(temporary, path)
    finally:
        temporary.unlink()
