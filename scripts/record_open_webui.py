"""Take the pictures of a chat in Open WebUI with the switch on and off.

    make install-clients
    python scripts/record_open_webui.py

A scripted model on loopback answers; it repeats the name and the address that it reads.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from webui.chat import ask
from webui.site import HOST, NAME, ROOT, Site

__all__ = ["PICTURES", "main"]

PYTHON = ROOT / ".venv-clients" / "open_webui" / "bin" / "python"
PICTURES = ROOT / "docs" / "images"
MODEL = "remote-model"
QUESTION = (
    "Write a short reply to Mary Ellis (mary.ellis@example.com): we can meet on 12 May, "
    "and she can call me on 020 7946 0123."
)
READ = re.compile(r"reply to (.+?) \((\S+)\).*?: we can meet on (.+?), .* call me on (.+?)\.?$")
ANSWER = """Dear {0},

Thank you for your message. We can meet on {2}. If anything changes, please call me on {3}.

Kind regards

I would send this to {1}."""


class _Model(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""

    def do_GET(self) -> None:
        """List one model."""
        self._send({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        """Stream an answer with what the last message says."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = READ.search(body["messages"][-1]["content"])
        text = ANSWER.format(*found.groups()) if found else "I cannot read this."
        steps = [{"content": text[i : i + 3]} for i in range(0, len(text), 3)]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for delta, reason in (*((step, None) for step in steps), ({}, "stop")):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            event = {"id": "x", "object": "chat.completion.chunk", "choices": [choice]}
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def _serve_model() -> Iterator[str]:
    server = ThreadingHTTPServer((HOST, 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://{HOST}:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _serve_proxy(remote: str, state: str) -> Iterator[str]:
    command = [sys.executable, "-m", "proxy.cli.main", "serve", "--config", os.devnull]
    command += ["--port", "0", "--no-local", "--mechanism", "selective"]
    command += ["--remote-base-url", remote, "--remote-model", MODEL]
    env = {**os.environ, "OPENAI_API_KEY": "none", "INFERDPT_STATE_DIR": state}
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        words = process.stdout.readline().split()
        yield next(word for word in words if word.startswith("http"))
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Take the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        _serve_model() as remote,
        _serve_proxy(remote, folder) as proxy,
        Site(PYTHON, Path(folder) / "open-webui", remote) as site,
    ):
        site.add_filter({"base_url": proxy, "model": MODEL})
        on = ("--switch", NAME)
        for name, more in (("on", on), ("left", (*on, "--source")), ("off", ())):
            picture = PICTURES / f"open-webui-{name}.png"
            ask(PYTHON, site.base_url, QUESTION, "--picture", str(picture), *more)
            print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size} bytes")


if __name__ == "__main__":
    main()
