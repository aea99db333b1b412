"""Samples are read as written; what is wrong with a file is named, its text never is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.harness.datasets import (
    OPEN_ENDED,
    Authored,
    DataError,
    Sample,
    digest,
    read_authored,
    read_open_ended,
    read_samples,
)

REAL = Path(__file__).parents[4] / "shared" / "data" / "open_ended"
SECRET = "Vera Okonkwo"
ENTRY = {
    "id": "a-1",
    "prefix": f"{SECRET} went home",
    "continuation": " and slept.",
    "document": f"{SECRET} went home and slept. Then it rained.",
}


def lines(*entries: Any) -> bytes:
    return "".join(json.dumps(e, ensure_ascii=False) + "\n" for e in entries).encode()


def without(key: str) -> dict[str, str]:
    return {k: v for k, v in ENTRY.items() if k != key}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(content: bytes) -> Path:
        path = tmp_path / "set.jsonl"
        path.write_bytes(content)
        return path

    return write


def test_samples_come_in_the_files_order_with_every_character(write):
    odd = ENTRY | {"id": "0", "prefix": "é\u2028\u0085\x0b\n\t\U0001f600 ", "more": [1]}
    first, second = read_samples(write(lines(ENTRY, odd)))
    assert first == Sample(**ENTRY)
    assert second == Sample(**{k: v for k, v in odd.items() if k != "more"})


@pytest.mark.parametrize("end", [b"", b"\n\n \n", b"\r\n"])
def test_empty_lines_and_the_last_lines_end_do_not_matter(write, end):
    body = lines(ENTRY).rstrip(b"\n")
    assert read_samples(write(b"\n" + body + end)) == [Sample(**ENTRY)]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (b'{"prefix": "Vera Okonkwo\n', "not JSON at character 12"),
        (SECRET.encode() + b"\n", "not JSON at character 1"),
        (b'{"prefix": "Vera Okonkwo \xff"}\n', "not UTF-8 at byte 26"),
        (lines([SECRET]), "must be an object, is an array"),
        (lines(SECRET), "must be an object, is a string"),
        (lines(None), "must be an object, is null"),
        (lines(without("document")), "'document' is missing"),
        (lines(without("id")), "'id' is missing"),
        (lines(ENTRY | {"id": 7}), "'id' must be a string, is a number"),
        (lines(ENTRY | {"id": True}), "'id' must be a string, is true"),
        (lines(ENTRY | {"prefix": None}), "'prefix' must be a string, is null"),
        (lines(ENTRY | {"document": {SECRET: 1}}), "'document' must be a string, is an object"),
        (lines(ENTRY | {"continuation": ""}), "'continuation' is empty"),
        (lines(ENTRY | {"prefix": "other"}), "the value of 'id' is a duplicate"),
    ],
)
def test_a_bad_line_is_named_by_file_number_key_and_kind_and_never_quoted(write, bad, words):
    path = write(lines(ENTRY) + b"\n" + bad)
    with pytest.raises(DataError) as caught:
        read_samples(path)
    assert str(caught.value) == f"{path}, line 3: {words}"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_a_file_without_samples_is_refused(write, content):
    path = write(content)
    with pytest.raises(DataError) as caught:
        read_samples(path)
    assert str(caught.value) == f"{path}: no samples"


@pytest.mark.parametrize("read", [read_samples, lambda path: digest([path])])
def test_a_file_that_cannot_be_read_is_named(tmp_path, read):
    with pytest.raises(DataError, match=r"missing\.jsonl: cannot be read \(No such file"):
        read(tmp_path / "missing.jsonl")
    with pytest.raises(DataError, match=r"cannot be read \(Is a directory\)"):
        read(tmp_path)


def test_the_three_sets_are_read_by_name(tmp_path):
    for name in OPEN_ENDED:
        (tmp_path / f"{name}.jsonl").write_bytes(lines(ENTRY | {"id": name}))
    sets = read_open_ended(tmp_path)
    assert {name: [s.id for s in samples] for name, samples in sets.items()} == {
        name: [name] for name in OPEN_ENDED
    }
    (tmp_path / "arxiv.jsonl").unlink()
    with pytest.raises(DataError, match=r"arxiv\.jsonl: cannot be read"):
        read_open_ended(tmp_path)


def test_the_digest_is_the_sha256_of_the_files_sha256s_a_line_each(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"one")
    b.write_bytes(b"two")
    inner = [hashlib.sha256(content).hexdigest() for content in (b"one", b"two")]
    assert digest([a, b]) == hashlib.sha256(f"{inner[0]}\n{inner[1]}\n".encode()).hexdigest()


def test_the_digest_depends_on_content_order_and_seams_and_not_on_names(tmp_path):
    def of(*contents: bytes, prefix: str = "x") -> str:
        paths = [tmp_path / f"{prefix}{i}" for i in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        return digest(iter(paths))

    assert of(b"ab", b"c") == of(b"ab", b"c", prefix="y")
    assert len({of(b"ab", b"c"), of(b"c", b"ab"), of(b"a", b"bc"), of(b"abc"), of()}) == 5


@pytest.mark.skipif(not REAL.exists(), reason="the development data is not here")
def test_the_development_sets_are_of_this_form_and_their_parts_fit_together():
    sets = read_open_ended(REAL)
    assert {name: len(samples) for name, samples in sets.items()} == {
        "cnn_dailymail": 400,
        "wikitext": 250,
        "arxiv": 400,
    }
    for sample in (sample for samples in sets.values() for sample in samples):
        assert sample.document.startswith(sample.prefix + sample.continuation)


# -- texts with their authors ---------------------------------------------------------------


def test_authored_texts_are_read_in_order_and_other_keys_passed_over(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_bytes(
        lines({"author": "b", "text": "é\u2028x", "age": 4}, {"author": "a", "text": "y"})
    )
    assert read_authored(path) == [Authored("b", "é\u2028x"), Authored("a", "y")]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"author": SECRET}, "line 2: 'text' is missing"),
        ({"author": 5, "text": SECRET}, "line 2: 'author' must be a string, is a number"),
        ({"author": SECRET, "text": ""}, "line 2: 'text' is empty"),
        ([SECRET], "line 2: must be an object, is an array"),
        ({"author": "a", "text": SECRET}, "must hold texts of two authors or more"),
    ],
)
def test_what_is_wrong_with_authored_texts_is_named_and_no_text_shown(tmp_path, entry, words):
    path = tmp_path / "texts.jsonl"
    path.write_bytes(lines({"author": "a", "text": "x"}, entry))
    with pytest.raises(DataError, match=words) as caught:
        read_authored(path)
    assert SECRET not in str(caught.value)
