"""examples/evaluate.py against a running proxy; here because this environment has torch."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from proxy.app import build_app, build_runner
from proxy.config.settings import load_config
from proxy.local import local_server
from proxy.serve import start_runner

pytestmark = pytest.mark.vllm
ROOT = Path(__file__).parents[2]


async def test_the_example_measures_through_base_url(tmp_path: Path) -> None:
    """The bundled model in both roles."""
    file = tmp_path / "texts.jsonl"
    texts = (ROOT / "benchmarks" / "demo_texts.jsonl").read_text("utf-8").splitlines()
    halves = [(t[: len(t) // 2], t[len(t) // 2 :]) for t in (json.loads(x)["text"] for x in texts)]
    file.write_text("\n".join(json.dumps({"prefix": a, "continuation": b}) for a, b in halves))
    async with local_server(load_config(None).local) as model:
        config = load_config(
            None,
            {
                "server": {"port": 0},
                "store": {"folder": str(tmp_path / "state")},
                "remote": {"base_url": model.base_url, "models": {"any": "any"}, "api_key": "x"},
                "local": {"mode": "external", "base_url": model.base_url, "context_tokens": 1024},
            },
        )
        run = build_runner(build_app(config))
        try:
            command = [
                str(ROOT / "examples" / "evaluate.py"),
                await start_runner(run, config),
                "any",
            ]
            process = await asyncio.create_subprocess_exec(
                sys.executable, *command, str(file), stdout=asyncio.subprocess.PIPE
            )
            out, _ = await process.communicate()
        finally:
            await run.cleanup()
    assert process.returncode == 0
    form = r"coherence (-?[\d.]+)\nMAUVE ([\d.]+) \(MiniLM features\)\n"
    lines = re.fullmatch(form, out.decode())
    assert lines is not None
    coherence, found = map(float, lines.groups())
    assert -1 <= coherence <= 1
    assert 0 <= found <= 1
