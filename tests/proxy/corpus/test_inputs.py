"""Readers: the same documents from every format, in the same blocks, and no bad record lost."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.corpus.inputs.lines import RECORD
from proxy.corpus.inputs.records import LARGEST, OURS, Columns
from proxy.corpus.inputs.source import InputFiles, find_source
from proxy.errors import ConfigError
from tests.proxy.corpus.documents import documents, write_jsonl

ROWS = documents(57)
ALL = Columns("text", "id", "owner")


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=25)
    return path


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def save_dataset(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The layout of `datasets.Dataset.save_to_disk`; the real one is read in test_ray.py."""
    path.mkdir()
    names = []
    for number, some in enumerate((rows[:30], rows[30:])):
        names.append(f"data-{number:05d}-of-00002.arrow")
        table = pa.Table.from_pylist(some)
        with pa.ipc.new_stream(path / names[-1], table.schema) as writer:
            writer.write_table(table, max_chunksize=8)
    state = {"_data_files": [{"filename": name} for name in names]}
    (path / "state.json").write_text(json.dumps(state))
    (path / "dataset_info.json").write_text("{}")
    return path


WRITERS = {
    "rows.jsonl": write_jsonl,
    "rows.parquet": write_parquet,
    "rows.csv": write_csv,
    "saved": save_dataset,
}


def read(source: InputFiles) -> pa.Table:
    return pa.concat_tables([source.read(block) for block in source.blocks()])


def column(table: pa.Table, name: str) -> list[Any]:
    return table[OURS + name].to_pylist()


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("rows", [1, 10, 100])
def test_every_format_gives_the_documents_in_order(tmp_path, name, rows):
    path = WRITERS[name](tmp_path / name, ROWS)
    source = find_source(str(path), ALL, rows)
    found = read(source)
    for field in ("text", "id", "owner"):
        assert column(found, field) == [row[field] for row in ROWS]
    assert column(found, "problem") == [None] * len(ROWS)
    blocks = list(source.blocks())
    assert blocks == list(source.blocks())
    assert [block.number for block in blocks] == list(range(len(blocks)))
    assert sum(block.count for block in blocks) == len(ROWS)
    assert all(len(source.read(block)) == block.count for block in blocks)


def kept_rows(found: pa.Table) -> list[dict[str, Any]]:
    if RECORD in found.schema.names:
        return [json.loads(value) for value in found[RECORD].to_pylist()]
    names = [name for name in found.schema.names if not name.startswith(OURS)]
    return found.select(names).to_pylist()


@pytest.mark.parametrize("name", WRITERS)
def test_other_columns_are_kept_and_the_text_never_is(tmp_path, name):
    path = WRITERS[name](tmp_path / name, ROWS)
    found = kept_rows(read(find_source(str(path), ALL, 10)))
    for row, given_ in zip(found, ROWS, strict=True):
        assert row.keys() == {"id", "owner", "kind"}
        assert {n: str(v) for n, v in row.items()} == {n: str(given_[n]) for n in row}
    dropped = find_source(str(path), Columns("text", "id", "owner", ("kind",)), 10)
    assert kept_rows(read(dropped))[0].keys() == {"id", "owner"}


def test_a_folder_of_texts_is_named_by_its_paths(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_bytes(b"one \xff")
    (tmp_path / "two.txt").write_text("two\nlines")
    (tmp_path / ".hidden.txt").write_text("not read")
    found = read(find_source(str(tmp_path), Columns(), 1))
    assert column(found, "id") == ["a/one.txt", "two.txt"]
    assert column(found, "text") == ["one \ufffd", "two\nlines"]


async def serve(folder: Path) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_static("/", folder)
    async with TestServer(app) as server:
        yield str(server.make_url("/"))


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet", "rows.csv"])
async def test_a_url_is_read_as_a_file_is(tmp_path, name):
    WRITERS[name](tmp_path / name, ROWS)
    async for url in serve(tmp_path):
        source = await asyncio.to_thread(find_source, url + name, ALL, 10)
        assert column(await asyncio.to_thread(read, source), "text") == [r["text"] for r in ROWS]
        assert await asyncio.to_thread(source.fingerprint)


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=12), st.integers(1, 5))
def test_any_text_survives_csv_and_jsonl(tmp_path_factory, texts, rows):
    folder = tmp_path_factory.mktemp("any")
    given_ = [{"id": f"n{i}", "text": text} for i, text in enumerate(texts)]
    for name in ("rows.jsonl", "rows.csv"):
        path = WRITERS[name](folder / name, given_)
        found = read(find_source(str(path), Columns("text", "id"), rows))
        assert column(found, "text") == texts, name
        assert column(found, "id") == [row["id"] for row in given_]


BAD = [
    (b'{"id": "x", "owner": "o"}', "BadText: text must be a string, got null"),
    (b'{"id": "x", "owner": "o", "text": 5}', "BadText: text must be a string, got int"),
    (b'{"id": "x", "owner": "o", "text": "\\ud800"}', "BadText: text must be valid Unicode"),
    (b'{"id": "", "owner": "o", "text": "t"}', "BadId: "),
    (b'{"id": 1.5, "owner": "o", "text": "t"}', "BadId: "),
    (b'{"id": "a\\u0000b", "owner": "o", "text": "t"}', "BadId: "),
    (b'{"id": "x", "owner": null, "text": "t"}', "BadOwner: "),
    (b'{"id": "x", "owner": "' + b"o" * 300 + b'", "text": "t"}', "BadOwner: "),
    (b'{"id": "x", "owner": "o", "text": "t", "n": NaN}', "Unreadable: "),
    (b'{"id": "x", "owner": "o", "text": "t", "n": [-1e999]}', "Unreadable: "),
    (b'{"id": "x", "owner": "o", "text": "t", "released": 1}', "Unreadable: "),
    (b'{"id": "x", "owner": "o", "text": "secretword', "Unreadable: "),
    (b"[" * 100_000, "Unreadable: "),
    (b"\xff\xfe\x00", "Unreadable: "),
    (b'"secretword"', "Unreadable: "),
    (b'{"text": "' + b"x" * LARGEST + b'"}', "Unreadable: "),
]


