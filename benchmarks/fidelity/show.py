"""Show a session in which an agent repairs a file full of private data, for the documentation.

    python -m benchmarks.fidelity.show file      # the file with the bug
    python -m benchmarks.fidelity.show left      # what the remote reads
    python -m benchmarks.fidelity.show answered  # the edit that the remote writes
    python -m benchmarks.fidelity.show edit      # the edit that the agent gets
    python -m benchmarks.fidelity.show patch     # what it changes, and what the test says then

The gateway has the `privacy.parameters` of examples/agents.yaml, and a fixed secret: every run
shows the same. With --agent and --kind you see other sessions, with --parameters other settings.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.fidelity.agent import Agent
from benchmarks.fidelity.agents import AGENTS
from benchmarks.fidelity.coder import Coder
from benchmarks.fidelity.folders import Folder, make_folders
from benchmarks.fidelity.gateway import running_gateway
from benchmarks.fidelity.measure import read_parameters
from benchmarks.fidelity.sessions import Exchange, run_session
from benchmarks.harness.datasets import DataError
from perturb import PerturbError, load_table
from proxy.errors import ConfigError

__all__ = ["PARTS", "find_folder", "main", "play", "read_settings", "render"]

SETTINGS = Path(__file__).parents[2] / "examples" / "agents.yaml"
SECRET = "5a" * 32  # known: the documentation shows what it draws
KIND = "reminders.py"
PARTS = ("file", "left", "answered", "edit", "patch")


async def play(
    kind: type[Agent], folder: Folder, parameters: Mapping[str, Any]
) -> tuple[Agent, list[Exchange]]:
    """Let an agent repair a folder through a gateway with a known secret.

    Raises:
        ConfigError, PerturbError: the parameters are not valid, or a package is missing.
    """
    coder, agent = Coder(), kind(folder)
    remote = coder.build_app()
    async with running_gateway(load_table(), parameters, remote, SECRET) as gateway:
        return agent, await run_session(gateway.session, gateway.url, agent, coder)


def render(part: str, agent: Agent, exchanges: Sequence[Exchange]) -> str:
    """Return one of `PARTS` of a session as text.

    Raises:
        DataError: the session ended before this part.
    """
    folder = agent.folder
    if part == "file":
        return folder.text
    if part == "patch":
        before, after = folder.text.splitlines(), agent.text.splitlines()
        lines = difflib.unified_diff(before, after, folder.name, folder.name, lineterm="")
        return "\n".join([*lines, "", agent.run_test()])
    step = agent.steps.index("edit")
    if step >= len(exchanges):
        raise DataError("the session ended before the edit")
    exchange = exchanges[step]
    if part == "left" and exchange.left is not None:
        return "\n".join(_render_request(exchange.left))
    reply = exchange.got if part == "edit" else exchange.written
    if reply is None:
        raise DataError("the request for the edit was refused")
    if reply.call is None:
        return reply.text
    return reply.call.input or "\n".join(_render_call(reply.call.arguments))


def read_settings() -> dict[str, Any]:
    """Read the `privacy.parameters` of the example."""
    parameters: dict[str, Any] = yaml.safe_load(SETTINGS.read_text("utf-8"))["privacy"][
        "parameters"
    ]
    return parameters


def _render_request(body: Mapping[str, Any]) -> Iterator[str]:
    """Return the texts of a chat or of messages, each under its role."""
    for message in body["messages"]:
        content = message.get("content") or ()
        blocks: list[Any] = [{"text": content}] if isinstance(content, str) else [*content]
        for call in message.get("tool_calls") or ():
            function = call["function"]
            blocks.append({"name": function["name"], "input": json.loads(function["arguments"])})
        for block in blocks:
            yield f"[{message['role']}]"
            if "input" in block:
                yield from (f"{block['name']}:", *_render_call(block["input"]), "")
                continue
            told = block.get("text") or block.get("content") or ""
            yield from ([told] if isinstance(told, str) else (part["text"] for part in told))
            yield ""


def _render_call(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"{name}:\n{text}" if "\n" in text else f"{name}: {text}"


def find_folder(name: str) -> Folder:
    """Return the first folder of a kind, or with a file of this name; raise `DataError`."""
    folder = next(
        (folder for folder in make_folders() if name in (folder.name, folder.kind)), None
    )
    if folder is None:
        raise DataError(f"no folder has a file or a kind named '{name}'")
    return folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Show a part of a session; return the exit status, 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fidelity.show",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--agent", default="Claude Code", choices=[a.name for a in AGENTS])
    parser.add_argument("--kind", default=KIND, help=f"of the file, or its name ({KIND})")
    parser.add_argument("--parameters", metavar="YAML", help="in place of the example's")
    options = parser.parse_args(arguments)
    kind = next(agent for agent in AGENTS if agent.name == options.agent)
    try:
        told = options.parameters
        parameters = read_settings() if told is None else read_parameters(told)
        agent, exchanges = asyncio.run(play(kind, find_folder(options.kind), parameters))
        print(render(options.part, agent, exchanges).rstrip())
    except (ConfigError, DataError, PerturbError) as exc:
        print(f"show: {exc}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
