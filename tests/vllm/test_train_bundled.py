"""The training command, end to end on a corpus of the project's own texts: a few steps of every
round, and a file that the server and `dequantize` read."""

from __future__ import annotations

import json
import lzma
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from extraction.bundled.dequantize import read_gguf
from proxy.config.settings import load_config
from proxy.local import local_server

pytestmark = pytest.mark.vllm

ROOT = Path(__file__).parents[2]
RECORDS = 1200


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of five paragraphs each, put together from the demo's texts."""
    lines = (ROOT / "benchmarks" / "demo_texts.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    whole = [text for text in texts if text.endswith(".")]
    draw = random.Random(1)
    path = tmp_path_factory.mktemp("corpus") / "train.jsonl.xz"
    with lzma.open(path, "wt", encoding="utf-8") as out:
        for i in range(RECORDS):
            record = {
                "source": "own",
                "title": f"Title {i}",
                "text": "\n".join(draw.sample(whole, 5)),
            }
            out.write(json.dumps(record) + "\n")
    return path


def train(corpus: Path, out: Path, *more: str) -> None:
    subprocess.run(
        [
            *(sys.executable, "scripts/train_bundled.py", "--corpus", str(corpus)),
            *("--out", str(out), "--steps", "4", "--more-steps", "2", "--own", "4"),
            *("--conversations", "20", "--plain-bytes", "200000", "--prompts", "6", *more),
        ],
        cwd=ROOT,
        env={**os.environ, "TORCHDYNAMO_DISABLE": "1"},
        check=True,
    )


@pytest.fixture(scope="module")
def out(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    train(corpus, folder)
    return folder


def test_the_report_is_about_the_file(out: Path) -> None:
    assert {path.name for path in out.iterdir()} == {"loss.png", "model.gguf", "training.json"}
    report = json.loads((out / "training.json").read_text())
    assert report["corpus"]["documents"] + report["corpus"]["held_out_documents"] == RECORDS
    assert report["corpus"]["own_output_conversations"] == 4
    assert (report["first_round"]["steps"], report["second_round"]["steps"]) == (4, 2)
    assert report["tokens_seen"] == 4 * 8192 + 2 * 12 * 640  # whole rows only
    assert 0 < report["tokens_learnt"] < report["tokens_seen"]
    assert report["resumed"] is None
    pairs = report["preference_pairs"]
    assert 8 <= pairs["count"] <= 6 * report["third_round"]["pairs"]
    assert -1 <= pairs["mean_nearness_of_all_answers"] <= 1
    facts, weights = read_gguf(out / "model.gguf")
    assert sum(values.size for values in weights.values()) == report["parameters"]
    assert facts["llama.context_length"] >= 1024


async def test_the_model_serves(out: Path) -> None:
    config = load_config(None, {"local": {"embedded": {"model": str(out / "model.gguf")}}})
    async with local_server(config.local) as server:
        answer = await server.complete([{"role": "user", "content": "Hello."}], {"max_tokens": 8})
    assert answer.finish_reason in ("stop", "length")


def test_a_run_goes_on_from_a_trained_file_with_its_second_round(
    corpus: Path, out: Path, tmp_path: Path
) -> None:
    train(corpus, tmp_path, "--resume", str(out / "model.gguf"))
    before, after = (json.loads((f / "training.json").read_text()) for f in (out, tmp_path))
    assert (after["first_round"]["steps"], after["second_round"]["steps"]) == (0, 2)
    assert after["tokens_seen"] == 2 * 12 * 640
    assert after["resumed"]["sha256"] == before["model_sha256"]
    assert after["resumed"]["tokens_seen"] == before["tokens_seen"]
    assert after["resumed"]["tokens_learnt"] == before["tokens_learnt"]
    assert after["corpus"] == before["corpus"]
    assert after["model_sha256"] != before["model_sha256"]


def test_a_report_about_another_file_is_not_counted(
    corpus: Path, out: Path, tmp_path: Path
) -> None:
    earlier = tmp_path / "earlier"
    shutil.copytree(out, earlier)
    report = json.loads((earlier / "training.json").read_text())
    (earlier / "training.json").write_text(json.dumps({**report, "model_sha256": "0" * 64}))
    train(corpus, tmp_path / "out", "--resume", str(earlier / "model.gguf"))
    after = json.loads((tmp_path / "out" / "training.json").read_text())
    assert after["resumed"] == {"sha256": report["model_sha256"]}
