"""The real nginx and Caddy in front of a port, each with the file in `deploy/` and a certificate
of the test's own."""

from __future__ import annotations

import asyncio
import shutil
import ssl
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.load.processes import start_child
from proxy.local import find_free_port
from tests.certificates import make_certificate
from tests.limits import LIMIT

__all__ = ["FRONTS", "NAME", "Caddy", "Front", "Nginx"]

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME = "inferdpt.example.org"
UPSTREAM = "127.0.0.1:8100"
OUTSIDE = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log warn;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  include {folder}/inferdpt.conf;
}}
"""


@dataclass(frozen=True)
class Front(ABC):
    """A running server. `url` has no path; `tls` trusts its certificate."""

    url: str
    tls: ssl.SSLContext
    folder: Path

    program = ""
    package = ""

    @classmethod
    @asynccontextmanager
    async def start(
        cls, folder: Path, upstream: int, change: Sequence[tuple[str, str]] = ()
    ) -> AsyncIterator[Front]:
        """Run it in front of a port.

        Args:
            change: texts in its file, and what to put in their places.
        """
        program = shutil.which(cls.program)
        if program is None:
            pytest.skip(f"{cls.program} is not installed (Debian: apt-get install {cls.package})")
        make_certificate(folder, "DNS:localhost", chain="fullchain.pem", key="privkey.pem")
        port = find_free_port()
        command = [program, *cls.configure(folder, port, upstream, change)]
        home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        with start_child(command, folder, env=home) as child:
            async with asyncio.timeout(LIMIT):
                while not await accepts(port):
                    assert child.process.poll() is None, child.tail()
                    await asyncio.sleep(0.05)
            tls = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
            yield cls(f"https://localhost:{port}", tls, folder)

    @staticmethod
    @abstractmethod
    def named(name: str) -> tuple[tuple[str, str], ...]:
        """Return the change by which it serves another name than localhost."""

    @classmethod
    @abstractmethod
    def configure(
        cls, folder: Path, port: int, upstream: int, change: Sequence[tuple[str, str]]
    ) -> list[str]:
        """Write its files and return its arguments."""


class Nginx(Front):
    program, package = "nginx", "nginx"

    @staticmethod
    def named(name: str) -> tuple[tuple[str, str], ...]:
        return (("server_name localhost", f"server_name {name}"),)

    @classmethod
    def configure(
        cls, folder: Path, port: int, upstream: int, change: Sequence[tuple[str, str]]
    ) -> list[str]:
        places = (
            (UPSTREAM, f"127.0.0.1:{upstream}"),
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            (NAME, "localhost"),
            ("/etc/inferdpt/tls", str(folder)),
            *change,
        )
        text = replace_all((DEPLOY / "nginx" / "inferdpt.conf").read_text("utf-8"), places)
        (folder / "inferdpt.conf").write_text(text, "utf-8")
        (folder / "nginx.conf").write_text(OUTSIDE.format(folder=folder), "utf-8")
        return ["-p", str(folder), "-c", str(folder / "nginx.conf")]


class Caddy(Front):
    program, package = "caddy", "caddy"

    @staticmethod
    def named(name: str) -> tuple[tuple[str, str], ...]:
        return (("https://localhost:", f"https://{name}:"),)

    @classmethod
    def configure(
        cls, folder: Path, port: int, upstream: int, change: Sequence[tuple[str, str]]
    ) -> list[str]:
        tls = f"\ttls {folder}/fullchain.pem {folder}/privkey.pem"
        places = (
            (UPSTREAM, f"127.0.0.1:{upstream}"),
            (f"{NAME} {{", f"https://localhost:{port} {{\n\tbind 127.0.0.1\n{tls}"),
            *change,
        )
        text = replace_all((DEPLOY / "caddy" / "Caddyfile").read_text("utf-8"), places)
        path = folder / "Caddyfile"
        path.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + text, "utf-8")
        return ["run", "--config", str(path), "--adapter", "caddyfile"]


FRONTS = (Nginx, Caddy)


def replace_all(text: str, places: Sequence[tuple[str, str]]) -> str:
    for old, new in places:
        assert old in text, old
        text = text.replace(old, new)
    return text


async def accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
