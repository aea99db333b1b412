"""Print the steps of a demo: one run in full, or several side by side with their numbers."""

from __future__ import annotations

import itertools
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from extraction.prompts import Prompts, fill
from perturb.rounding import format_sum, format_upper
from perturb.vocabulary.stop_words import FUNCTION_WORDS
from perturb.whole.encoder import load_static

__all__ = ["Run", "Trip", "show", "show_letter"]

INDENT = " " * 4
WIDEST = 100
_WORD = re.compile(r"[a-z]{2,}")
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
        """Return every text that left the machine."""
        return "\n\n".join(m["content"] for messages in self.sent for m in messages)

    @property
    def released(self) -> str:
        """Return the text that stood for the document in them."""
        asked = fill(Prompts().remote_continuation, document="")
        return "\n\n".join(messages[-1]["content"].removeprefix(asked) for messages in self.sent)

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
    print()
    _print_columns(
        [
            f"Replaced: {kinds}. Nothing else was changed. In the answer {receipt['restored']} "
            f"came back, {receipt['unrestored']} did not. What stays readable is not protected: "
            "selective has no ε."
        ]
    )
    _print_title("A document, with a local model", "the bundled one: it shows the path")


def show(text: str, runs: Sequence[Run]) -> None:
    """Print the document and, for each run, each step and the receipt."""
    _print_title("1. Your document", "stays on this machine")
    _print_columns([text])
    heads = [f"{r.receipt['mechanism']}: {r.size} bytes to the remote" for r in runs]
    alone = len(runs) == 1
    _print_title("2. What left the machine", heads[0] if alone else "")
    if not alone:
        _print_columns(heads, style=DIM)
    _print_columns([run.left for run in runs])
    _print_title("3. The remote's perturbed generation", "the bundled model plays the remote here")
    _print_columns([run.generation for run in runs])
    _print_title("4. The answer", "written by the local model from 1 and 3")
    _print_columns([run.answer for run in runs])
    if alone:
        _print_title("5. The receipt")
        _print_columns([_summarize(runs[0].receipt)])
        return
    _print_title("5. Side by side", "--mechanism NAME shows the receipt, and what is still learnt")
    _print_table(["", *(run.receipt["mechanism"] for run in runs)], _compare(text, runs))


def _compare(text: str, runs: Sequence[Run]) -> list[list[str]]:
    """Return the rows of the table of numbers."""
    encode = load_static()
    own = _find_words(text)

    def near(other: str) -> str:
        about, vector = encode([text, other])
        return f"{float(about @ vector):.2f}"

    shares = [len(own & _find_words(run.released)) / max(len(own), 1) for run in runs]
    bounds = [
        "no bound" if r.receipt["guarantee"] == "none" else f"ε = {format_sum(_total(r.receipt))}"
        for r in runs
    ]
    return [
        ["proved for the whole document", *bounds],
        ["your words in what left", *(f"{share:.0%}" for share in shares)],
        ["similarity of what left to your document", *(near(run.released) for run in runs)],
        ["similarity of the answer to your document", *(near(run.answer) for run in runs)],
    ]


def _find_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - FUNCTION_WORDS


def _total(receipt: dict[str, Any]) -> float:
    return float(receipt["epsilon"]["all_tokens"])


def _summarize(receipt: dict[str, Any]) -> str:
    tokens, epsilon, unit = receipt["tokens"], receipt["epsilon"], receipt["unit"]
    if unit == "document":
        released = f"{receipt['released']} public passage released"
        proved = f"ε {format_upper(epsilon['nominal'])} for the whole document"
    else:
        released = f"{receipt['released']} words released"
        proved = f"nominal ε {epsilon['nominal']:g} per token " + (
            "(no bound proved)"
            if receipt["guarantee"] == "none"
            else f"(proved: {format_upper(epsilon['per_token'])} per token, "
            f"{format_sum(_total(receipt))} for all)"
        )
    replaced = ", ".join(f"{n} {kind}" for kind, n in receipt["entities"].items())
    return (
        f"{released} by {receipt['mechanism']}, {proved}.\n{receipt['statement']}.\n"
        f"Tokens: {', '.join(f'{n} {kind}' for kind, n in tokens.items())}.\n"
        + (f"Replaced: {replaced}.\n" if replaced else "")
        + f"The remote still learns: {'; '.join(receipt['reveals'])}."
    )


def _print_title(title: str, note: str = "") -> None:
    note = f"  {_style(DIM, f'({note})')}" if note else ""
    print(f"\n{_style(BOLD, title)}{note}")


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


def _wrap(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, break_on_hyphens=False) or [""]


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for i, row in enumerate([head, *rows]):
        first, *others = (cell.ljust(w) for cell, w in zip(row, widths, strict=True))
        line = "   ".join([first, *others]).rstrip()
        print(f"{INDENT}{_style(DIM, line) if i == 0 else line}")


def _width() -> int:
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


def _style(code: str, text: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() else text
