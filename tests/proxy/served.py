"""`inferdpt serve` as a process between a fake remote and a fake local model."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.limits import LIMIT
from tests.proxy.conftest import MODEL
from tests.servers import FakeServer, fake_server

__all__ = ["Served", "serve"]


@dataclass
class Served:
    process: asyncio.subprocess.Process
    base_url: str
    line: str
    remote: FakeServer
    local: FakeServer
    logged: list[str] = field(default_factory=list)

    async def wait_for_log(self, *words: str) -> None:
        """Read its log until each of these has stood there."""
        assert self.process.stderr is not None
        async with asyncio.timeout(LIMIT):
            while not all(word in "".join(self.logged) for word in words):
                line = await self.process.stderr.readline()
                assert line, "it ended"
                self.logged.append(line.decode())

    async def end(self) -> tuple[int, str, str]:
        """SIGTERM; exit status, standard output and standard error."""
        self.process.send_signal(signal.SIGTERM)
        out, err = await asyncio.wait_for(self.process.communicate(), LIMIT)
        assert self.process.returncode is not None
        return self.process.returncode, out.decode(), "".join(self.logged) + err.decode()


@asynccontextmanager
async def serve(
    *arguments: str, own_local: bool = False, stdin: int | None = None, **env: str
) -> AsyncIterator[Served]:
    """Run it with arguments, variables and an input; `own_local` leaves the local model to it."""
    async with fake_server() as remote, fake_server() as local:
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "proxy.cli.main",
                "serve",
                "--config",
                os.devnull,
                "--port",
                "0",
            ),
            *("--remote-base-url", remote.base_url, "--remote-model", MODEL),
            *(() if own_local else ("--local-base-url", local.base_url)),
            *arguments,
            env={**os.environ, "OPENAI_API_KEY": "sk-operator", **env},
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stdout is not None
            line = (await asyncio.wait_for(process.stdout.readline(), LIMIT)).decode()
            url = next(word for word in line.split() if word.startswith("http"))
            yield Served(process, url, line, remote, local)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
