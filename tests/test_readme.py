"""The README's code runs: Python and curl against a proxy, commands through their parser, YAML
through the configuration."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.cli import _parser
from proxy.config import load_config
from tests.proxy.conftest import Proxy, proxy_in_thread, table

__all__ = ["proxy_in_thread", "table"]

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def settings() -> dict[str, Any]:
    return {}


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def at(proxy: Proxy, text: str) -> str:
    return text.replace("http://127.0.0.1:8100/v1", proxy.base_url)


def test_python_blocks_run(proxy_in_thread: Proxy, capsys: Any) -> None:
    assert blocks("python")
    for block in blocks("python"):
        exec(compile(at(proxy_in_thread, block), "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert out.count("One two three.") == 3
    assert "not an LDP bound" in out
    assert "{'NUMBER': 2}" in out
    assert proxy_in_thread.sent(0)[0]["content"].startswith("Summarise this: ")


def test_curl_blocks_run(proxy_in_thread: Proxy) -> None:
    (block,) = [text for text in blocks("sh") if text.startswith("curl")]
    done = subprocess.run(
        ["bash", "-c", at(proxy_in_thread, block)], capture_output=True, timeout=60, check=True
    )
    assert b'"guarantee": "ldp"' in done.stdout


def test_commands_parse() -> None:
    lines = [line for text in blocks("sh") for line in text.splitlines()]
    commands = [line for line in lines if re.match(r"(\w+=\S+ )?inferdpt ", line)]
    assert len(commands) >= 4
    for line in commands:
        words = shlex.split(line.split("#")[0])
        _parser().parse_args(words[words.index("inferdpt") + 1 :])


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"`make ([\w-]+)`", README)) | set(
        re.findall(r"^make ([\w-]+)", "\n".join(blocks("sh")), re.MULTILINE)
    )
    makefile = (ROOT / "Makefile").read_text()
    assert {"demo", "test", "check", "test-vllm", "bench"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_yaml_blocks_are_valid_configuration(tmp_path: Path) -> None:
    assert blocks("yaml")
    for block in blocks("yaml"):
        path = tmp_path / "config.yaml"
        path.write_text(block)
        load_config(path)
        assert yaml.safe_load(block)


def test_links_lead_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "THREAT_MODEL.md"):
        text = (ROOT / page).read_text("utf-8")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert (ROOT / target).exists(), f"{page}: {target}"
    for path in re.findall(r"tests/[\w/]+\.py", (ROOT / "THREAT_MODEL.md").read_text("utf-8")):
        assert (ROOT / path).exists(), path
