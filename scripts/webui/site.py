"""Start the real Open WebUI on loopback, in a folder of its own, and set it up by its API."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from release.integrations import bundle

__all__ = ["HOST", "NAME", "ROOT", "UNSEEN", "Person", "Site"]

ROOT = Path(__file__).parents[2]
FILTER = ROOT / "integrations" / "open-webui" / "inferdpt_filter.py"
NAME = "InferDPT"  # of the switch
HOST = "127.0.0.1"
NOWHERE = f"http://{HOST}:9"
SECONDS = 180.0  # only a hang reaches it
SERVE = "import sys; sys.argv[0] = 'open-webui'; from open_webui import app; app()"
PASSWORD = "of-nobody-1"
# Nothing but loopback can be reached, and nothing is downloaded.
ENVIRONMENT = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), HOST),
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "true",
    "ENABLE_OLLAMA_API": "False",
    "ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS": "False",
    "HF_HUB_OFFLINE": "1",
    "OFFLINE_MODE": "True",
    "OPENAI_API_KEY": "none",
    "RAG_EMBEDDING_ENGINE": "openai",
    "SCARF_NO_ANALYTICS": "true",
    "USE_SLIM_DOCKER": "true",
    "WEBUI_SECRET_KEY": "on-loopback-alone",
}
# What Open WebUI would send past its filters; the filter refuses to serve while it is on.
UNSEEN = (
    "ENABLE_TITLE_GENERATION",
    "ENABLE_TAGS_GENERATION",
    "ENABLE_FOLLOW_UP_GENERATION",
    "ENABLE_SEARCH_QUERY_GENERATION",
    "ENABLE_RETRIEVAL_QUERY_GENERATION",
)


@dataclass(frozen=True)
class Person:
    """Someone who signs in. `id` is what Open WebUI calls them, `token` that of a session."""

    id: str
    token: str
    email: str
    password: str = PASSWORD


class Site:
    """Serve Open WebUI while the context is entered.

    Args:
        python: the interpreter of the environment it is installed in.
        folder: for all that it writes.
        upstream: the address of the models that it offers.
        settings: further variables of its environment.
        signing_in: whether people sign in. Without it, everyone is the administrator.

    Attributes:
        base_url: its address.
    """

    def __init__(
        self,
        python: Path,
        folder: Path,
        upstream: str,
        settings: dict[str, str] | None = None,
        *,
        signing_in: bool = False,
    ) -> None:
        self._python, self._folder = python, folder
        self._signing_in = signing_in
        self._settings = {
            "OPENAI_API_BASE_URL": upstream,
            "WEBUI_AUTH": str(signing_in),
            **dict.fromkeys(UNSEEN, "False"),
            **(settings or {}),
        }
        self._token = ""
        with socket.socket() as one:
            one.bind((HOST, 0))
            self._port = one.getsockname()[1]
        self.base_url = f"http://{HOST}:{self._port}"

    def __enter__(self) -> Site:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log: IO[bytes] = (self._folder / "log").open("wb")
        home = {"DATA_DIR": str(self._folder / "data"), "HOME": str(self._folder)}
        self._process = subprocess.Popen(
            [self._python, "-c", SERVE, "serve", "--host", HOST, "--port", str(self._port)],
            cwd=self._folder,
            env={**os.environ, **ENVIRONMENT, **home, **self._settings},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        try:
            self._wait()
            if self._signing_in:  # the first who signs up is the administrator
                self._token = self._enter("/api/v1/auths/signup", "admin").token
            else:
                form = {"email": "", "password": ""}
                self._token = self.call("/api/v1/auths/signin", form)["token"]
                self._hide_changelog(self._token)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, at: TracebackType | None
    ) -> None:
        self._end()

    def call(self, path: str, body: Any = None, token: str | None = None) -> Any:
        """Call its API.

        Args:
            body: JSON to post; None gets.
            token: of a person. None is the administrator's.

        Raises:
            urllib.error.HTTPError: it refused.
        """
        request = urllib.request.Request(
            self.base_url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Content-Type": "application/json",
                "Authorization": f"Bearer {self._token if token is None else token}",
            },
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=SECONDS) as answer:
            return json.load(answer)

    def add_user(self, name: str) -> Person:
        """Let a person in, who is no administrator."""
        return self._enter("/api/v1/auths/add", name)

    def add_filter(self, valves: dict[str, Any]) -> None:
        """Install the filter for every model, as an administrator does."""
        function = {"id": NAME.lower(), "name": NAME, "content": bundle(FILTER)}
        self.call("/api/v1/functions/create", {**function, "meta": {"description": ""}})
        place = f"/api/v1/functions/id/{function['id']}"
        for path, body in (("/valves/update", valves), ("/toggle", {}), ("/toggle/global", {})):
            self.call(place + path, body)

    def _enter(self, path: str, name: str) -> Person:
        email = f"{name}@example.org"
        form = {"name": name, "email": email, "password": PASSWORD, "role": "user"}
        made = self.call(path, form)
        self._hide_changelog(made["token"])
        return Person(made["id"], made["token"], email)

    def _hide_changelog(self, token: str) -> None:
        settings = {"ui": {"showChangelog": False}}
        self.call("/api/v1/users/user/settings/update", settings, token)

    def _wait(self) -> None:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                break
            try:
                self.call("/health")
            except OSError:
                time.sleep(0.5)
            else:
                return
        told = (self._folder / "log").read_text("utf-8", "replace")
        raise RuntimeError(f"Open WebUI does not serve:\n{told[-4000:]}")

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
