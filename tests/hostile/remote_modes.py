"""The remote's misbehaviours."""

from __future__ import annotations

import json

from tests.hostile.answers import chat, http
from tests.hostile.chat_bodies import BODIES, tiny_choices
from tests.hostile.modes import PLANTED, Mode, bodies, cuts, statuses, told, wires

__all__ = ["RETRY_AFTER", "modes"]

BAD, LIMIT = frozenset({502}), frozenset({429})
PASSING = frozenset({502, 503, 504})
# A retry cannot cure the first ones; of the others it may.
FINAL = (300, 303, 304, 305, 308, 400, 401, 403, 404, 405, 410, 413, 415, 418, 422, 451)
OTHER = (402, 408, 409, 425, 499, 500, 501, 502, 503, 504, 508, 520, 529, 599)
RETRY_AFTER = (
    *("nan", "inf", "-inf", "-1", "1e999", "1e-9", "0", "", "soon", "0x10", "1_0", "٣", "9" * 400),
    *("5, 6", "Wed, 21 Oct 2099 07:28:00 GMT", PLANTED),
)


def modes() -> list[Mode]:
    """Return every mode."""
    good = http(chat(PLANTED))
    head = good.index(b"\r\n\r\n")
    places = {
        "in the status": 7,
        "in a header": 40,
        "after the headers": head + 4,
        "in a key": head + 9,
        "in the text": good.index(PLANTED.encode()) + 4,
        "before the last bracket": len(good) - 1,
    }
    quota = {"message": PLANTED, "type": "insufficient_quota", "code": "insufficient_quota"}
    limited = http(json.dumps({"error": quota}).encode(), status="429 Too Many Requests")
    return [
        *wires(chat(PLANTED)),
        *bodies(BODIES, statuses=BAD),
        *statuses(dict.fromkeys(FINAL, BAD), final=True),
        *statuses(dict.fromkeys(OTHER, PASSING | LIMIT)),
        *cuts(good, places, {}),
        Mode("7.4 MB of tiny choices", lambda: http(tiny_choices(7.4)), "either"),
        Mode("74 MB of tiny choices", lambda: http(tiny_choices(74)), "either"),
        Mode("74 MB of blanks", lambda: http(b" " * 74_000_000), "error"),
        told("status 201", http(chat(PLANTED), status="201 Created"), "either"),
        told("status 204", b"HTTP/1.1 204 No Content\r\n\r\n"),
        told("status 299", http(chat(PLANTED), status="299 Odd"), "either"),
        told("status 999", http(chat(PLANTED), status="999 Odd"), "either"),
        told("status 000", http(chat(PLANTED), status="000 Odd"), "either"),
        told("no quota", limited, statuses=BAD | LIMIT),
        *(
            told(
                f"retry-after {value[:20]!r}",
                http(b"{}", "retry-after: " + value.replace("٣", "\xb3"), status="429 No"),
                statuses=LIMIT | BAD,
            )
            for value in RETRY_AFTER
        ),
        told(
            "retry-after twice",
            http(b"{}", "retry-after: 3", "retry-after: nan", status="429 No"),
            statuses=LIMIT | BAD,
        ),
    ]
