"""The site: links fit the repository and the site, recordings are of the commands that the pages
name."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.cli.demo import DEMO_TEXT
from proxy.cli.main import main
from scripts.docs_doctests import fenced
from scripts.docs_hooks import PAGES, rewrite
from scripts.record import FOLDER, RECORDINGS, Recording, draw, plain, run

ROOT = Path(__file__).parents[1]


def text_of(svg: str) -> list[str]:
    """The lines of a drawn terminal, without blanks: runs of them are places, not text."""
    rows: dict[float, list[tuple[float, str]]] = {}
    shown = svg.partition('-matrix">')[2]
    for x, y, text in re.findall(r'<text [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)<', shown):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text)))
    lines = ["".join(text for _, text in sorted(row)) for _, row in sorted(rows.items())]
    return [line for line in map(dense, lines) if line]


def dense(line: str) -> str:
    return "".join(line.split())


@pytest.mark.parametrize(
    ("page", "link", "there"),
    [
        ("index.md", "docs/ledger.md#x", "ledger.md#x"),
        ("index.md", "docs/recordings/demo.svg", "recordings/demo.svg"),
        ("index.md", "THREAT_MODEL.md", "threat-model.md"),
        ("ledger.md", "../THREAT_MODEL.md", "threat-model.md"),
        ("ledger.md", "results.md", "results.md"),
        ("reference/perturb.md", "../mechanisms.md", "../mechanisms.md"),
        ("reference/perturb.md", "../../README.md#quickstart", "../index.md#quickstart"),
        ("index.md", "https://example.org/docs/a.md", "https://example.org/docs/a.md"),
        ("index.md", "#quickstart", "#quickstart"),
        ("index.md", "perturb/no_such.py", "perturb/no_such.py"),  # fails the strict build
    ],
)
def test_links_are_rewritten(page: str, link: str, there: str) -> None:
    assert rewrite(f"see [this]({link}).", page) == f"see [this]({there})."


def test_links_to_files_that_are_no_pages_are_text() -> None:
    assert rewrite("see [`config.yaml`](../config.yaml).", "ledger.md") == "see `config.yaml`."
    assert rewrite("see [it](examples) [now](docs/cli.md).", "index.md") == "see it [now](cli.md)."


def test_examples_in_docstrings_are_fenced() -> None:
    text = "Add.\n\n>>> add(1,\n...     2)\n3\n\nMore.\n\n    >>> 4\n    4"
    examples = (
        "```pycon\n>>> add(1,\n...     2)\n3\n```",
        "    ```pycon\n    >>> 4\n    4\n    ```",
    )
    assert fenced(text) == f"Add.\n\n{examples[0]}\n\nMore.\n\n{examples[1]}"
    assert fenced("No example.") == "No example."


def test_the_build_is_strict_about_links() -> None:
    class Loader(yaml.SafeLoader):
        pass

    settings = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Loader)
    for kind in ("nav", "links"):
        assert set(settings["validation"][kind].values()) == {"warn"}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"mkdocs build --strict$", makefile, re.MULTILINE)  # --quiet hides failures
    tiers = re.search(r"tiers=\((.*?)\)", (ROOT / ".ci" / "run").read_text("utf-8"), re.DOTALL)
    assert tiers is not None
    assert "docs" in tiers[1].split()
    assert all((ROOT / source).exists() for source in PAGES)


def test_every_recording_is_shown_and_every_one_that_is_shown_is_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("**/*.md")]
    shown = "\n".join(page.read_text("utf-8") for page in pages)
    names = set(re.findall(r"recordings/(\w+)\.", shown))
    assert names == set(RECORDINGS)
    for recording in RECORDINGS.values():
        first, _, printed = (FOLDER / f"{recording.name}.txt").read_text("utf-8").partition("\n")
        assert first == f"$ {recording.command}"
        assert printed.strip()
        assert (FOLDER / f"{recording.name}.svg").exists() == recording.picture


def test_pictures_show_what_was_printed() -> None:
    kept = (FOLDER / "demo.txt").read_text("utf-8")
    drawn = text_of((FOLDER / "demo.svg").read_text("utf-8"))
    assert drawn == [dense(line) for line in kept.splitlines() if line.strip()]
    assert dense(DEMO_TEXT) in dense(kept)


def test_the_recorded_demo_is_of_a_real_model_and_fits_a_screen() -> None:
    kept = (FOLDER / "demo.txt").read_text("utf-8")
    assert "DEMO MODEL" not in kept
    assert "smollm2-135m" in kept
    assert len(kept.splitlines()) <= 60


def test_pictures_load_nothing() -> None:
    for recording in RECORDINGS.values():
        if recording.picture:
            svg = (FOLDER / f"{recording.name}.svg").read_text("utf-8")
            assert not re.search(r"@font-face|url\((?!#)|href|<(image|script|use)\b", svg)


def test_a_command_is_recorded_as_a_terminal_shows_it() -> None:
    code = "import os, sys; print(os.get_terminal_size().columns, sys.stdout.isatty())"
    printed = run(Recording("x", f'python -c "{code}"; printf "\\033[1mbold\\033[0m <&>\\n"'))
    assert printed == "100 True\n\x1b[1mbold\x1b[0m <&>\n"
    assert plain(printed) == "100 True\nbold <&>\n"
    assert text_of(draw("x", printed)) == ["$x", "100True", "bold<&>"]


def test_a_command_that_fails_is_not_recorded() -> None:
    with pytest.raises(RuntimeError, match="no such thing"):
        run(Recording("x", "echo no such thing >&2; exit 1"))
    assert run(Recording("x", "echo no; exit 1", status=1)) == "no\n"


@pytest.mark.parametrize("name", ["account", "certify"])
def test_figures_on_the_pages_are_what_the_code_computes(
    name: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(RECORDINGS[name].command)[1:]) == 0
    kept = (FOLDER / f"{name}.txt").read_text("utf-8").partition("\n")[2]
    figures = re.findall(r"\d[\d.,e-]*", kept)
    assert figures == re.findall(r"\d[\d.,e-]*", capsys.readouterr().out)
    assert len(figures) > 3
