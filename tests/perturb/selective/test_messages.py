"""What programs exchange: fields of forms and of elements, heads of mails, messages of clinics.
Beside each text that leaves as it is stands the private text that is nearest to it."""

from __future__ import annotations

import pytest

from perturb.selective.patterns.tables import find_cells
from perturb.testing.growth import grows_linearly
from tests.perturb.selective.test_nobody import find

# By kind: a text that leaves as it is, a text like it and what is hidden in that.
KINDS = {
    "a telephone number by its key": (
        '{"phone_verified_at": 1700000000, "phoneCount": 5550123, "microphone_gain": 5550123}\n'
        "contact: 5550123222, cell_count: 5550123, telemetry_no = 5550123, mobile_id: 5550123222",
        '{"phoneNumber": "5550123222", "mobile_no": 5550123223}\n<homePhone>5550123224</homePhone>'
        "\n\\\\telephone{5550123225} phone1: 5550123226, contactNumber = 5550123227\n"
        "telephoneNumber: 555 0123 22",
        [
            *(f"555012322{digit}" for digit in "234567"),
            "555 0123 22",
        ],
    ),
    "a name in the fields of a form that is sent": (
        "last_name=last&first_name=first, last_name=surname; form.last_name=getName(x)",
        "GET /book?first_name=mirela&last_name=oduya&room=7 HTTP/1.1\n"
        "curl -F 'first_name=torvald' -F 'last_name=quennell' https://clinic.example",
        ["mirela", "oduya", "torvald", "quennell"],
    ),
    "an account by the name of its element": (
        "<total>88213456</total><version>2093.44718</version><orderTotal>4471820</orderTotal>"
        "<customerId>{id}</customerId><account_id>12</account_id>",
        "<customerId>88213456</customerId><a:account_number kind='a'>K-4471820</a:account_number>"
        "<mrn>00482913</mrn>",
        ["88213456", "K-4471820", "00482913"],
    ),
    "a name in small letters at the head of a mail": (
        "To: sales team <sales@lindenhof.example>\nFrom: no reply <noreply@lindenhof.example>\n"
        "Cc: build status <ci@lindenhof.example>",
        "To: torvald quennell <tq@lindenhof.example>\n"
        'Reply-To: "mirela oduya" <mo@lindenhof.example>',
        ["torvald quennell", "mirela oduya"],
    ),
    "a passport's lines for machines": (
        "P<PARAM<<VALUE> and C<INTEGER<<SHIFT; x<<TWO, AB<CDE<<F()",
        "P<GBRODUYA<<MIRELA<JANE<<<<<<<<<<<<<<<<<<<<<<<\n"
        "9991234567GBR8403027F2803018<<<<<<<<<<<<<<04",
        ["ODUYA<<MIRELA<JANE", "9991234567GBR8403027F2803018"],
    ),
    "where a picture was taken": (
        "Position: 51 deg 30' 26.40\" N is in London. GPS Version ID : 2.3.0.0, GPS Dilution: 1.2",
        "GPS Position                    : 51 deg 30' 26.40\" N, 0 deg 7' 39.60\" W\n"
        "GPS Latitude: 51.50733",
        ["51 deg 30' 26.40\" N, 0 deg 7' 39.60\" W", "51.50733"],
    ),
    "who spoke in a video call": (
        "09:41:02 From the office to the station : 12 min\n",
        "09:41:02 From Mirela Oduya to Everyone : hello\n"
        "09:41:09 From  Torvald Quennell  to  Everyone:\n\thi\n",
        ["Mirela Oduya", "Torvald Quennell"],
    ),
    "a patient in a message of a clinic": (
        "PID|the number of a process|its name|USER|x|CPU|0|MEM\nOBX|1|NM|718-7^Iron||13.5|g/dL",
        "MSH|^~\\&|LAB|CLINIC|||202603010900||ORU^R01|123|P|2.5\r"
        "PID|1||88213456^^^CLINIC^MR~4471820^^^CLINIC^PI||ODUYA^MIRELA^J||19840302|F|||"
        "14 LARKHILL RD^^ZIELMOUTH^^ZM12AB||5550123222\r"
        "NK1|1|QUENNELL^TORVALD|SPO||5550123223\nPV1|1|I|W^389||||004777^THORNE^BAKARI",
        [
            *("88213456", "4471820", "ODUYA", "MIRELA", "19840302", "14 LARKHILL RD", "ZIELMOUTH"),
            *("5550123222", "QUENNELL", "TORVALD", "5550123223", "THORNE", "BAKARI"),
        ],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_only_looks_private_stays_as_it_is(kind: str) -> None:
    assert [part for part in find(KINDS[kind][0]) if "@" not in part] == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_private_is_hidden(kind: str) -> None:
    _, text, private = KINDS[kind]
    found = find(text)
    assert [value for value in private if not any(value in part for part in found)] == []


@pytest.mark.parametrize("piece", ["PID|", "PID|1||2^3|A^B|\n", "PID|||||\n", "|^~"])
def test_messages_are_read_in_linear_time(piece: str) -> None:
    def work(length: int) -> None:
        for _ in find_cells(piece * (length // len(piece))):
            pass

    assert grows_linearly(work, 400_000, seconds=1.0)
