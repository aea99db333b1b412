"""The command line as a whole: groups, earlier names, help, completion, and what it imports."""

from __future__ import annotations

import inspect
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from extraction.dp_prompt import clip_bounds
from perturb import mechanism_names
from perturb.audit import accounting, figures, refute
from perturb.audit.certificate import certifiable_names
from perturb.vocabulary import vocabulary
from perturb.whole import passages
from proxy.cli.help import PANELS
from proxy.cli.main import command_line, main
from tests.limits import LIMIT
from tests.proxy.cli.commands import parse, run

ROOT = Path(__file__).resolve().parents[3]
PASSAGES = {"surrogate", "truncated_laplace", "deep_candidate"}  # they release public passages
NOT_FOR_HELP = {
    "aiohttp",
    "alembic",
    "asyncpg",
    "extraction",
    "numpy",
    "openai",
    "perturb",
    "proxy.access",
    "proxy.app",
    "proxy.config",
    "proxy.storage",
    "rich",
    "sqlalchemy",
    "tiktoken",
}


def commands(command: Any, words: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Return every command and group, by the words that name it."""
    found = [(words, command)]
    for name, below in getattr(command, "commands", {}).items():
        found += commands(below, (*words, name))
    return found


EVERY = commands(command_line())
NAMED = pytest.mark.parametrize(
    ("words", "command"), EVERY, ids=[" ".join(words) or "inferdpt" for words, _ in EVERY]
)


def inferdpt(*argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "proxy.cli.main", *argv],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def imported_by(code: str) -> set[str]:
    """Return the modules that a program has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('modules:', *sys.modules)"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("modules:")[2].split())


class TestImports:
    @pytest.mark.parametrize("argv", [["--help"], ["--version"], ["privacy", "--help"], ["keys"]])
    def test_help_imports_nothing_that_takes_time(self, argv: list[str]) -> None:
        found = imported_by(
            f"from proxy.cli.main import main\ntry: main({argv!r})\nexcept SystemExit: pass\n"
        )
        assert "typer" in found
        assert found & NOT_FOR_HELP == set()

    def test_serving_imports_nothing_of_the_command_line(self) -> None:
        found = imported_by("import proxy.serve, proxy.app, proxy.checkup")
        assert {"proxy.app", "aiohttp"} <= found
        assert [name for name in found if name.startswith(("typer", "proxy.cli"))] == []


class TestHelp:
    @NAMED
    def test_a_page_opens_with_a_sentence_and_ends_with_examples(
        self, words: tuple[str, ...], command: Any, capsys: Any
    ) -> None:
        with pytest.raises(SystemExit) as info:
            main([*words, "--help"])
        assert info.value.code == 0
        out = capsys.readouterr().out
        assert out.startswith(" ".join(("Usage: inferdpt", *words)))
        sentence = out.split("\n\n")[1].strip()
        assert re.match(r"[A-Z][a-z]+,? .*\.$", sentence, re.DOTALL), sentence
        options = [o for o in command.params if o.param_type_name == "option"]
        assert all(re.match(r"[A-Z][a-z]+ .*\.$", o.help) for o in options)
        examples = out.rpartition("\nExamples:\n")[2].splitlines()
        assert examples
        for line in examples:
            said = re.sub(r"\s+#.*", "", line).partition(" | ")
            part = next(p for p in (said[0], said[2]) if "inferdpt" in p).partition(" > ")[0]
            example = shlex.split(part)
            parse(*example[example.index("inferdpt") + 1 :])  # or it raises

    def test_the_commands_are_listed_in_five_groups_of_at_most_eight(self, capsys: Any) -> None:
        with pytest.raises(SystemExit):
            main(["--help"])
        listed = capsys.readouterr().out.partition("Options:")[2].partition("\nExamples:")[0]
        groups = [part.splitlines() for part in listed.split("\n\n")[1:]]
        assert [head for head, *_ in groups] == [f"{title}:" for title in PANELS]
        named = [[line.split()[0] for line in lines if line.strip()] for _, *lines in groups]
        assert all(1 <= len(names) <= 8 for names in named)
        shown = {name for name, command in command_line().commands.items() if not command.hidden}
        assert sorted(name for names in named for name in names) == sorted(shown)

    def test_it_is_plain_text_without_a_terminal(self) -> None:
        out = inferdpt("--help", FORCE_COLOR="1").stdout
        assert "serve" in out
        assert not re.search("[╭\x1b]", out)

    @pytest.mark.parametrize(("env", "drawn"), [({}, True), ({"NO_COLOR": "1"}, False)])
    def test_a_terminal_gets_panels_unless_it_wants_no_color(
        self, env: dict[str, str], drawn: bool
    ) -> None:
        ours, theirs = pty.openpty()
        variables = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
        process = subprocess.Popen(
            [sys.executable, "-m", "proxy.cli.main", "keys", "--help"],
            cwd=ROOT,
            env={**variables, "PYTHONPATH": str(ROOT), "TERM": "xterm", **env},
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        out = b""
        try:
            while part := os.read(ours, 65536):
                out += part
        except OSError:  # how a terminal on Linux ends
            pass
        assert process.wait(LIMIT) == 0
        assert b"inferdpt keys create alice" in out
        assert ("╭".encode() in out, b"\x1b[" in out) == (drawn, drawn)

    def test_the_page_in_docs_is_of_these_commands(self, tmp_path: Path) -> None:
        page = tmp_path / "cli.md"
        words = ["-m", "benchmarks.pages.command_line", "--out", str(page)]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "40"}
        subprocess.run([sys.executable, *words], cwd=ROOT, env=env, check=True, timeout=LIMIT)
        assert (ROOT / "docs" / "cli.md").read_text("utf-8") == page.read_text("utf-8"), (
            "stale: python -m benchmarks.pages.command_line --out docs/cli.md"
        )


class TestNames:
    @pytest.mark.parametrize(
        ("earlier", "now"),
        [
            *((name, f"privacy {name}") for name in (
                "perturb", "audit", "certify", "refute", "account", "clip-bounds"
            )),
            ("embeddings build", "table build"),
        ],
    )  # fmt: skip
    def test_earlier_names_are_the_same_commands(self, earlier: str, now: str) -> None:
        found = {" ".join(words): command for words, command in EVERY}
        old, new = found[earlier], found[now]
        assert [(p.name, p.opts, p.default, p.required) for p in old.params] == [
            (p.name, p.opts, p.default, p.required) for p in new.params
        ]
        assert inspect.unwrap(old.callback).__code__ is inspect.unwrap(new.callback).__code__

    def test_they_are_not_in_the_help(self) -> None:
        shown = {name for name, command in command_line().commands.items() if not command.hidden}
        assert shown == {
            *("serve", "reload", "doctor", "verify", "advise", "demo", "config", "keys", "store"),
            *("ledger", "records", "privacy", "corpus", "table", "codebook", "models"),
        }

    def test_several_texts_may_follow_one_option(self) -> None:
        found = parse("clip-bounds", "--model", "m", "--text", "a", "b", "--rule", "mean_std")
        assert [*found["text"], *found["files"]] == ["a", "b"]

    def test_a_mistyped_name_gets_a_suggestion(self) -> None:
        done = inferdpt("privacy", "audit", "--mechanim", "rantext")
        assert (done.returncode, done.stdout) == (2, "")
        assert "--mechanism" in done.stderr
        done = inferdpt("privcy")
        assert (done.returncode, done.stdout) == (2, "")
        assert "Did you mean 'privacy'?" in done.stderr


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["keys"],
        ["privacy", "refute"],
        ["privacy", "refute", "--command", "cat", "--mechanism", "rantext"],
        ["privacy", "audit"],
        ["privacy", "audit", "--mechanism", "rot13"],
        ["privacy", "clip-bounds", "--model", "m"],
        ["table", "build", "--out", "x"],
        ["table", "build", "--out", "x", "--model", "m", "--encoder", "e"],
        ["store", "purge", "--all", "--older-than", "3"],
        ["demo", "--epsilon", "much"],
        ["demo", "extra"],
    ],
)
def test_what_cannot_be_parsed_is_a_usage_error(argv: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as info:
        main(argv)
    assert info.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Usage: inferdpt" in said.err


def test_the_options_state_the_librarys_values() -> None:
    found = {" ".join(words): {p.name: p for p in command.params} for words, command in EVERY}

    def choices(command: str, option: str) -> tuple[str, ...]:
        return tuple(found[command][option].type_descriptor.choices)

    assert choices("privacy audit", "prior") == figures.PRIORS
    assert choices("privacy audit", "vocabulary") == vocabulary.ALL_VARIANTS
    assert choices("privacy clip-bounds", "rule") == clip_bounds.RULES
    assert found["privacy account"]["delta"].default == accounting.DELTA
    assert found["privacy refute"]["samples"].default == refute.SAMPLES
    assert found["table build"]["size"].default == vocabulary.DEFAULT_SIZE
    assert found["codebook build"]["words"].default == passages.WORDS


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("inferdpt pri", {"privacy"}),
        ("inferdpt keys re", {"revoke", "reopen"}),
        ("inferdpt privacy perturb --vocab", {"--vocabulary"}),
        ("inferdpt privacy perturb --mechanism ", {*mechanism_names(), *PASSAGES}),
        ("inferdpt certify --mechanism ", set(certifiable_names())),
        ("inferdpt serve --mechanism dp", {"dp_prompt"}),
        ("inferdpt audit --prior un", {"uniform", "unigram"}),
    ],
)
def test_the_shell_completes(line: str, expected: set[str]) -> None:
    words = line.split(" ")
    done = inferdpt(
        _INFERDPT_COMPLETE="complete_bash",
        COMP_WORDS=line,
        COMP_CWORD=str(len(words) - 1),
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == expected


def test_completion_can_be_shown_for_a_shell() -> None:
    done = inferdpt("--show-completion", "bash", SHELL="/bin/bash")
    assert "Missing" not in done.stderr


def test_a_key_is_never_echoed(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path))
    assert main(["keys", "create", "alice"]) == 0
    key = capsys.readouterr().out.split()[-1]
    assert main(["keys", "revoke", key]) == 2  # the key where its id is meant
    said = capsys.readouterr()
    assert key not in said.out + said.err
    assert "as `keys list` shows it" in said.err


def test_errors_pass_where_nobody_turns_them_into_a_status() -> None:
    from perturb import ParameterError

    with pytest.raises(ParameterError, match="epsilon must be > 0"):
        run("account", "--tokens", "5", "--epsilon", "0")
