"""Coding agents in the benchmark of fidelity: their folders, their edits, controls, and counts."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from benchmarks.__main__ import main
from benchmarks.fidelity import show
from benchmarks.fidelity.agent import Agent
from benchmarks.fidelity.agents import AGENTS, Aider, ClaudeCode, Codex
from benchmarks.fidelity.coder import Coder
from benchmarks.fidelity.folders import Folder, make_folders
from benchmarks.fidelity.gateway import running_gateway, serving
from benchmarks.fidelity.measure import Fidelity
from benchmarks.fidelity.sessions import (
    Exchange,
    count_session,
    measure_agents,
    read_strings,
    run_session,
)
from perturb import load_table
from scripts.record import FOLDER, RECORDINGS
from tests.sdk_types import find_faults

ROOT = Path(__file__).parents[3]
Alter = Callable[[list[str], list[str]], tuple[list[str], list[str]]]
KEEP_ALL = {"actions": {"*": "keep"}}
MAILS = {"entities": ["EMAIL_ADDRESS"], "actions": {"*": "surrogate"}}
EACH = pytest.mark.parametrize("kind", AGENTS, ids=lambda kind: kind.name)


def rates(found: Fidelity) -> dict[str, float]:
    return {name: share.hits / share.total for name, share in found.shares.items()}


async def run_directly(
    kinds: Sequence[type[Agent]], folders: Sequence[Folder], alter: Alter | None = None
) -> Fidelity:
    """Let agents work with a remote in front of which nothing is sanitized."""
    coder, found = Coder(alter=alter), Fidelity()
    async with serving(coder.build_app()) as url, ClientSession() as session:
        for kind in kinds:
            for folder in folders:
                agent = kind(folder)
                count_session(agent, await run_session(session, url, agent, coder), found)
    return found


def test_folders_hold_a_bug_that_their_test_finds_and_much_that_is_private() -> None:
    folders = make_folders()
    assert len({folder.text for folder in folders}) == len(folders) == 20
    assert len({folder.kind for folder in folders}) >= 9
    for folder in folders:
        assert folder.text.count(folder.wrong) == 1
        assert folder.wrong not in folder.report
        assert not folder.passes(folder.text)
        assert folder.passes(folder.repaired)
        assert len(folder.private) >= 8
        shown = folder.text + folder.report
        for _, value in folder.private:
            assert value in shown
            assert value not in folder.wrong + folder.right
    assert {type_ for folder in folders for type_, _ in folder.private} == {
        *("ADDRESS", "API_KEY", "DATE_OF_BIRTH", "EMAIL", "IBAN", "IP_ADDRESS", "PASSWORD"),
        *("PERSON", "PHONE", "USERNAME"),
    }
    assert [folder.text for folder in make_folders(seed="")] == [folder.text for folder in folders]
    assert make_folders(1, seed="other")[0].text != folders[0].text


async def test_directly_every_edit_applies_and_everything_leaves() -> None:
    found = rates(await run_directly(AGENTS, make_folders()))
    for kind in AGENTS:
        assert found[f"{kind.name}: edits that apply"] == 1
        assert found[f"{kind.name}: folders whose test passes"] == 1
        assert found[f"{kind.name}: repaired files quoted exactly"] == 1
        assert found[f"{kind.name}: messages sent again unchanged"] == 1
        assert found[f"{kind.name}: private values left"] == 1
        for share in (
            *("files spoilt", "requests refused", "lines of code changed without need"),
            "lines of instructions changed",
        ):
            assert found[f"{kind.name}: {share}"] == 0


def alter_search(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Alter the line that Cursor finds the place by, and one that the others search."""
    return [*old[:-1], f"{old[-1]}?"], [f"{new[0]}?", *new[1:]]


