"""`inferdpt keys export` and `import`: clients go on with their keys at another store."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proxy.access.auth import Client, Grant, Keyring, StoredKey, Terms
from proxy.access.key_lines import read_keys, write_line
from proxy.cli.main import main
from proxy.config.settings import Server
from proxy.config.store import Budget
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError, ConfigError
from proxy.storage.opening import open_store
from tests.databases import database, dump, postgres_url

__all__ = ["database", "postgres_url"]

GRANT = Grant(
    mechanisms=("rantext_ldp",),
    epsilon_max=8.0,
    deny=("Bluebird-zzq",),
    budget=Budget(day=5.0),
    thresholds={"PERSON": 0.3},
)
FRONT_END = Terms(on_behalf=True, label="chat = +1", owner="Zoë Roe", seconds=3600.0)
LINE = {"id": "1f2e3d4c5b6a", "sha256": "ab" * 32, "tenant": "alice"}


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def spell(keys: Sequence[StoredKey]) -> str:
    return "".join(write_line(key) + "\n" for key in keys)


async def client_of(keyring: Keyring, key: str) -> Client | None:
    await keyring.required()
    try:
        return await keyring.client(f"Bearer {key}", ["u1"] if keyring.locked else [])
    except ApiError:
        return None


async def test_every_client_goes_on_with_its_key(
    database: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under another secret, with the same limits, ends and notes; a revoked key stays revoked."""
    with monkeypatch.context() as patch:
        patch.setenv("INFERDPT_SECRET", "5b" * 32)
        async with open_store(Settings(folder=str(tmp_path / "old"))) as old:
            keyring = Keyring(old, Server())
            made = [
                await keyring.create("alice", GRANT),
                await keyring.create("chat", Grant(requests_per_minute=3.0), FRONT_END),
                await keyring.create("bob", Grant()),
            ]
            before = [await client_of(keyring, key) for _, key in made]
            await keyring.revoke(made[2][0])
            text = spell(await keyring.list_keys())
    for _, key in made:
        assert key.split("-", 3)[3] not in text
    async with open_store(Settings(**database)) as new:
        assert new.secret != old.secret
        keyring = Keyring(new, Server())
        await keyring.adopt(read_keys(text.encode()), only_check=True)
        assert not await keyring.required()
        await keyring.adopt(read_keys(text.encode()))
        assert [await client_of(keyring, key) for _, key in made] == [*before[:2], None]
        assert spell(await keyring.list_keys()) == text
        assert b"Bluebird" not in await dump(new)


@pytest.mark.parametrize("again", ["id", "sha256"])
async def test_all_or_none(database: dict[str, Any], again: str) -> None:
    other = {"id": "aaaaaaaaaaaa", "sha256": "cd" * 32, "tenant": "bob"}
    file = f"{json.dumps(other)}\n\n{json.dumps({**LINE, again: LINE[again]})}\n".encode()
    if again == "sha256":
        file = file.replace(LINE["id"].encode(), b"bbbbbbbbbbbb")
    async with open_store(Settings(**database)) as store:
        keyring = Keyring(store, Server())
        await keyring.adopt(read_keys(json.dumps(LINE).encode()))
        for only_check in (True, False):
            with pytest.raises(ConfigError) as caught:
                await keyring.adopt(read_keys(file), only_check=only_check)
            [fault] = str(caught.value).splitlines()
            assert fault.startswith("line 3: ")
            assert LINE["id"] in fault
        assert [key.id for key in await keyring.list_keys()] == [LINE["id"]]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sk-inferdpt-zzcanaryzz", "is not valid JSON"),
        ("[1]", "must be an object of JSON"),
        ('{"id": 1, "id": 2}', "duplicate key"),
        ({**LINE, "id": "zzcanaryzz"}, "id must be 12 hexadecimal digits"),
        ({**LINE, "sha256": "sk-inferdpt-zzcanaryzz"}, "sha256 must be 64 hexadecimal digits"),
        ({**LINE, "sk-inferdpt-zzcanaryzz": ""}, "there are id, sha256, tenant"),
        ({"id": LINE["id"], "tenant": "a"}, "sha256: Field required"),
        ({**LINE, "tenant": "zzcanaryzz\n"}, "printable characters"),
        ({**LINE, "tenant": "chat::zzcanaryzz"}, "'::'"),
        ({**LINE, "label": "zzcanaryzz" * 11}, "label must be at most 100"),
        ({**LINE, "owner": 7}, "owner: Input should be a valid string"),
        ({**LINE, "on_behalf": "zzcanaryzz"}, "on_behalf: "),
        ({**LINE, "expires": "zzcanaryzz"}, "expires must be a time with its zone"),
        ({**LINE, "expires": "2030-01-31T08:00:00"}, "expires must be a time with its zone"),
        ({**LINE, "created": "0001-01-01T00:00:00+14:00"}, "created must be a time"),
        ({**LINE, "revoked": 1e30}, "revoked: Input should be a valid string"),
        ({**LINE, "grant": {"mechanisms": ["zzcanaryzz"]}}, "mechanisms must be among"),
        ({**LINE, "grant": {"burst": 3}}, "burst needs requests_per_minute"),
        ({**LINE, "grant": {"budget": {"day": "inf"}}}, "budget.day: "),
        ({**LINE, "grant": "zzcanaryzz"}, "grant: Input should be a mapping"),
    ],
)
def test_a_fault_names_its_line_and_rule_and_repeats_nothing(line: Any, words: str) -> None:
    spelled = line if isinstance(line, str) else json.dumps(line)
    for data in (f"\n{spelled}\n", f"{json.dumps(LINE)}\n{spelled}"):
        with pytest.raises(ConfigError) as caught:
            read_keys(data.encode())
        said = str(caught.value)
        assert re.match("line 2: ", said)
        assert words in said
        assert "zzcanaryzz" not in said


