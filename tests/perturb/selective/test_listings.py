"""A file as a tool shows it, with numbers, signs or paths before its lines, is read as one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from perturb.selective.listings import find_in_listing, read_listing
from perturb.testing.growth import grows_linearly
from tests.perturb.selective.test_nobody import find
from tests.perturb.selective.test_ordinary import find as hide

FILES = {
    "a dump": "COPY public.people (id, full_name, date_of_birth, city) FROM stdin;\n"
    "7\tTorvald Ostrander\t1984-03-14\tLunden\n9\tJana d'Aubrac\t1999-12-30\tColmar\n\\.\n",
    "a table": "id;first_name;last_name;street\n1;Mirko;Lindner-Quill;Lange Gasse 8\n"
    "2;Jana;Ravensquill;Rote Zeile 5\n",
    "a card": "BEGIN:VCARD\nN:Ostrander;Torvald;;;\nADR;TYPE=HOME:;;Strada Lunga 22;Iasi;;700057;"
    "\n"
    "END:VCARD\n",
    "a page": "# Team\n\n| Name | Phone |\n|---|---|\n| Torvald Ostrander | +420 731 552 908 |\n"
    "| Bettany Quillfeather | +420 731 552 119 |\n",
    "settings": "[mail]\nto = torvald@ostrander.net\npassword = Ofen!Rohr-2291\nport = 25\n",
}
SHOWN: dict[str, Callable[[int, str], str]] = {
    "an arrow": lambda i, line: f"{i:6}→{line}",
    "cat -n": lambda i, line: f"{i:6}\t{line}",
    "grep -n": lambda i, line: f"src/data.txt:{i}:{line}",
}


def show(kind: str, text: str) -> str:
    return "\n".join(SHOWN[kind](i, line) for i, line in enumerate(text.split("\n"), 1))


@pytest.mark.parametrize("kind", SHOWN)
@pytest.mark.parametrize("file", FILES)
def test_a_listing_is_read_as_its_file(file: str, kind: str) -> None:
    assert find(FILES[file])
    assert find(show(kind, FILES[file])) == find(FILES[file])


@pytest.mark.parametrize("file", FILES)
def test_a_diff_is_read_as_its_file(file: str) -> None:
    lines = "\n".join(f"+{line}" for line in FILES[file].splitlines())
    assert find(f"--- /dev/null\n+++ b/data.txt\n@@ -0,0 +1,9 @@\n{lines}\n") == find(FILES[file])


def test_an_address_of_two_lines_keeps_what_is_between_them() -> None:
    text = "Wiebke Quillfeather\nLange Gasse 8\n04107 Leipzig\n"
    found = find(show("an arrow", text))
    assert "Lange Gasse 8" in found
    assert not any("→" in part for part in found)


def test_what_stands_in_a_path_is_found() -> None:
    lines = "\n".join(f"/home/tostrander/a.py:{i}:x = {i}" for i in (3, 7, 19))
    assert "tostrander" in find(lines)


@pytest.mark.parametrize(
    "text",
    [
        "1\tMira\n2\tJana\n3\tTom\n",  # a table whose first column is a number
        " id | name\n----+------\n  1 | Mira\n  2 | Jana\n  3 | Tom\n",
        "9:00 Breakfast\n9:30 Call\n10:00 Lunch\n",
        "7→9\n3→4\n5→6\n",
        "10→a\n11→b\n",  # too few
        "- a\n+ b\n c\n",
        "Total: 12 | 13 | 14\nhttps://a.example:80:x\n",
    ],
)
def test_other_numbers_before_lines_are_a_part_of_the_text(text: str) -> None:
    assert read_listing(text) is None


@pytest.mark.parametrize(
    "write",
    [
        lambda n: "".join(f"{i:6}→x\n" for i in range(n)),
        lambda n: "@@ -1 +1 @@\n" + "+x\n" * n,
        lambda n: "".join(f"src/a.py:{i}:x\n" for i in range(n)),
        lambda n: "/" * n + ":",
        lambda n: " " * n,
        lambda n: "@@" * n,
    ],
)
def test_the_time_is_linear(write: Callable[[int], str]) -> None:
    work = lambda length: find_in_listing(lambda _: (), write(length))  # noqa: E731
    assert grows_linearly(work, 20_000, seconds=0.5)


@pytest.mark.parametrize(
    "text",
    [
        " id | surname | diagnosis\n----+---------+------\n  1 | Kvamme | asthma\n"
        "  2 | Ostrander | gout\n  3 | Tarnholt | gout\n  4 | Veldkamp | acne",
        "id | dob | city\n1 | 1985-03-12 | Bergen\n2 | 1985-04-12 | Oslo\n3 | 1986-03-12 | Ulm",
        "mrn\tsurname\n200101\tKvamme\n200102\tOstrander\n200103\tTarnholt",
        "+1.212-555-0143\n+1.415-555-0199\n+1.646-555-0123",
        "089/123-45-67\n089/123-45-68\n089/123-45-69",
        "k.wiebke/pin:4821:\nk.desta/pin:4822:\nk.anna/pin:4823:",
    ],
)
def test_a_table_is_no_listing(text: str) -> None:
    """The parts of its rows are private, also where they look like numbers of lines or paths."""
    rows = [row for row in text.split("\n") if any(map(str.isdigit, row))]
    found = hide(text)
    assert sum(any(part in row for part in found) for row in rows) == len(rows)
