"""Who stands in a list, or in lines of one form, with private persons is hidden; words, places and
terms there stay."""

from __future__ import annotations

import pytest

from perturb import Span
from perturb.selective.public import find_beside
from perturb.testing.growth import grows_linearly

# The persons that are known stand between ⟨ and ⟩, those to find between ⟦ and ⟧.
FOUND = r"""
Present: ⟨Lindqvist⟩, ⟨Nakamura⟩, ⟦Kvamme⟧
Present: ⟨Lindqvist⟩; ⟦Delacroix⟧; ⟨Nakamura⟩ and ⟦Thackeray⟧
⟨Lindqvist⟩ / ⟨Nakamura⟩ / ⟦Haddadian⟧
⟨Lindqvist⟩ - ⟨Nakamura⟩ - ⟦Brandstetter⟧
Ja: ⟨Lindqvist⟩, ⟨Nakamura⟩⏎Nein: ⟦Kvamme⟧, ⟦Haddadian⟧
Early: ⟨Lindqvist⟩, ⟨Nakamura⟩; late: ⟦Kvamme⟧
Présents : ⟨Lindqvist⟩, ⟨Nakamura⟩⏎Absents : ⟦Delacroix⟧
⟨Lindqvist⟩: yes, it is.⏎⟨Nakamura⟩: no.⏎⟦Kvamme⟧: maybe
1. ⟨Lindqvist⟩⏎2. ⟨Nakamura⟩⏎3. ⟦Haddadian⟧
- ⟨Lindqvist⟩⏎- ⟨Nakamura⟩⏎- ⟦Thackeray⟧
Wed ⟨Lindqvist⟩⏎Thu ⟨Nakamura⟩⏎Fri ⟦Haddadian⟧
Room 1 ⟨Lindqvist⟩⏎Room 2 ⟨Nakamura⟩⏎Room 3 ⟦Kvamme⟧
⟨Lindqvist⟩ 1,7⏎⟨Nakamura⟩ 2,3⏎⟦Haddadian⟧ 3,0
⟨Lindqvist⟩,12⏎⟨Nakamura⟩,9⏎⟦Haddadian⟧,7
[18:00] ⟨Lindqvist⟩: hi⏎[18:01] ⟨Nakamura⟩: hi⏎[18:02] ⟦Kvamme⟧: hi
- ⟨Lindqvist⟩ to call⏎- ⟨Nakamura⟩ to write⏎- ⟦Thackeray⟧ to pay
⟦Ada Winter⟧⏎⟨Tamsin Achterberg⟩
⟨Tamsin Achterberg⟩⏎⟦Amy Stone⟧
{"guests": "⟨Tamsin Achterberg⟩\n⟦Amy Stone⟧"}
1. ⟨Tamsin Achterberg⟩⏎2. ⟦Grace Baker⟧
- ⟦Mark Rose⟧⏎- ⟨Tamsin Achterberg⟩
⟨Tamsin Achterberg⟩⏎⟨Oskar Thackeray⟩⏎⟦Grace Baker⟧
{"name": "⟨Lindqvist⟩, ⟦Sunniva⟧"}
<name>⟨Lindqvist⟩, ⟦Tamsin⟧</name>
<td>⟨Lindqvist⟩, ⟦Oskar⟧</td>
{"name": "⟨Lindqvist⟩, Grace"}
{"place": "⟨Lindqvist⟩, Georgia"}
{"note": "⟨Lindqvist⟩, Oskar came"}
["⟨Lindqvist⟩", "Sunniva"]
Present: ⟨Lindqvist⟩, ⟨Nakamura⟩, Monday
I saw ⟨Lindqvist⟩ and ⟨Nakamura⟩ in Berlin, Hamburg and Munich.
⟨Lindqvist⟩, ⟨Nakamura⟩. Stack: Python, Kubernetes, Terraform, Ansible.
Present: ⟨Lindqvist⟩, ⟨Nakamura⟩⏎Place: London, Paris, Rome
⟨Lindqvist⟩: yes⏎⟨Nakamura⟩: no⏎Note: ask again⏎Total: 2
⟨Lindqvist⟩: ja⏎⟨Nakamura⟩: nein⏎Ergebnis: offen
1. ⟨Lindqvist⟩⏎2. ⟨Nakamura⟩⏎3. Conclusion
- ⟨Lindqvist⟩ to call⏎- ⟨Nakamura⟩ to write⏎- Everybody to read
Mon ⟨Lindqvist⟩⏎Tue ⟨Nakamura⟩⏎Wed Closed
⟨Lindqvist⟩, ⟨Nakamura⟩, Kubernetes
⟨Lindqvist⟩; ⟨Nakamura⟩; Netherlands
⟨Lindqvist⟩ 12⏎⟨Nakamura⟩ 9⏎Total 21
18:00 ⟨Lindqvist⟩: hi⏎18:01 ⟨Nakamura⟩: hi⏎18:02 Reminder: standup
Hi ⟨Lindqvist⟩ and ⟨Nakamura⟩, see Confluence, Jira and Slack.
⟨Lindqvist⟩, Kvamme, Haddadian
⟨Lindqvist⟩, ⟨Nakamura⟩, Kvamme, Haddadian, Brandstetter, Ostergaard
Kvamme, Haddadian, Brandstetter
⟨Tamsin Achterberg⟩⏎Rose Cottage
⟨Tamsin Achterberg⟩⏎Art Director
⟨Tamsin Achterberg⟩⏎Grace Period
⟨Tamsin Achterberg⟩⏎Virginia Beach
⟨Tamsin Achterberg⟩⏎Project Manager
1. ⟨Tamsin Achterberg⟩⏎2. Next Steps
1. ⟨Tamsin Achterberg⟩⏎2. Open Questions
⟨Tamsin Achterberg⟩⏎Ruby Developer and more
"""


def read_marked(line: str) -> tuple[str, list[Span], list[Span]]:
    """Return a text, its known persons and those to find."""
    text, spans = "", dict[str, list[Span]](zip("⟨⟦", ([], []), strict=True))
    kind, start = "", 0
    for character in line.replace("⏎", "\n"):
        if character in spans:
            kind, start = character, len(text)
        elif character in "⟩⟧":
            spans[kind].append(Span(start, len(text), "PERSON"))
        else:
            text += character
    return text, *spans.values()


@pytest.mark.parametrize("line", FOUND.strip().splitlines())
def test_who_stands_beside_private_persons_is_one(line: str) -> None:
    text, known, wanted = read_marked(line)
    assert sorted(find_beside(text, known, known)) == wanted


def test_what_is_found_as_a_place_is_no_person() -> None:
    text, known, _ = read_marked("⟨Lindqvist⟩, ⟨Nakamura⟩, Drevholm")
    place = Span(text.index("Drevholm"), len(text), "LOCATION")
    assert find_beside(text, [*known, place], known) == []


@pytest.mark.parametrize(
    "piece",
    ["Lindqvist, ", "Lindqvist\n", "1. Lindqvist\n", "Tamsin Achterberg\\n", "\nA b: Lind, "],
)
def test_lists_take_time_linear_in_the_text(piece: str) -> None:
    known = [Span(0, 9, "PERSON"), Span(11, 20, "PERSON")]

    def work(length: int) -> object:
        return find_beside((piece * length)[:length], known, known)

    assert grows_linearly(work, 20_000, seconds=0.02)
