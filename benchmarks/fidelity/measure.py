"""Send texts through the gateway and count: what leaves, what is changed, what comes back."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tqdm import tqdm

from benchmarks.fidelity.gateway import Gateway, Trip, running_gateway
from benchmarks.finding import Share
from benchmarks.harness.datasets import DataError, read_entries
from perturb import EmbeddingTable
from proxy.cli.help import lay_out

__all__ = [
    "Case",
    "Fidelity",
    "count_changed",
    "count_left",
    "measure",
    "read_cases",
    "read_parameters",
    "read_set",
    "render",
]

OWN = ("questions", "code", "files", "asked", "private", "named")
ASKED = "asked"  # prompts full of the names of well-known persons, characters, places and firms
PROMPTS = Path("pii/pupa_dev.jsonl")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Case:
    """Hold a text to send.

    Attributes:
        set: its file.
        kind: what sort of text it is.
        names: the proper names in an ordinary text.
        private: what must not leave: the type and the value of each.
        keep: what must leave as it is.
        units: private strings in small letters, each looked for as whole words (PUPA).
    """

    set: str
    kind: str
    text: str
    names: tuple[str, ...] = ()
    private: tuple[tuple[str, str], ...] = ()
    keep: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


def read_cases(data: Path | None = None, most: int | None = None) -> list[Case]:
    """Read the texts beside this module, and the prompts of `pii/pupa_dev.jsonl` in a folder.

    Args:
        data: the folder; None for the texts beside this module alone.
        most: how many prompts of the folder's, and of each own file's texts, are read.

    Raises:
        DataError: a file cannot be read, or a line has another form.
    """
    cases = [
        case
        for name in OWN
        for case in read_set(Path(__file__).with_name(f"{name}.jsonl"), name)[:most]
    ]
    if data is not None and (data / PROMPTS).exists():
        cases += read_set(data / PROMPTS, "prompts")[:most]
    return cases


def read_set(path: Path, name: str) -> list[Case]:
    """Read the texts of a file; raise `DataError`."""
    return [_read_case(name, entry, place) for place, entry in read_entries(path)]


def _read_case(name: str, entry: Any, place: str) -> Case:
    try:
        case = Case(
            name,
            entry.get("kind") or entry.get("category") or "",
            entry["text"],
            tuple(entry.get("names", ())),
            tuple((type_, value) for type_, value in entry.get("private", ())),
            tuple(entry.get("keep", ())),
            tuple(entry.get("units", ())),
        )
        named = (*case.keep, *(value for _, value in case.private))
        if isinstance(case.text, str) and all(part in case.text for part in named):
            return case
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    raise DataError(f"{place}: must hold 'text', and what it names must occur in it")


def read_parameters(text: str) -> dict[str, Any]:
    """Read `privacy.parameters` in YAML without its outer braces: `policy: [regex, detector]`.

    Raises:
        DataError: it is no mapping.
    """
    try:
        made = yaml.safe_load(f"{{{text}}}")
    except yaml.YAMLError:
        made = None
    if not isinstance(made, dict):
        raise DataError("--parameters must be a mapping in YAML, such as 'policy: [regex]'")
    return made


@dataclass
class Fidelity:
    """Hold the figures of one setting.

    Attributes:
        refused: how many texts were refused.
        hits, totals: of each share, by its name.
    """

    refused: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    totals: Counter[str] = field(default_factory=Counter)

    @property
    def shares(self) -> dict[str, Share]:
        """Return the shares by name, in the order in which they were first counted."""
        return {
            name: Share(self.hits[name], total) for name, total in self.totals.items() if total
        }

    def count(self, name: str, hits: int, total: int = 1) -> None:
        """Count hits of a share."""
        self.hits[name] += hits
        self.totals[name] += total


async def measure(
    table: EmbeddingTable, parameters: Mapping[str, Any], cases: Sequence[Case]
) -> Fidelity:
    """Send every text whole and streamed through a gateway of its own, and count.

    Raises:
        ConfigError, PerturbError: the parameters are not valid, or a package is missing.
    """
    found = Fidelity()
    async with running_gateway(table, parameters) as gateway:
        for case in tqdm(cases, desc="texts", leave=False, disable=None):
            await _measure_case(gateway, case, found)
    return found


async def _measure_case(gateway: Gateway, case: Case, found: Fidelity) -> None:
    whole = await gateway.send(case.text)
    if whole.status != 200 or whole.left is None:
        found.refused += 1
        return
    count_left(case, whole.left, found)
    for trip, how in ((whole, ""), (await gateway.send(case.text, stream=True), " streamed")):
        exact = trip.status == 200 and trip.back == case.text
        found.count(f"{case.set}: comes back exactly{how}", exact)
        found.count(f"{case.set}: silently wrong{how}", _is_silent(trip, case.text))


def _is_silent(trip: Trip, text: str) -> bool:
    return trip.status == 200 and trip.back != text and not trip.counted


def count_left(case: Case, left: str, found: Fidelity) -> None:
    """Count what is private in what left for a text, and what was changed in it."""
    if case.units:
        _count_units(case, left, found)
    elif case.private or case.keep:
        shown = left.casefold()
        for type_, value in case.private:
            leaks = value.casefold() in shown
            found.count(f"{case.set}: values left", leaks)
            found.count(f"{case.set}: values left of type {type_}", leaks)
        leaks = any(value.casefold() in shown for _, value in case.private)
        found.count(f"{case.set}: texts with a leak", leaks)
        for part in case.keep:
            found.count(f"{case.set}: parts that had to stay, changed", part not in left)
        if case.kind == "json":
            found.count(f"{case.set}: JSON left valid", _is_json(left))
    else:
        found.count(f"{case.set}: unchanged", left == case.text)
        if case.set != ASKED:
            found.count(f"{case.set}: unchanged, {case.kind}", left == case.text)
        if not case.names and case.set != ASKED:
            found.count(f"{case.set}: unchanged where nothing is named", left == case.text)
        changed, total = count_changed(case.text, left)
        found.count(f"{case.set}: words changed", changed, total)


def _count_units(case: Case, left: str, found: Fidelity) -> None:
    """Count the private units of a prompt that left, and its other words that are changed."""
    raw, shown = case.text.lower(), left.lower()
    private: set[str] = set()
    for unit in case.units:
        pattern = re.compile(rf"(?<!\w){re.escape(unit)}(?!\w)")
        if pattern.search(raw):
            found.count(f"{case.set}: private units left", pattern.search(shown) is not None)
            private.update(_WORD.findall(unit))
    changed, total = count_changed(case.text, left, private)
    found.count(f"{case.set}: other words changed", changed, total)


def count_changed(text: str, left: str, but: Iterable[str] = ()) -> tuple[int, int]:
    """Count the words of a text that did not leave in their order, and all of them.

    Args:
        but: words in small letters that are not counted.

    >>> count_changed("the red house", "the blue house")
    (1, 3)
    """
    before, after = _WORD.findall(text), _WORD.findall(left)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    kept = {block.a + i for block in matcher.get_matching_blocks() for i in range(block.size)}
    but = frozenset(but)
    counted = [i for i, word in enumerate(before) if word.lower() not in but]
    return sum(i not in kept for i in counted), len(counted)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def render(figures: Mapping[str, Fidelity]) -> str:
    """Return a table in plain text, a column for each setting."""
    names = dict.fromkeys(name for found in figures.values() for name in found.shares)
    rows = [["", *figures]]
    for name in sorted(names, key=_rank):
        shares = [found.shares.get(name) for found in figures.values()]
        rows.append([name, *(_render_share(share) for share in shares)])
    rows.append(["texts refused", *(str(found.refused) for found in figures.values())])
    return lay_out(rows)


def _rank(name: str) -> tuple[int, bool]:
    """Rank a share: the sets in their order, and the whole of a set before its kinds."""
    of = name.partition(":")[0]
    return (OWN.index(of) if of in OWN else len(OWN)), ", " in name or " of type " in name


def _render_share(share: Share | None) -> str:
    if share is None:
        return "–"
    low, high = (100 * bound for bound in share.interval)
    rate = 100 * share.hits / share.total
    return f"{rate:.1f} % ({low:.1f} to {high:.1f}) {share.hits}/{share.total}"