@pytest.mark.parametrize(("line", "problem"), BAD, ids=range(len(BAD)))
def test_a_bad_record_is_named_and_those_around_it_are_read(tmp_path, line, problem):
    good = json.dumps(ROWS[0]).encode()
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([good, b"", line, good]))
    found = read(find_source(str(path), ALL, 2))
    [none, some, last] = column(found, "problem")
    assert none is None
    assert last is None
    assert some.startswith(problem)
    assert "secretword" not in some
    assert column(found, "text")[1] is None


def test_a_row_of_csv_with_too_few_values_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text('id,owner,text\na,o,"one\n""two"""\nb,o\nc,o,three\nd,o,"never closed\n')
    found = read(find_source(str(path), ALL, 1))
    assert column(found, "text") == ['one\n"two"', None, "three", None]
    assert [p and p.partition(":")[0] for p in column(found, "problem")] == [
        None,
        "Unreadable",
        None,
        "Unreadable",
    ]


def test_a_lone_quote_in_csv_loses_no_row_silently(tmp_path):
    """Rows that it joins are refused by name; the first of them is not taken for all."""
    path = tmp_path / "rows.csv"
    path.write_text('id,text\n1,a 5" pipe\n2,a 6" pipe\n3,two\n4,"a 5"" pipe\nhere"\n')
    found = read(find_source(str(path), Columns("text", "id"), 10))
    assert column(found, "id") == ["rows.csv#0", "3", "4"]
    assert column(found, "text") == [None, "two", 'a 5" pipe\nhere']
    assert column(found, "problem")[0].startswith("Unreadable: must be a record of 2 values")


@pytest.mark.parametrize(
    ("header", "columns", "words"),
    [
        ("id,text", ALL, "--owner: the input has no column 'owner'"),
        ("id,owner,body", ALL, "--text: the input has no column 'text'"),
        ("id,owner,text,epsilon", ALL, "'epsilon', which is added"),
        ("id,owner,text,text", ALL, "a name of its own"),
        (f"id,owner,text,{OURS}key", ALL, "begins with"),
        ("id,owner,text", Columns("text", "id", "owner", ("id",)), "--drop"),
    ],
)
def test_columns_are_checked(tmp_path, header, columns, words):
    path = tmp_path / "rows.csv"
    path.write_text(header + "\na,b,c\n")
    with pytest.raises(ConfigError, match=words):
        read(find_source(str(path), columns, 10))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], "endings"),
        (["a.jsonl", "b.csv"], "endings"),
        (["a.docx"], "endings"),
        (["dataset_dict.json"], "several data sets"),
    ],
)
def test_a_folder_holds_one_format(tmp_path, files, words):
    for name in files:
        (tmp_path / name).write_text("x")
    with pytest.raises(ConfigError, match=words):
        find_source(str(tmp_path), ALL, 10)


def write_state(folder: Path, content: Any) -> None:
    (folder / "state.json").write_text(
        content if isinstance(content, str) else json.dumps(content), "utf-8"
    )


@pytest.mark.parametrize(
    "name", ["../x.arrow", "/etc/x.arrow", "inner/x.arrow", "link.arrow", "..", "", "a\0.arrow", 7]
)
def test_a_data_set_names_files_of_its_own_folder_alone(tmp_path, name):
    folder = save_dataset(tmp_path / "saved", ROWS)
    outside = save_dataset(tmp_path / "other", ROWS)
    [first, _] = sorted(outside.glob("*.arrow"))
    (tmp_path / "x.arrow").write_bytes(first.read_bytes())
    (folder / "inner").mkdir()
    (folder / "inner" / "x.arrow").write_bytes(first.read_bytes())
    (folder / "link.arrow").symlink_to(tmp_path / "x.arrow")
    write_state(folder, {"_data_files": [{"filename": name}]})
    with pytest.raises(ConfigError, match="own folder"):
        find_source(str(folder), ALL, 10)


@pytest.mark.parametrize(
    "content", ["{", "[]", {}, {"_data_files": 7}, {"_data_files": [7]}, {"_data_files": [{}]}]
)
def test_a_damaged_list_of_files_is_named(tmp_path, content):
    folder = save_dataset(tmp_path / "saved", ROWS)
    write_state(folder, content)
    with pytest.raises(ConfigError, match=r"state\.json is damaged"):
        find_source(str(folder), ALL, 10)


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        find_source(str(tmp_path / "none.jsonl"), ALL, 10)


def test_a_damaged_file_is_named_without_its_text(tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1 secretword PAR1")
    with pytest.raises(ConfigError, match="rows.parquet is damaged") as caught:
        read(find_source(str(path), ALL, 10))
    assert "secretword" not in str(caught.value)


def test_a_fingerprint_tells_that_a_file_changed(tmp_path):
    path = write_jsonl(tmp_path / "rows.jsonl", ROWS)
    before = find_source(str(path), ALL, 10).fingerprint()
    assert find_source(str(path), ALL, 10).fingerprint() == before
    write_jsonl(path, ROWS[1:])
    assert find_source(str(path), ALL, 10).fingerprint() != before