def test_every_fault_is_named_and_every_key_that_stands_twice() -> None:
    lines = [LINE, {**LINE, "sha256": "cd" * 32}, {**LINE, "id": "aaaaaaaaaaaa"}, {"id": "x"}]
    with pytest.raises(ConfigError) as caught:
        read_keys("\n".join(map(json.dumps, lines)).encode())
    assert str(caught.value).splitlines() == [
        "line 4: id must be 12 hexadecimal digits in small letters; sha256: Field required; "
        "tenant: Field required",
        "line 2: the id 1f2e3d4c5b6a is that of line 1, too",
        "line 3: its SHA-256 is that of line 1, too",
    ]
    with pytest.raises(ConfigError, match="no key in the file"):
        read_keys(b"\n \n")


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "old"))
    assert main(["keys", "create", "alice", "--label", "laptop", "--deny", "Bluebird"]) == 0
    key = capsys.readouterr().out.split()[-1]
    assert main(["keys", "export"]) == 0
    exported = capsys.readouterr().out
    assert key not in exported
    assert json.loads(exported)["grant"] == {"deny": ["Bluebird"]}
    file = tmp_path / "keys.jsonl"
    file.write_text(exported)
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "new"))
    assert main(["keys", "import", str(file), "--dry-run"]) == 0
    assert capsys.readouterr().out == "1 key would be imported; nothing is changed\n"
    assert main(["keys", "list"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["keys", "import", str(file)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("imported: 1 key, 1 in force\nThere was no key before.")
    assert main(["keys", "export"]) == 0
    assert capsys.readouterr().out == exported
    for option in ([], ["--dry-run"]):
        assert main(["keys", "import", str(file), *option]) == 2
        err = capsys.readouterr().err
        assert "keys.jsonl: no key is imported\nline 1: the key" in err
        assert "is in the store already" in err
    write(file, {**LINE, "revoked": "2030-01-31T08:00:00+00:00"})
    assert main(["keys", "import", str(file)]) == 0
    assert capsys.readouterr().out == ("imported: 1 key, 0 in force\nkeys required, 1 in force\n")
    write(file, {"id": "x"})
    assert main(["keys", "import", str(file)]) == 2
    assert "line 1: id must be" in capsys.readouterr().err
    assert main(["keys", "import", "elsewhere.jsonl"]) == 2
    assert "elsewhere.jsonl: No such file" in capsys.readouterr().err


def test_hashes_are_no_part_of_a_repr(tmp_path: Path) -> None:
    [key] = read_keys(json.dumps(LINE).encode()).values()
    assert LINE["sha256"] not in repr(key)

    async def list_them() -> Sequence[StoredKey]:
        async with open_store(Settings(folder=str(tmp_path / "s"))) as store:
            keyring = Keyring(store, Server())
            await keyring.adopt({1: key})
            return await keyring.list_keys()

    assert asyncio.run(list_them()) == [key]
