"""Print the steps of a demo: a letter's way through the gateway, and a document's whole path."""

from __future__ import annotations

import itertools
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perturb.release import format_sum, format_upper

__all__ = ["Run", "Trip", "show", "show_letter"]

INDENT = " " * 4
WIDEST = 100
SHOWN = 1  # of what the remote still learns
BOLD, DIM = "1", "2"


@dataclass(frozen=True)
class Run:
    """Hold what happened to a text under one mechanism.

    Attributes:
        sent: the messages of each request to the remote.
        size: the bytes of these requests.
        answer: the final answer.
        receipt: the full receipt.
    """

    sent: Sequence[Sequence[dict[str, str]]]
    size: int
    answer: str
    receipt: dict[str, Any]

    @property
    def left(self) -> str:
        """Return every text that left the machine; of the system's only the length, since it is
        the same for every document."""
        return "\n".join(
            f"[{len(m['content'])} characters of instructions, the same for every document]"
            if m["role"] == "system"
            else m["content"]
            for messages in self.sent
            for m in messages
        )

    @property
    def generation(self) -> str:
        """Return the remote's generation."""
        return self.receipt["exchanges"][0]["generation"] or "(nothing)"


@dataclass(frozen=True)
class Trip:
    """Hold the way of a letter through the gateway.

    Attributes:
        left: what the remote received for the letter.
        answered: the remote's answer.
        got: the answer that the client got.
        receipt: the full receipt.
    """

    left: str
    answered: str
    got: str
    receipt: dict[str, Any]


def show_letter(letter: str, trip: Trip) -> None:
    """Print a letter beside what left, and the remote's answer beside what the client got."""
    _print_title("A letter through the gateway", "needs no local model")
    _print_columns(["your letter", "what left the machine"], style=DIM)
    _print_columns([letter, trip.left])
    print()
    _print_columns(["the remote's answer, by a program here", "what you get"], style=DIM)
    _print_columns([trip.answered, trip.got])
    receipt = trip.receipt
    kinds = ", ".join(f"{n} {kind}" for kind, n in receipt["entities"].items())
    _print_columns(
        [
            f"Replaced: {kinds}. {receipt['restored']} came back, {receipt['unrestored']} did "
            "not. The rest left as it is, without protection: no ε."
        ],
        style=DIM,
    )
    print()


def show(text: str, run: Run, name: str) -> None:
    """Print a request, each step of its way, and the receipt.

    Args:
        text: what the user wrote.
        name: the model in both roles.
    """
    _print_title("A document, with a local model", f"{name} plays the remote, too")
    _print_step("1. Your request", "the document stays on this machine", text)
    note = f"{run.receipt['mechanism']}: {run.size} bytes to the remote"
    _print_step("2. What left the machine", note, run.left)
    _print_step("3. The remote's answer to that", f"written by {name}", run.generation)
    how = f"by {name}: the better of two, of which one may use 3"
    _print_step("4. Your answer", how, run.answer)
    _print_step("5. The receipt", _state_release(run.receipt), _summarize(run.receipt))


def _total(receipt: dict[str, Any]) -> float:
    return float(receipt["epsilon"]["all_tokens"])


def _state_release(receipt: dict[str, Any]) -> str:
    released, epsilon = receipt["released"], receipt["epsilon"]
    nominal = format_upper(epsilon["nominal"])
    if receipt["unit"] == "document":
        return f"{released} public passage, ε = {nominal} for the whole document"
    if receipt["guarantee"] == "none":
        return f"{released} words, nominal ε {nominal} per token: no bound is proved"
    proved = (
        f"{format_upper(epsilon['per_token'])} per token, {format_sum(_total(receipt))} for all"
    )
    return f"{released} words, nominal ε {nominal}, proved: {proved}"


def _summarize(receipt: dict[str, Any]) -> str:
    reveals = receipt["reveals"]
    replaced = ", ".join(f"{n} {kind}" for kind, n in receipt["entities"].items())
    more = f"; and {len(reveals) - SHOWN} more" if len(reveals) > SHOWN else ""
    return (
        f"Replaced: {replaced}.\n" if replaced else ""
    ) + f"The remote still learns: {'; '.join(reveals[:SHOWN])}{more}."


def _print_title(title: str, note: str = "") -> None:
    note = f"  {_style(DIM, f'({note})')}" if note else ""
    print(f"{_style(BOLD, title)}{note}")


def _print_step(title: str, note: str, text: str) -> None:
    _print_title(title, note)
    _print_columns([text])
    print()


def _print_columns(texts: Sequence[str], style: str = "") -> None:
    """Print texts side by side, or below each other where the terminal is narrow."""
    width = _width() - len(INDENT)
    each = (width - len(INDENT) * (len(texts) - 1)) // len(texts)
    if each < 30:
        for text in texts:
            _print_columns([text], style)
        return
    columns = [
        [
            piece
            for line in text.splitlines()
            for piece in textwrap.wrap(line, each, break_on_hyphens=False) or [""]
        ]
        for text in texts
    ]
    for row in itertools.zip_longest(*columns, fillvalue=""):
        line = INDENT.join(cell.ljust(each) for cell in row).rstrip()
        print(f"{INDENT}{_style(style, line) if style else line}".rstrip())


def _width() -> int:
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


def _style(code: str, text: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() else text
