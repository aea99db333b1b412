"""Messages to the operator when something is not as it should be."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perturb.install import install_command
from proxy.cli.main import main
from proxy.config.hints import base_url_hints
from proxy.config.settings import load_config
from tests.limits import LIMIT
from tests.proxy.served import serve
from tests.servers import fake_server

ROOT = Path(__file__).resolve().parents[3]


async def refused_serve(*arguments: str) -> str:
    """Return what `serve` writes when it cannot listen, with an external local server."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proxy.cli.main", "serve", "--config", os.devnull),
        *("--local-base-url", "http://127.0.0.1:9/v1", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), LIMIT)
    assert (process.returncode, out) == (2, b"")
    return err.decode()


class TestListening:
    async def test_a_port_in_use_is_named_with_what_to_do(self) -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            said = await refused_serve("--port", str(port))
        assert said.startswith(f"inferdpt: cannot listen on 127.0.0.1:{port} (Address already in")
        assert "another program listens there" in said
        assert "--port" in said
        assert len(said.splitlines()) == 1

    async def test_another_machines_address_is_named(self) -> None:
        # 192.0.2.0/24 is nobody's; a key, because the address is no loopback
        assert await asyncio.to_thread(main, ["keys", "create", "alice"]) == 0
        said = await refused_serve("--host", "192.0.2.1", "--port", "0")
        assert "cannot listen on 192.0.2.1:0 (" in said
        assert "this machine does not have that address" in said


class TestBaseUrls:
    @pytest.mark.parametrize(
        ("url", "words"),
        [
            ("http://127.0.0.1:8000", "has no /v1"),
            ("http://127.0.0.1:8000/", "has no /v1"),
            ("https://user:hidden@host/api", "has no /v1"),
            ("http://127.0.0.1:8000/v1/chat/completions", "ends with /chat/completions"),
            ("http://127.0.0.1:8000/v1/models/", "ends with /models"),
            ("http://127.0.0.1:8000/v1", None),
            ("http://127.0.0.1:8000/v1/", None),
            ("https://generativelanguage.example/v1beta/openai", None),
            ("https://openrouter.example/api/v1", None),
        ],
    )
    def test_what_is_rarely_meant_is_said_of_either_side(
        self, url: str, words: str | None
    ) -> None:
        local = {"base_url": url, "mode": "external"}
        hints = base_url_hints(load_config(None, {"remote": {"base_url": url}, "local": local}))
        expected = [f"{name} {words}" for name in ("remote.base_url", "local.base_url")]
        assert [h.partition(":")[0] for h in hints] == (expected if words else [])
        assert "hidden" not in "".join(hints)

    def test_a_local_server_that_is_started_here_gets_none(self) -> None:
        assert base_url_hints(load_config(None, {"local": {"base_url": "http://x"}})) == []

    async def test_doctor_says_it_where_the_probe_fails(self, capsys: Any) -> None:
        async with fake_server() as server:
            root = server.base_url.removesuffix("/v1")
            urls = ("--remote-base-url", root, "--local-base-url", root)
            await asyncio.to_thread(main, ["doctor", "--config", os.devnull, *urls])
        out = capsys.readouterr().out
        assert out.count("has no /v1") == 2

    async def test_serve_says_it_at_its_start(self) -> None:
        async with serve("--remote-base-url", "http://127.0.0.1:9") as served:
            _, _, log = await served.end()
        said = [json.loads(line)["message"] for line in log.splitlines()]
        assert any(line.startswith("remote.base_url has no /v1") for line in said)
        assert not any("local.base_url" in line for line in said)


def checked(code: str, **env: str) -> str:
    """`inferdpt doctor` in a process of its own, prepared by `code`."""
    program = f"{code}\nfrom proxy.cli.main import main\nmain(['doctor', '--config', '/dev/null'])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert "Traceback" not in done.stderr
    return done.stdout


def test_doctor_without_the_tokenizer_says_what_brings_it(tmp_path: Path) -> None:
    dead = "http://127.0.0.1:9"
    out = checked(
        "import sys; sys.modules['bpe_openai'] = None",
        TIKTOKEN_CACHE_DIR=str(tmp_path),
        HTTPS_PROXY=dead,
        https_proxy=dead,
    )
    problem, fix = next(
        (line, after)
        for line, after in zip(out.splitlines(), out.splitlines()[1:], strict=False)
        if "PROBLEM tokenizer" in line
    )
    assert "cl100k_base" in problem
    assert fix.strip() == f"fix: {install_command('offline')}"
    assert "table build" not in out


def test_doctor_without_the_embedded_engine_says_what_brings_it(tmp_path: Path) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('xllamacpp')\n")
    out = checked("", PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert f"fix: {install_command('embedded')}" in out


def test_doctor_asks_the_place_of_shared_rate_limits(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def find(shared: str) -> list[str]:
        monkeypatch.setenv("INFERDPT_LIMITS__SHARED", shared)
        main(["doctor", "--config", os.devnull])
        return [line for line in capsys.readouterr().out.splitlines() if " limits: " in line]

    (bad,) = find("redis://127.0.0.1:9/0")
    assert bad.startswith("  PROBLEM limits: The shared rate limits cannot be reached")
    (good,) = find("store")
    assert good.startswith("  ok ")


def test_help_lists_every_mechanism_that_serve_takes(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    out = "".join(capsys.readouterr().out.split())
    assert "dp_prompt" in out
    assert "rantext_ldp" in out
