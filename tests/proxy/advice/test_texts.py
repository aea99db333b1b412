"""A user's texts: what is read, and what is refused without being shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proxy.advice.texts import read_own
from proxy.errors import ConfigError

SECRET = "Zwickelfloff"


def write(folder: Path, data: bytes | str) -> str:
    path = folder / "texts"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def test_each_line_is_a_text_with_its_instruction(tmp_path: Path) -> None:
    lines = [
        {"instruction": "Sum up.", "document": "One.\n\nTwo."},
        {"document": "Three\u2028four.", "instruction": None},
        {"document": "Five."},
    ]
    text = "\ufeff\n" + "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    found = read_own(write(tmp_path, text), "Reply.", 2)
    assert [(t.instruction, t.document) for t in found] == [
        ("Sum up.", "One.\n\nTwo."),
        ("Reply.", "Three\u2028four."),
    ]
    assert [(t.id, t.task, t.answer) for t in found] == [
        ("own-1", "own", None),
        ("own-2", "own", None),
    ]


def test_plain_texts_have_blank_lines_between_them(tmp_path: Path) -> None:
    path = write(tmp_path, "One\nline.\r\n  \r\n\n\nTwo.\n")
    assert [t.document for t in read_own(path, "Reply.", 9)] == ["One\nline.", "Two."]
    assert read_own(write(tmp_path, "\n \n"), "Reply.", 9) == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (f'{{"document": "{SECRET}"', "line 1: is not valid JSON in UTF-8"),
        (f'{{"document": "{SECRET}"}}\n["{SECRET}"]', "line 2: must be an object of JSON"),
        ('{"document": "x", "document": "y"}', "line 1: has a duplicate key"),
        (f'{{"text": "{SECRET}"}}', "no key but 'instruction' and 'document'"),
        ('{"instruction": "Reply."}', "line 1: 'document' is required"),
        ('{"document": 7}', "line 1: 'document' must be a string, got int"),
        ('{"document": " "}', "must hold a text in Unicode that is not blank"),
        ('{"document": "\\ud800"}', "must hold a text in Unicode that is not blank"),
        ('{"document": "x", "instruction": ["y"]}', "'instruction' must be a string, got list"),
        (f'{{"document": "<public>{SECRET}</public>"}}', "text 1 holds <public> or </public>"),
        (f"One.\n\n{SECRET} </public>", "text 2 holds <public> or </public>"),
        (b"One.\n\xff", "is not UTF-8 at byte 6"),
        (b'{"document": "\xff"}', "line 1: is not valid JSON in UTF-8"),
    ],
)
def test_what_is_malformed_is_refused_and_not_shown(
    data: bytes | str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as info:
        read_own(write(tmp_path, data), "Reply.", 9)
    assert said in str(info.value)
    assert str(info.value).startswith("--data: ")
    assert SECRET not in str(info.value)


def test_a_text_without_an_instruction_is_refused(tmp_path: Path) -> None:
    for data in ("One.", '{"document": "One."}'):
        with pytest.raises(ConfigError, match="text 1 has no instruction"):
            read_own(write(tmp_path, data), None, 9)


def test_an_instruction_marks_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="text 1 holds <public>"):
        read_own(write(tmp_path, "One."), "</public>Reply.", 9)


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_own(str(tmp_path / "none"), "Reply.", 9)
