"""The upstream of every target: nginx, which answers each request with a fixed completion."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.load.processes import Child, LoadError, post, start_child
from proxy.local import find_free_port

__all__ = ["ANSWER", "MODEL", "Upstream", "find_program", "start_upstream"]

MODEL = "gpt-4o"
ANSWER = (
    "The council approved the plan for the river on Tuesday. Work on the first of three bridges "
    "begins in spring, and the town expects it to last about two years. Residents may comment "
    "until the end of the month."
)
READY_SECONDS = 10.0

# Which answer it is depends on the body, which nginx reads late. `mirror` reads it, the handler of
# files then refuses POST with 405, and the error page for that is the answer.
CONFIG = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log crit;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  tcp_nodelay on;
  sendfile on;
  open_file_cache max=16;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_max_body_size 8m;
  client_body_buffer_size 8m;
  client_body_in_single_buffer on;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  types {{ application/json json; text/event-stream sse; }}
  default_type application/json;
  map $request_body $answer {{ default chat.json; '~"stream": ?true' stream.sse; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    root {folder}/root;
    location = /health {{ return 200; }}
    location = /v1/chat/completions {{ mirror /read; error_page 405 =200 /answers/$answer; }}
    location = /read {{ internal; return 204; }}
    location /answers/ {{ internal; }}
  }}
}}
"""


@dataclass(frozen=True)
class Upstream:
    """Name a running nginx. `base_url` ends in `/v1`."""

    child: Child
    root_url: str

    @property
    def base_url(self) -> str:
        return f"{self.root_url}/v1"


def find_program(name: str) -> str:
    """Return the path of a program.

    Raises:
        LoadError: it is not installed.
    """
    found = shutil.which(name)
    if found is None:
        raise LoadError(
            f"{name} is not installed. Debian and Ubuntu: apt-get install -y nginx wrk"
        )
    return found


@contextmanager
def start_upstream(folder: Path) -> Iterator[Upstream]:
    """Run nginx on a free port, with all its files in `folder`.

    Raises:
        LoadError: nginx is not installed, or it does not answer.
    """
    program, port = find_program("nginx"), find_free_port()
    files = {
        "v1/chat/completions": "",  # has to exist, so that POST is refused
        "v1/models": json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}),
        "answers/chat.json": json.dumps(_chat_answer()),
        "answers/stream.sse": _stream_answer(),
    }
    for name, text in files.items():
        path = folder / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, port=port), "utf-8")
    with start_child([program, "-p", str(folder), "-c", str(config)], folder) as child:
        upstream = Upstream(child, f"http://127.0.0.1:{port}")
        url = f"{upstream.base_url}/chat/completions"
        child.wait_until(lambda: post(url, b"{}", 1.0)[0] == 200, READY_SECONDS)
        yield upstream


def _chat_answer() -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": ANSWER},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 90, "completion_tokens": 45, "total_tokens": 135}
    return _object("chat.completion") | {"choices": [choice], "usage": usage}


def _stream_answer() -> str:
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in ANSWER.replace(" ", " \0").split("\0")]
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
    ]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    head = _object("chat.completion.chunk")
    frames = [f"data: {json.dumps(head | {'choices': [choice]})}\n\n" for choice in choices]
    return "".join(frames) + "data: [DONE]\n\n"


def _object(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-load", "object": kind, "created": 1_700_000_000, "model": MODEL}
