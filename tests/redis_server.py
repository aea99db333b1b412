"""Redis for tests, where a server runs on this machine."""

from __future__ import annotations

import os
import socket

import pytest

__all__ = ["redis_url"]

HOST = os.environ.get("REDIS_HOST", "127.0.0.1")
PORT = int(os.environ.get("REDIS_PORT", "6379"))


@pytest.fixture
def redis_url() -> str:
    """A server that other tests use, too: its keys are under the test's own secret."""
    pytest.importorskip("redis", reason="the package redis is not installed")
    try:
        socket.create_connection((HOST, PORT), timeout=5).close()
    except OSError as exc:
        pytest.skip(f"no Redis at {HOST}:{PORT}: {type(exc).__name__}")
    return f"redis://{HOST}:{PORT}/0"