def alter_replacement(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Alter the mail addresses in the lines that replace, except the first and the last."""
    changed = [re.sub(r"\b\w+@", "someone@", line) for line in new[1:-1]]
    return old, [new[0], *changed, new[-1]]


@EACH
async def test_an_edit_whose_search_is_altered_does_not_apply(kind: type[Agent]) -> None:
    found = rates(await run_directly([kind], make_folders(4), alter_search))
    assert found[f"{kind.name}: edits that apply"] == 0
    assert found[f"{kind.name}: folders whose test passes"] == 0
    assert found[f"{kind.name}: files spoilt"] == 0


@EACH
async def test_a_file_with_an_altered_value_counts_as_spoilt(kind: type[Agent]) -> None:
    [folder] = [folder for folder in make_folders(10) if folder.name == "reminders.py"]
    found = rates(await run_directly([kind], [folder], alter_replacement))
    assert found[f"{kind.name}: edits that apply"] == 0
    assert found[f"{kind.name}: files spoilt"] == 1


async def test_a_gateway_that_keeps_everything_spoils_nothing_and_sends_valid_bodies() -> None:
    coder, found = Coder(), Fidelity()
    async with running_gateway(load_table(), KEEP_ALL, coder.build_app()) as gateway:
        for kind in AGENTS:
            for folder in make_folders(2):
                agent = kind(folder)
                exchanges = await run_session(gateway.session, gateway.url, agent, coder)
                count_session(agent, exchanges, found)
                path = "messages" if kind is ClaudeCode else "chat/completions"
                for exchange in exchanges:
                    assert exchange.left is not None
                    assert find_faults(f"/v1/{path}", exchange.left) == []
    told = rates(found)
    for kind in AGENTS:
        assert told[f"{kind.name}: edits that apply"] == 1
        assert told[f"{kind.name}: private values left"] == 1
        assert told[f"{kind.name}: repaired files quoted exactly"] == 1
        assert told[f"{kind.name}: lines of instructions changed"] == 0


async def test_what_the_gateway_hides_is_not_counted_as_left() -> None:
    found = Fidelity()
    await measure_agents(load_table(), MAILS, make_folders(2), found)
    shares = found.shares
    assert shares["agents: private values left of type EMAIL"].hits == 0
    assert shares["agents: private values left of type EMAIL"].total > 5
    person = shares["agents: private values left of type PERSON"]
    assert person.hits == person.total > 5
    for kind in AGENTS:
        assert shares[f"{kind.name}: edits that apply"].hits == 2
        assert shares[f"{kind.name}: lines of code changed without need"].hits == 0


@EACH
async def test_through_the_gateway_every_edit_applies_and_nothing_private_leaves(
    kind: type[Agent],
) -> None:
    found = Fidelity()
    await measure_agents(load_table(), {}, make_folders(), found, [kind])
    told = rates(found)
    for name in ("edits that apply", "folders whose test passes", "repaired files quoted exactly"):
        assert told[f"{kind.name}: {name}"] == 1, name
    assert told[f"{kind.name}: private values left"] == 0
    assert found.shares[f"{kind.name}: lines of code changed without need"].hits == 0


async def test_a_refused_request_ends_a_session_and_is_counted() -> None:
    found = Fidelity()
    parameters = {"actions": {"EMAIL_ADDRESS": "refuse"}}
    await measure_agents(load_table(), parameters, make_folders(1), found, [Aider, Codex])
    shares = found.shares
    # The first request of Codex holds no file.
    for name, asked in (("aider", 1), ("Codex", 2)):
        refused = shares[f"{name}: requests refused"]
        assert (refused.hits, refused.total) == (1, asked)
        assert shares[f"{name}: edits that apply"].hits == 0
        assert f"{name}: messages sent again unchanged" not in shares


async def make_exchanges(kind: type[Agent], of: str = "Python") -> tuple[Agent, list[Exchange]]:
    coder, agent = Coder(), kind(show.find_folder(of))
    async with serving(coder.build_app()) as url, ClientSession() as session:
        return agent, copy.deepcopy(await run_session(session, url, agent, coder))


@EACH
async def test_a_message_that_is_sent_again_with_a_change_is_counted(kind: type[Agent]) -> None:
    agent, exchanges = await make_exchanges(kind)
    name = f"{kind.name}: messages sent again unchanged"
    before, after = Fidelity(), Fidelity()
    count_session(agent, exchanges, before)
    body: Any = exchanges[1].left
    # The first message stays in every later request; one of them changes on the way.
    messages = body["messages" if "messages" in body else "input"]
    messages[0]["content"] = "other"
    count_session(agent, exchanges[:2], after)
    share = after.shares[name]
    assert before.shares[name].hits == before.shares[name].total
    assert share.hits == share.total - 1


@EACH
async def test_a_line_of_code_that_is_changed_is_counted(kind: type[Agent]) -> None:
    agent, exchanges = await make_exchanges(kind)
    name = f"{kind.name}: lines of code changed without need"
    found = Fidelity()
    count_session(
        agent, [change(exchange, "out = 0.0", "out = 7.5") for exchange in exchanges], found
    )
    assert found.shares[name].hits == 1
    assert found.shares[name].total > 10


def change(exchange: Exchange, old: str, new: str) -> Exchange:
    def replace(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: replace(item) for key, item in value.items()}
        if isinstance(value, list):
            return [replace(item) for item in value]
        return value.replace(old, new) if isinstance(value, str) else value

    return Exchange(exchange.asked, replace(exchange.left), exchange.status, None, None)


def test_strings_are_found_in_json_of_any_depth() -> None:
    value = [{"a": 1, "b": ["c", '{"d": "{\\"e\\": \\"f\\"}"}', "{g"]}]
    strings = [*read_strings(value)]
    assert [text for text in strings if len(text) == 1] == [*"abcdef"]
    assert "{g" in strings


def test_the_command_measures_agents_alone(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--only", "agents", "--most", "1", "--parameters", "actions: {'*': keep}"]
    assert main(["fidelity", *given]) == 0
    told = capsys.readouterr().out
    assert "questions" not in told
    for kind in AGENTS:
        assert re.search(rf"^{kind.name}: edits that apply +100.0 %", told, re.MULTILINE)


async def test_the_tutorial_shows_what_a_run_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """If what is replaced has changed: `python -m scripts.record agent_left agent_edit …`."""
    pytest.importorskip("onnxruntime")
    monkeypatch.delenv("INFERDPT_SECRET", raising=False)
    folder = show.find_folder(show.KIND)
    agent, exchanges = await show.play(ClaudeCode, folder, show.read_settings())
    page = (ROOT / "docs" / "tutorials" / "coding-agents.md").read_text("utf-8")
    for part in ("file", "left", "edit", "patch"):
        recording = RECORDINGS[f"agent_{part}"]
        kept = (FOLDER / f"{recording.name}.txt").read_text("utf-8").partition("\n")[2]
        assert show.render(part, agent, exchanges).rstrip() == kept.rstrip()
        assert recording.command == f"python -m benchmarks.fidelity.show {part}"
        assert f'--8<-- "docs/recordings/{recording.name}.txt"' in page


@EACH
async def test_each_agents_session_can_be_shown(kind: type[Agent]) -> None:
    agent, exchanges = await make_exchanges(kind, "SQL")
    for part in show.PARTS:
        if kind is not Codex or part != "left":  # a gateway sends no responses
            assert "CREATE VIEW debtors AS" in show.render(part, agent, exchanges)


def test_a_part_of_a_session_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--agent", "Codex", "--kind", "SQL", "--parameters", "actions: {'*': keep}"]
    assert show.main(["left", *given]) == 0
    told = capsys.readouterr().out
    assert '[tool]\n{"output": "-- Patients' in told
    assert "CREATE VIEW debtors AS" in told


@pytest.mark.parametrize(
    "given",
    [
        ["--kind", "COBOL"],
        ["--parameters", "["],
        ["--parameters", "actions: {EMAIL_ADDRESS: refuse}"],
        ["--parameters", "policy: [none]"],
    ],
)
def test_a_session_that_cannot_be_shown_is_an_error(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert show.main(["edit", *given]) == 2
    assert capsys.readouterr().err.startswith("show: ")
