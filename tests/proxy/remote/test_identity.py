"""`doctor` on a remote's certificate and clock, the disk and the operators' keys."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from proxy import checkup
from proxy.cli.main import main
from proxy.remote.identity import UntrustedCertificate, look_at
from tests.certificates import make_certificate
from tests.servers import fake_server

BODY = b'{"object":"list","data":[]}'


@asynccontextmanager
async def listing(ahead: float, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server that lists no models, with a clock that is `ahead` by so many seconds."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        date = formatdate(time.time() + ahead, usegmt=True)
        head = f"HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(BODY)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + BODY)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


def certify(folder: Path, name: str, days: int) -> ssl.SSLContext:
    """Make a certificate of its own issuer in `cert.pem`, and return a server's context."""
    make_certificate(folder, name, days=days)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def test_a_good_certificate_and_its_days_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = certify(tmp_path, "IP:127.0.0.1", 40)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    async with listing(0, tls) as port:
        seen = await look_at(f"https://127.0.0.1:{port}/v1")
    assert seen is not None
    assert seen.expires_in is not None
    assert seen.ahead is not None
    assert 39 < seen.expires_in / 86_400 < 41
    assert abs(seen.ahead) < 30


@pytest.mark.parametrize(
    ("name", "trusted", "said"),
    [("DNS:elsewhere.test", True, "mismatch|not valid"), ("IP:127.0.0.1", False, "self.signed")],
)
async def test_a_wrong_name_and_an_unknown_issuer_are_told_apart(
    name: str, trusted: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = certify(tmp_path, name, 40)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    async with listing(0, tls) as port:
        url = f"https://127.0.0.1:{port}/v1"
        with pytest.raises(UntrustedCertificate, match=said):
            await look_at(url)


async def test_no_key_is_sent() -> None:
    async with fake_server() as server:
        url = server.base_url.replace("http://", "http://user:hidden@")
        seen = await look_at(url)
        assert seen is not None
        assert seen.expires_in is None
        (head,) = server.received
    assert head.startswith(b"GET /v1/models\n")
    assert b"authorization" not in head.lower()
    assert b"hidden" not in head


async def test_nothing_is_seen_where_nobody_answers() -> None:
    assert await look_at("http://127.0.0.1:9/v1") is None


async def diagnose(capsys: Any, base_url: str) -> list[str]:
    """Return the lines of `doctor` for a remote, with the remedies behind their problems."""
    arguments = ("--config", os.devnull, "--no-local", "--mechanism", "selective")
    await asyncio.to_thread(main, ["doctor", *arguments, "--remote-base-url", base_url])
    out: str = capsys.readouterr().out
    return out.replace("\n          fix: ", " fix: ").splitlines()


def find(lines: list[str], part: str) -> str:
    (found,) = [line for line in lines if line[10:].startswith(f"{part}: ")]
    return found


async def diagnose_tls(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, name: str, days: int
) -> str:
    """Return what the doctor says of the certificate of a server here."""
    tls = certify(folder, name, days)
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "cert.pem"))
    async with listing(0, tls) as port:
        return find(await diagnose(capsys, f"https://127.0.0.1:{port}/v1"), "tls")


async def test_doctor_tells_a_certificate_that_is_about_to_expire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    line = await diagnose_tls(tmp_path, monkeypatch, capsys, "IP:127.0.0.1", 3)
    assert line.startswith("  PROBLEM tls: remote: its certificate expires in 3 days fix: renew")


async def test_doctor_tells_a_certificate_of_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    line = await diagnose_tls(tmp_path, monkeypatch, capsys, "DNS:elsewhere.test", 40)
    assert line.startswith("  PROBLEM tls: remote: https://127.0.0.1:")
    assert "remote.base_url" in line.partition(" fix: ")[2]


@pytest.mark.parametrize(("ahead", "way"), [(7200, "behind"), (-7200, "ahead of")])
async def test_doctor_tells_a_wrong_clock(ahead: float, way: str, capsys: Any) -> None:
    async with listing(ahead) as port:
        lines = await diagnose(capsys, f"http://127.0.0.1:{port}/v1")
    line = find(lines, "clock")
    assert line.startswith("  PROBLEM clock: this machine is 7")
    assert f"s {way} remote fix: set the clock" in line


async def test_doctor_tells_a_full_disk_and_a_right_clock(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(checkup, "DISK_BYTES", 10**18)
    async with fake_server() as server:
        lines = await diagnose(capsys, server.base_url)
    assert find(lines, "clock").startswith("  ok ")
    line = find(lines, "disk")
    assert line.startswith("  PROBLEM disk: ")
    assert "inferdpt store purge" in line


async def test_doctor_tells_an_operator_without_a_key(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("INFERDPT_SERVER__OPERATORS", '["carol"]')
    await asyncio.to_thread(main, ["keys", "create", "alice"])
    await asyncio.to_thread(main, ["keys", "create", "carol", "--on-behalf"])  # sees no figures
    await asyncio.to_thread(main, ["keys", "create", "carol", "--expires", "0m"])
    capsys.readouterr()
    async with fake_server() as server:
        line = find(await diagnose(capsys, server.base_url), "keys")
        assert line.startswith("  PROBLEM keys: no key of the operator carol is in force fix: ")
        await asyncio.to_thread(main, ["keys", "create", "carol"])
        capsys.readouterr()
        assert not [x for x in await diagnose(capsys, server.base_url) if " keys: " in x]
