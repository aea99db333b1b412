"""The code in the README and the pages runs: Python, curl and commands against a proxy of their
own, YAML through the configuration. What needs a model server or a download is parsed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import openai
import pytest
import yaml

from proxy.config.settings import load_config
from tests.proxy.cli.commands import parse
from tests.proxy.conftest import Proxy, proxy_in_thread, table
from tests.servers import fake_server

__all__ = ["proxy_in_thread", "table"]

ROOT = Path(__file__).parents[1]
URL = "http://127.0.0.1:8100/v1"
# Pages that other commands make.
MADE = {"cli.md", "mechanisms.md", "performance.md", "plugins.md", "results.md", "settings.md"}
MADE |= {"performance-details.md", "results-details.md", "scale.md", "verify.md"}
PAGES = {
    "README.md": (ROOT / "README.md").read_text("utf-8"),
    **{
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for path in sorted((ROOT / "docs").glob("**/*.md"))
        if path.name not in MADE
    },
}
# Their blocks are run by tests/deploy/test_operating.py and tests/test_tutorials.py.
ELSEWHERE = {"docs/operating.md", *(page for page in PAGES if "/tutorials/" in page)}
FENCED = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
SNIPPET = "--8<--"  # another file's text is put in there
# These need a server, a network or minutes.
NEEDS_MORE = re.compile(
    r"^(pip|vllm|make|lm_eval|python -m|# as root"
    r"|(\w+=\S+ )?inferdpt (serve|reload|verify|advise|demo|doctor|table|codebook|models pull"
    r"|privacy (clip-bounds|refute)))",
    re.MULTILINE,
)


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"batches": {"enabled": True}}


def blocks(language: str, page: str | None = None) -> list[str]:
    """The blocks of a language on a page, or on all of them."""
    texts = [PAGES[page]] if page else PAGES.values()
    found = (block for text in texts for block in FENCED.findall(text))
    return [text for name, text in found if name == language and SNIPPET not in text]


def pages_with(language: str) -> list[str]:
    return [page for page in PAGES if blocks(language, page)]


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell in which `inferdpt` is this checkout's, and its folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, function = project["scripts"]["inferdpt"].split(":")
    command = tmp_path / "bin" / "inferdpt"
    command.parent.mkdir()
    code = f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n"
    command.write_text(f"#!{sys.executable}\n{code}")
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}"
    places = {"PATH": path + os.environ["PATH"], "PYTHONPATH": str(ROOT), "FOLDER": str(tmp_path)}
    return {**os.environ, **places}


def run_in_shell(block: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=environment["FOLDER"],
        env=environment,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("page", sorted({*pages_with("python")} - ELSEWHERE))
def test_python_blocks_run(proxy_in_thread: Proxy, capsys: Any, page: str) -> None:
    for block in blocks("python", page):
        text = block.replace(URL, proxy_in_thread.base_url)
        text = text.replace(URL.removesuffix("/v1"), proxy_in_thread.root)
        exec(compile(text, page, "exec"), {})
    out = capsys.readouterr().out
    assert out.count("One two three.") == {
        "README.md": 1,
        "docs/batches.md": 2,
        "docs/clients.md": 4,
        "docs/quickstart.md": 1,
    }.get(page, 0)
    if page == "README.md":
        assert "not an LDP bound" in out
        assert proxy_in_thread.sent(0)[0]["content"].startswith("Summarise this: ")
    if page == "docs/quickstart.md":
        assert "{'NUMBER': 2}" in out
    if page == "docs/clients.md":
        assert "\nldp {" in out
    if page == "docs/choosing.md":
        assert "nothing left this machine" in out
        assert not proxy_in_thread.remote.bodies


@pytest.mark.parametrize("page", sorted({*pages_with("sh")} - ELSEWHERE))
def test_shell_blocks_run(proxy_in_thread: Proxy, shell: dict[str, str], page: str) -> None:
    for block in blocks("sh", page):
        if NEEDS_MORE.search(block):
            continue
        out = run_in_shell(block.replace(URL, proxy_in_thread.base_url), shell)
        if page == "docs/http-api.md":
            assert '"guarantee":"ldp"' in out
        if "jane.doe" in block:
            assert "jane.doe" not in out
            assert "555-013-2479" not in out or "curl" in block  # this proxy runs `rantext`


def test_most_shell_blocks_run() -> None:
    run = [block for block in blocks("sh") if not NEEDS_MORE.search(block)]
    assert len([block for block in run if "curl" in block]) >= 3
    assert len([block for block in run if "inferdpt" in block]) >= 4


def test_commands_parse() -> None:
    lines = [line for text in blocks("sh") for line in text.splitlines()]
    commands = [line for line in lines if re.search(r"(^|= |\| )inferdpt ", line)]
    assert len(commands) >= 20
    for line in commands:
        words = shlex.split(re.split("[#>]", line)[0])
        assert parse(*words[words.index("inferdpt") + 1 :])


def test_modules_that_are_run_exist() -> None:
    text = "\n".join([*PAGES.values(), (ROOT / "CONTRIBUTING.md").read_text("utf-8")])
    modules = set(re.findall(r"python -m ([\w.]+)", text))
    assert "benchmarks.finding" in modules
    for module in {*modules, *re.findall(r"([\w.]+):ClipLogits", text)}:
        assert find_spec(module), module


async def test_the_first_commands_work_with_nothing_else_running(
    shell: dict[str, str], capsys: Any
) -> None:
    """As printed, from the checkout; only the remote is not OpenAI's, and the port is free."""
    section = PAGES["README.md"].partition("## Quickstart")[2].partition("\n## ")[0]
    printed = FENCED.findall(section)
    lines = "".join(text for name, text in printed if name == "sh").splitlines()
    assert lines[:2] == ["pip install '.[embedded]'", "inferdpt demo"]
    (serve,) = [line for line in lines if line.startswith("inferdpt serve")]
    (curl,) = [text for name, text in printed if name == "sh" and text.startswith("curl")]
    (code,) = [text for name, text in printed if name == "python"]
    async with fake_server() as remote:
        process = await asyncio.create_subprocess_exec(
            *shlex.split(serve),
            *("--remote-base-url", remote.base_url, "--port", "0"),
            cwd=ROOT,
            env={**shell, "OPENAI_API_KEY": "k"},
            executable=shell["PATH"].split(os.pathsep)[0] + "/inferdpt",
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stdout is not None
            line = (await asyncio.wait_for(process.stdout.readline(), 120)).decode()
            url = next(word for word in line.split() if word.startswith("http"))
            shown = json.loads(
                await asyncio.to_thread(run_in_shell, curl.replace(URL, url), shell)
            )
            assert not remote.bodies
            assert not {"jane.doe@example.org", "555-013-2479"} & set(shown["text"].split())
            await asyncio.to_thread(exec, code.replace(URL, url), {})
            async with openai.AsyncOpenAI(base_url=url, api_key="unused") as client:
                done = await client.chat.completions.create(
                    model="gpt-4o",
                    messages=[{"role": "user", "content": "The board met on Monday."}],
                    max_tokens=8,
                )
        finally:
            process.terminate()
            await process.wait()
    assert done.choices[0].message.content
    assert len(remote.bodies) == 2
    assert "jane.doe" not in json.dumps(remote.bodies)
    assert "no guarantee and no ε" in capsys.readouterr().out


def test_every_extra_that_is_to_be_installed_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for page in (*PAGES, "CONTRIBUTING.md", "extraction/bundled/MODEL_CARD.md"):
        text = (ROOT / page).read_text("utf-8")
        for extras in re.findall(r"pip install[^`\n]*\[([\w,]+)\]", text):
            assert set(extras.split(",")) <= set(project["optional-dependencies"]), page


def test_make_targets_exist() -> None:
    text = "\n".join([*PAGES.values(), (ROOT / "CONTRIBUTING.md").read_text("utf-8")])
    targets = set(re.findall(r"(?:`|^)make ([\w-]+)", text, re.MULTILINE))
    makefile = (ROOT / "Makefile").read_text()
    assert {"demo", "test", "check", "docs", "recordings", "test-vllm", "bench"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_yaml_blocks_are_valid_configuration(tmp_path: Path) -> None:
    assert len(blocks("yaml")) >= 8
    for block in blocks("yaml"):
        path = tmp_path / "config.yaml"
        path.write_text(block)
        load_config(path)
        assert yaml.safe_load(block)


def test_links_lead_somewhere() -> None:
    """In the repository, as its pages are read there; `make docs` follows those of the site."""
    for page in (*PAGES, "CONTRIBUTING.md", "THREAT_MODEL.md", "docs/plugins.md", "docs/cli.md"):
        text = (ROOT / page).read_text("utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
    for path in re.findall(r"tests/[\w/]+\.py", (ROOT / "THREAT_MODEL.md").read_text("utf-8")):
        assert (ROOT / path).exists(), path


def read_rows(heading: str) -> list[list[str]]:
    """Return the rows of a section's table on the page of results in detail."""
    results = (ROOT / "docs" / "results-details.md").read_text("utf-8")
    section = results.partition(f"### {heading}\n")[2].partition("\n##")[0]
    lines = [row for row in section.splitlines() if row.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def read_interval(cell: str) -> tuple[float, float, float]:
    """Return a figure and its interval: `+0.082 (+0.048 to +0.117)`, or `+0.000` alone."""
    value, *interval = map(float, re.findall(r"[-+]?\d+\.\d+", cell))
    low, high = interval or (value, value)
    return value, low, high


def test_the_remote_is_worth_what_the_pages_say() -> None:
    """Judged, with a mechanism on words no answer is shown to be worse than the local model's own
    with as many candidates, and none differs much; with `surrogate` at 16 all sets are better if
    the remote knows the subject, and the differences are small if it does not."""
    rows = [row for row in read_rows("What the remote is worth") if row[1]]
    lifts = {tuple(row[:4]): read_interval(row[7]) for row in rows}
    words = {release for _, release, _, _ in lifts if "surrogate" not in release}
    assert words == {"`rantext`", "`rantext_ldp`"}
    on_words = [lift for key, lift in lifts.items() if key[1] in words]
    assert all(high >= 0 and abs(value) < 0.01 for value, _, high in on_words)
    assert "every difference was below 0.01" in " ".join(PAGES["README.md"].split())
    others = {
        key: lift
        for key, lift in lifts.items()
        if key[1] not in words and "knows the subject" not in key[0]
    }
    worst, *_, best = sorted(value for value, _, _ in others.values())
    gains = [remote for (remote, *_), (_, low, _) in others.items() if low > 0]
    assert (len(others), gains) == (12, 3 * ["knows other subjects"])
    assert all(high >= 0 for _, _, high in others.values())
    assert f"of twelve, between {worst:+.3f} and {best:+.3f}, three are shown" in (
        " ".join(PAGES["docs/choosing.md"].split())
    )
    sets = ("cnn_dailymail", "wikitext", "arxiv")
    least, less, covered = (
        [lifts["knows the subject", "`surrogate`", epsilon, name] for name in sets]
        for epsilon in ("12", "14", "16")
    )
    assert all(low > 0 for _, low, _ in (*least, *less, *covered))
    told = ", ".join(f"{value:.2f}" for value, _, _ in covered[:2])
    told += f" and {covered[2][0]:.2f}"
    assert f"at ε = 16 for the whole document, answers came nearer to the truth by {told}" in (
        " ".join(PAGES["README.md"].split())
    )
    rows = read_rows("Which document was it?")
    named = {
        tuple(row[:2]): row[5:7] for row in rows if row[2:4] in (["keep", "random"], ["–", "–"])
    }
    readme = " ".join(PAGES["README.md"].split())

    def share(name: str, epsilon: str, allowed: bool = False) -> str:
        return f"{float(named[f'`{name}`', epsilon][allowed].split()[0]):.0f}"

    assert f"in {share('rantext', '6')} % of cases" in readme
    most = f"{share('surrogate', '16')} to {share('surrogate corpus', '16')} % of cases"
    assert f"1,000 documents in {most}; at ε = 6 in {share('surrogate', '6')} %" in readme
    assert f"in more than {share('surrogate', '6', True)} %, which is proved" in readme


def test_without_the_judge_answers_get_worse_as_the_pages_say() -> None:
    """No answer through the paper's pipeline came closer to the reference than the local model's
    own, in any setting, and not even an oracle's is shown to."""
    text = " ".join(PAGES["docs/choosing.md"].split())
    assert re.search(r"With `extraction: all`.{0,120}further from the reference", text)
    assert re.search(r"perfectly .{0,40}showed no gain", text)
    against = [row for row in read_rows("What the remote adds") if row[2] == "local model alone"]
    own = [row for row in against if row[0].startswith("**the pipeline**")]
    oracle = [row for row in against if row[0].startswith("oracle remote")]
    assert {re.findall(r"`(\w+)", row[0])[0] for row in own} == {"rantext", "rantext_ldp"}
    assert all(float(row[4].split()[0]) < 0 for row in own)
    assert len(oracle) == len(own)
    assert all(row[5] == "no" or float(row[4].split()[0]) < 0 for row in oracle)
