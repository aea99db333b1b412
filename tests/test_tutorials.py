"""The tutorials work as written: the blocks of each run in their order, in one folder, against a
proxy that the page starts. Only the remote is another, and the port is free."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.record import FOLDER, RECORDINGS
from tests.servers import FakeServer, fake_server

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
URL = "http://127.0.0.1:8100"
BLOCK = re.compile(r"([^\n]*)\n\n```(sh|python|yaml|\{ \.yaml \})\n(.*?)```", re.DOTALL)
FENCE = re.compile(r"^```(?:sh|python|yaml|\{ \.yaml \})$", re.MULTILINE)
SNIPPET = re.compile(r'--8<-- "(.*?)"')
# Programs that are downloaded, or commands that have tests of their own.
NOT_RUN = re.compile(r"^(pip |vllm |inferdpt (demo|check|verify))", re.MULTILINE)
LEFT_OUT = {
    "index.md": 0,
    "coding-agents.md": 1,  # verify: tests/proxy/verify
    "numbers.md": 1,  # pip
    "open-webui.md": 1,  # Open WebUI itself: tests/clients/test_open_webui.py
    "your-data.md": 1,  # pip
}


class Reader:
    """Follows a page: a folder with the examples, and the proxy once the page has started it."""

    def __init__(self, folder: Path, remote: FakeServer) -> None:
        self.folder, self.remote = folder, remote
        self.proxy: asyncio.subprocess.Process | None = None
        self.root = ""
        self.left_out = 0
        (folder / "examples").symlink_to(ROOT / "examples")
        (folder / "bin").mkdir()
        command = folder / "bin" / "inferdpt"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m proxy.cli.main "$@"\n')
        command.chmod(0o755)
        places = (str(command.parent), str(Path(sys.executable).parent), os.environ["PATH"])
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join(places),
            "PYTHONPATH": str(ROOT),
            "INFERDPT_STATE_DIR": str(folder / "state"),
            "OPENAI_API_KEY": "k",
            "INFERDPT_SECRET": "5a" * 32,  # whose draws are known: no date comes back by chance
            "OPENBLAS_NUM_THREADS": "1",
        }

    async def follow(self, page: str) -> str:
        """Do what a page says; return everything that its blocks print."""
        said = []
        blocks = BLOCK.findall(page)
        assert len(blocks) == len(FENCE.findall(page))
        for before, language, block in blocks:
            text = SNIPPET.sub(lambda match: (ROOT / match[1]).read_text("utf-8"), block)
            if "yaml" in language:
                name = re.search(r"`([\w.]+)`:$", before)
                assert name, "say under which name the reader saves it"
                (self.folder / name[1]).write_text(text)
            elif NOT_RUN.search(text):
                self.left_out += 1
            elif text.startswith("inferdpt serve"):
                await self.serve(text)
            else:
                said.append(await asyncio.to_thread(self.run, language, text))
        return "".join(said)

    async def serve(self, command: str) -> None:
        changes = ("--port", "0", "--remote-base-url", self.remote.base_url)
        self.proxy = await asyncio.create_subprocess_exec(
            *shlex.split(command),
            *changes,
            cwd=self.folder,
            env=self.environment,
            executable=str(self.folder / "bin" / "inferdpt"),
            stdout=asyncio.subprocess.PIPE,
        )
        assert self.proxy.stdout is not None
        line = (await asyncio.wait_for(self.proxy.stdout.readline(), 120)).decode()
        url = next(word for word in line.split() if word.startswith("http"))
        self.root = url.removesuffix("/v1")

    def run(self, language: str, block: str) -> str:
        assert self.root or URL not in block, "the page starts the proxy first"
        shell = ["bash", "-euo", "pipefail", "-c"] if language == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*shell, block.replace(URL, self.root)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    async def close(self) -> None:
        if self.proxy is not None:
            self.proxy.terminate()
            await self.proxy.wait()


async def follow(name: str, folder: Path) -> tuple[str, list[dict]]:
    """Follow a tutorial; return what it prints, and the bodies that the remote received."""
    page = await asyncio.to_thread((TUTORIALS / name).read_text, "utf-8")
    async with fake_server() as remote:
        reader = Reader(folder, remote)
        try:
            out = await reader.follow(page)
        finally:
            await reader.close()
        assert reader.left_out == LEFT_OUT[name]
        return out, remote.bodies


def test_every_tutorial_is_followed_here() -> None:
    assert {path.name for path in TUTORIALS.glob("*.md")} == LEFT_OUT.keys()


async def test_open_webui(tmp_path: Path) -> None:
    out, bodies = await follow("open-webui.md", tmp_path)
    assert '"gpt-4o"' in out
    assert "data: [DONE]" in out
    assert "[-jane.doe@example.org-]{+" in out
    [body] = bodies
    sent = json.dumps(body)
    assert body["stream"] is True
    assert "jane.doe" not in sent
    assert "Write to " in sent
    assert " that 12 May suits us." in sent


async def test_coding_agents(tmp_path: Path) -> None:
    out, bodies = await follow("coding-agents.md", tmp_path)
    assert "refused_part True False" in out
    for raw in ("Holzapfel", "holzapfel", "kestrel"):
        assert raw not in out
    assert "deploys to" in out
    assert bodies == []
    assert "It prints `refused_part True False`." in (TUTORIALS / "coding-agents.md").read_text()


@pytest.mark.statistical
async def test_numbers(tmp_path: Path) -> None:
    """The figures on the page are computed; the release of a letter is drawn anew."""
    out, _ = await follow("numbers.md", tmp_path)
    for name in ("compare", "account"):
        assert (FOLDER / f"{name}.txt").read_text("utf-8").partition("\n")[2] in out
    page = (TUTORIALS / "numbers.md").read_text("utf-8")
    for name in ("compare", "account", "diff"):
        assert RECORDINGS[name].command in page


@pytest.mark.statistical
async def test_your_data(tmp_path: Path) -> None:
    out, _ = await follow("your-data.md", tmp_path)
    kept = (FOLDER / "finding.txt").read_text("utf-8").splitlines()
    assert f"$ {RECORDINGS['finding'].command}" == kept[0]
    for line in kept[1:]:
        assert line in out or line.startswith("characters/s")
    assert "4 texts in data/open_ended/mine.jsonl" in out
    report = (tmp_path / "results" / "results-details.md").read_text("utf-8")
    assert len(re.findall(r"^\| `rantext_ldp` \| (6|10) \|", report, re.MULTILINE)) == 2
