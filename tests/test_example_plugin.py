"""The example plug-in: built, installed and used as its page says."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import openai
import pytest

from perturb.testing import load_test_table
from perturb.vocabulary.embeddings import save_table
from tests.servers import fake_server

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "plugin"
PAGE = (ROOT / "docs" / "plugins.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
TEXT = "The parcel AC-204817 was sent to Anna Schmidt."


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example into a folder, offline."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("*.egg-info"))
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--target", folder / "site")
    subprocess.run([*pip, *options, folder / "source"], check=True, timeout=300)
    return folder


def environment(installed: Path) -> dict[str, str]:
    path = os.pathsep.join(map(str, (installed / "site", ROOT)))
    # With a secret of its own, no short number comes back by chance.
    secret = {"INFERDPT_SECRET": "5a" * 32}
    return {**os.environ, **secret, "PYTHONPATH": path, "OPENAI_API_KEY": "k"}


def inferdpt(installed: Path, *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "proxy.cli.main", *arguments],
        cwd=installed,
        env=environment(installed),
        input=text,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.statistical
def test_its_own_tests_pass(installed: Path) -> None:
    options = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "tests"],
        cwd=installed / "source",
        env=environment(installed),
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    ran = re.search(r"(\d+) passed", done.stdout)
    assert ran is not None
    assert int(ran[1]) > 150


def test_its_mechanism_perturbs(installed: Path) -> None:
    options = ("--mechanism", "randomized_response", "--epsilon", "8", "--json")
    done = json.loads(inferdpt(installed, "perturb", *options, text=TEXT))
    assert done["receipt"]["mechanism"] == "randomized_response"
    assert done["receipt"]["epsilon_per_token"] == 8.0
    assert done["text"] != TEXT


def test_its_mechanism_is_audited_and_certified(installed: Path, tmp_path: Path) -> None:
    table, certificate = tmp_path / "toy", tmp_path / "certificate.json"
    save_table(load_test_table("toy"), table)
    named = ("--mechanism", "randomized_response", "--epsilon", "8", "--table", str(table))
    found = json.loads(inferdpt(installed, "audit", *named, "--json"))
    assert found["kind"] == "ldp"
    assert abs(found["epsilon"]["value"] - 8.0) < 1e-6
    inferdpt(installed, "certify", *named, "--out", str(certificate))
    proved = json.loads(certificate.read_text("utf-8"))
    assert 7.99 < float(proved["epsilon_proved"]) <= 8.0


async def test_its_policy_and_its_local_model_serve_a_request(
    installed: Path, tmp_path: Path
) -> None:
    [config] = [block for language, block in BLOCKS if language == "yaml"]
    (tmp_path / "config.yaml").write_text(config)
    async with fake_server() as remote:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "proxy.cli.main", "serve", "--port", "0"),
            *("--remote-base-url", remote.base_url),
            cwd=tmp_path,
            env=environment(installed),
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stdout is not None
            line = (await asyncio.wait_for(process.stdout.readline(), 300)).decode()
            url = next(word for word in line.split() if word.startswith("http"))
            async with openai.AsyncOpenAI(base_url=url, api_key="unused") as client:
                done = await client.chat.completions.create(
                    model="gpt-4o", messages=[{"role": "user", "content": TEXT}]
                )
        finally:
            process.terminate()
            await process.wait()
    [body] = remote.bodies
    sent = json.dumps(body)
    assert "The parcel " in sent  # the rest stays readable
    assert "AC-204817" not in sent
    assert "204817" not in sent
    assert "Schmidt" not in sent
    assert len((done.choices[0].message.content or "").split()) == 12  # the parrot's


@pytest.mark.parametrize("language", ["python", "toml"])
def test_code_on_the_page_is_the_examples(language: str) -> None:
    """Line by line, but for blank lines and the indentation of a whole block."""
    files = [*EXAMPLE.rglob("*.py"), EXAMPLE / "pyproject.toml"]
    sources = [plain(path.read_text("utf-8")) for path in files]
    blocks = [block for name, block in BLOCKS if name == language]
    assert blocks
    for block in blocks:
        assert any(plain(block) in source for source in sources), block


def plain(code: str) -> str:
    lines = [line.strip() for line in code.splitlines()]
    return "\n" + "".join(f"{line}\n" for line in lines if line)


def test_the_proof_on_the_page_is_the_examples() -> None:
    quoted = " ".join(line[2:] for line in PAGE.splitlines() if line.startswith("> "))
    source = (EXAMPLE / "src/inferdpt_example/mechanism.py").read_text("utf-8")
    proof = " ".join(source.split('"""')[1].split())
    for sentence in re.split(r"(?<=[,.:]) ", quoted):
        assert sentence.rstrip(".,:") in proof, sentence
