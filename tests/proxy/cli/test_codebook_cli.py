"""`inferdpt codebook build`, `info` and `check`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from perturb.whole.codebook import load_codebook
from proxy.cli.main import main
from proxy.cli.progress import show_progress

PROSE = (
    "The river rose in the night and the boats were tied to the bridge. By noon the water had "
    "gone down again.\n\nThe baker mixed flour and water. The oven was hot before the sun rose."
)
ARTICLE = "The court heard the case on Monday. The judge asked both sides about the law."


def build(out: Path, *texts: Path) -> int:
    argv = ["codebook", "build", *map(str, texts), "--out", str(out), "--licence", "CC0"]
    return main([*argv, "--words", "10"])


def test_a_codebook_of_texts_and_compressed_lines_is_built_shown_and_sound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prose, lines, out = tmp_path / "a.txt", tmp_path / "b.jsonl.gz", tmp_path / "x.codebook"
    prose.write_text(PROSE, "utf-8")
    lines.write_bytes(gzip.compress(json.dumps({"text": ARTICLE}).encode()))
    assert build(out, prose, lines) == 0
    book = load_codebook(str(out))
    words = [word for i in range(len(book)) for word in book.passage(i).split()]
    assert sorted(words) == sorted([*PROSE.split(), *ARTICLE.split()])
    assert book.facts["provenance"] == "a.txt, b.jsonl.gz"
    capsys.readouterr()
    assert main(["codebook", "info", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passages"] == len(book)
    assert main(["codebook", "check", str(out)]) == 0
    assert f"sound: {len(book)} passages" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        *("no JSON", "[]", "3", "null", '"text"', "{}"),
        *('{"text": 3}', '{"text": null}', '{"text": ["a"]}', '{"body": "secret words"}'),
    ],
)
def test_a_line_without_a_text_is_named_and_not_repeated(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps({'text': ARTICLE})}\n{line}\n", "utf-8")
    assert build(tmp_path / "x.codebook", path) == 2
    said = capsys.readouterr().err
    assert "a.jsonl, line 2: must be an object with a string `text`" in said
    assert "secret" not in said
    assert not (tmp_path / "x.codebook").exists()


def test_each_stage_of_a_work_has_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress() as progress:
        for done in (1, 3):
            progress("first", done, 3)
        progress("second", 4, 4)
    shown = capsys.readouterr().err
    assert "first" in shown
    assert "3/3" in shown
    assert "4/4" in shown
