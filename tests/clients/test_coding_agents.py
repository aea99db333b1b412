"""Real coding agents repair a file full of private data: their edit applies, nothing private
leaves, and every line of what they send that holds nothing private leaves as it is."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientTimeout, web

from benchmarks.fidelity.gateway import MODEL, running_gateway, serving
from perturb import load_table
from tests.clients.install import FOLDER, find_reason
from tests.clients.programmer import Programmer
from tests.clients.runs import ALONE
from tests.limits import LIMIT

ENVIRONMENT = "agents"
MODULES = FOLDER / ENVIRONMENT / "node_modules"
PRIVATE = ("holzapfel", "brandstetter", "kowalczyk", "lindenhof", "23125", "tr0mbone")
FILE = '''"""Reminders of members. By Mira Holzapfel <mira.holzapfel@lindenhof.example>."""
from datetime import date, timedelta

OWNER = "Mira Holzapfel"
SMTP_PASSWORD = "tr0mbone!Quilt"
MEMBERS = {"Tobias Brandstetter": ("+49 30 23125 441", date(2024, 5, 12))}


def next_day(day: date) -> date:
    """Return the day after one; Aylin Kowalczyk found the bug."""
    # ask tobias.brandstetter@lindenhof.example before a change
    return day + timedelta(days=2)


def remind(name: str) -> str:
    return f"Call {name} at {MEMBERS[name][0]}"
'''
WRONG, RIGHT = "days=2", "days=1"
LONG = 20  # characters of a line that is compared


@dataclass
class Recorder:
    """Pass requests on to a gateway, and keep their bodies."""

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def build_app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/v1/{path:.*}", self._pass_on)
        return app

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        data = await request.read()
        if request.method == "POST":
            self.bodies.append(json.loads(data))
        names = ("Content-Type", "anthropic-version", "anthropic-beta")
        headers = {name: request.headers[name] for name in names if name in request.headers}
        address = self.url + request.path_qs.removeprefix("/v1")
        async with (
            ClientSession(timeout=ClientTimeout(LIMIT)) as session,
            session.request(request.method, address, data=data, headers=headers) as reply,
        ):
            kind = {"Content-Type": reply.headers["Content-Type"]}
            response = web.StreamResponse(status=reply.status, headers=kind)
            await response.prepare(request)
            async for piece in reply.content.iter_any():
                await response.write(piece)
            return response


@dataclass(frozen=True)
class Stage:
    programmer: Programmer
    recorder: Recorder
    address: str  # without /v1


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    if (reason := find_reason(ENVIRONMENT)) is not None:
        pytest.skip(reason)
    programmer = Programmer(name="reminders.py", wrong=WRONG, right=RIGHT)
    async with running_gateway(load_table(), {}, programmer.build_app()) as gateway:
        recorder = Recorder(gateway.url)
        async with serving(recorder.build_app()) as url:
            yield Stage(programmer, recorder, url.removesuffix("/v1"))


def write_codex(home: Path, address: str) -> None:
    provider = {"name": "InferDPT Proxy", "base_url": f"{address}/v1", "wire_api": "responses"}
    lines = [f"{key} = {json.dumps(value)}" for key, value in provider.items()]
    text = f'model = "{MODEL}"\nmodel_provider = "proxy"\n\n[model_providers.proxy]\n'
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(text + "\n".join(lines) + "\n", "utf-8")


def write_opencode(home: Path, address: str) -> None:
    options = {"baseURL": f"{address}/v1", "apiKey": "unused"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {MODEL: {}}}
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text(json.dumps({"provider": {"proxy": provider}}), "utf-8")


def make_command(agent: str, home: Path, address: str, request: str) -> tuple[list[str], dict]:
    """Return what runs an agent without questions, and its environment."""
    if agent == "claude":
        names = ("ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL")
        env = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_AUTH_TOKEN": "unused", "IS_SANDBOX": "1"}
        env |= {**dict.fromkeys(names, MODEL), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        program = MODULES / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
        return [str(program), "-p", request, "--dangerously-skip-permissions"], env
    if agent == "codex":
        write_codex(home, address)
        free = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
        return [str(MODULES / ".bin" / "codex"), "exec", *free, request], {}
    write_opencode(home, address)
    program = MODULES / "opencode-linux-x64-baseline" / "bin" / "opencode"
    return [str(program), "run", "-m", f"proxy/{MODEL}", request], {}


def list_lines(value: Any) -> Iterator[str]:
    """Yield the lines of the prompts, messages and descriptions of functions in a body."""
    if isinstance(value, str):
        yield from value.split("\n")
    elif isinstance(value, list):
        for item in value:
            yield from list_lines(item)
    elif isinstance(value, dict) and value.get("type") != "namespace":  # left out, as configured
        for key in ("system", "instructions", "messages", "input", "content", "text", "tools"):
            if key in value:
                yield from list_lines(value[key])
        function = value.get("function", value)
        if "description" in function and value.get("type") in (None, "function", "custom"):
            yield from list_lines(function["description"])


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
async def test_an_agents_session_comes_through_whole(
    stage: Stage, tmp_path: Path, agent: str
) -> None:
    home, folder = tmp_path / "home", tmp_path / "mholzapfel" / "shop"
    home.mkdir()
    folder.mkdir(parents=True)
    path = folder / "reminders.py"
    path.write_text(FILE, "utf-8")
    request = f"The test of {path} fails: next_day returns two days after. Mira Holzapfel waits."
    command, env = make_command(agent, home, stage.address, request)
    running = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **ALONE, **env, "HOME": str(home), "PWD": str(folder)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await asyncio.wait_for(running.communicate(), LIMIT)
    assert path.read_text("utf-8") == FILE.replace(WRONG, RIGHT), told.decode()[-2000:]
    left = json.dumps(stage.programmer.bodies, ensure_ascii=False)
    assert not [word for word in PRIVATE if word in left.lower()]
    shown = {line for body in stage.programmer.bodies for line in list_lines(body)}
    assert len(stage.programmer.bodies) >= 3
    damaged = {
        line
        for body in stage.recorder.bodies
        for line in list_lines(body)
        if len(line) >= LONG
        and not any(word in line.lower() for word in PRIVATE)
        and not line.startswith("x-anthropic-")  # no text for the model
        and line not in shown
    }
    assert not damaged
