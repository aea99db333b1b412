"""Certificates of their own issuer."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["make_certificate"]


def make_certificate(
    folder: Path, name: str, *, days: int = 1, chain: str = "cert.pem", key: str = "key.pem"
) -> None:
    """Make a certificate and its key in a folder, or skip the test without openssl.

    Args:
        name: of the server, such as `DNS:localhost`.
    """
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed")
    subprocess.run(
        [
            *(program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days)),
            *("-subj", "/CN=test", "-addext", f"subjectAltName={name}"),
            *("-keyout", str(folder / key), "-out", str(folder / chain)),
        ],
        check=True,
        capture_output=True,
        env={**os.environ, "RANDFILE": str(folder / "rnd")},
    )
