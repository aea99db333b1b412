"""Sections of docs/performance.md that have records of their own."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.first_token import FirstToken
from benchmarks.harness.markdown import format_table
from benchmarks.load.conversations import Conversations
from benchmarks.load.figures import Verdict
from benchmarks.load.soak import Soak
from benchmarks.load.streams import CHUNKS, EVERY, Streams
from benchmarks.samplers import ARTICLE_WORDS, GOALS, LONG, Samplers

__all__ = [
    "code",
    "short",
    "show_conversations",
    "show_first_token",
    "show_samplers",
    "show_soak",
    "show_streams",
]


def show_conversations(conversations: Conversations | None) -> Iterator[str]:
    """Yield what the turns of an agent cost."""
    if conversations is None:
        return
    found = conversations.rows
    rows = []
    for turn in dict.fromkeys(row.turn for row in found):
        times = ("kilobytes", "turn_ms", "again_ms", "alone_ms")
        size, first, again, alone = (conversations.median(turn, of) for of in times)
        rows.append(
            [str(turn), f"{size:.0f} kB", *map(short, (first, again, alone, first / alone))]
        )
    yield "## Agents' conversations\n"
    yield (
        "A coding agent sends its whole conversation with every turn, through the gateway with "
        "`selective` and its defaults, the detector among them. Milliseconds of processor time, "
        f"medians of {len({row.round for row in found})} conversations, at commit "
        f"{conversations.machine['commit']}. *The new part alone* is a conversation that holds "
        "just such a file as the turn adds.\n"
    )
    heads = ["request", "the turn", "the same again", "the new part alone"]
    yield format_table(["turn", *heads, "the turn ÷ its new part"], rows) + "\n"


def show_streams(streams: Streams | None) -> Iterator[str]:
    """Yield what a chunk of a streamed answer costs."""
    if streams is None:
        return
    rows = []
    for number in dict.fromkeys(row.at_once for row in streams.rows):
        through, direct = (streams.median(number, of) for of in ("chunk_us", "direct_us"))
        rows.append([str(number), *map(short, (through, direct, through - direct))])
    yield "## Streamed answers, chunk by chunk\n"
    yield (
        f"Answers of {CHUNKS:,} chunks of a word each, every {EVERY}th a replacement that is "
        "brought back, through the gateway with `selective`. Microseconds of processor time a "
        "chunk, of the client, the gateway and the remote together, and of the same without the "
        f"gateway; medians of {len({row.round for row in streams.rows})} rounds, at commit "
        f"{streams.machine['commit']}.\n"
    )
    heads = ["streams at once", "through the gateway", "straight from the remote"]
    yield format_table([*heads, "the gateway's share"], rows) + "\n"


def show_samplers(samplers: Samplers | None) -> Iterator[str]:
    """Yield the time of each sanitizer on an article, and whether it meets its goal."""
    if samplers is None:
        return
    rows = []
    for name, goal in GOALS.items():
        found = samplers.of(name)
        values = [row.times for row in found]
        judged = str(Verdict(values, goal is not None and max(values) <= goal))
        if goal is None:
            judged = judged.rpartition(", ")[0]
        middle = (
            statistics.median(getattr(row, of) for row in found)
            for of in ("perturb_ms", "checked_ms", "growth")
        )
        release, checked, growth = map(short, middle)
        limit = "" if goal is None else f"≤ {goal:g}"
        rows.append([code(name), release, checked, limit, judged, growth])
    unit = statistics.median(row.tiktoken_ms for row in samplers.rows)
    yield "## Sanitizers\n"
    yield (
        f"An article of {ARTICLE_WORDS:,} words, {samplers.tokens:,} tokens, at ε = 6, everything "
        f"warm, in {len(found)} rounds at commit {samplers.machine['commit']}. tiktoken encodes "
        f"it in {unit:.2f} ms; each sanitizer does that, too, draws, and checks its release. "
        f"*Growth* is the time for {LONG} articles in one document, over "
        f"{LONG} times that for one: 1 or less where it grows no faster than the text.\n"
    )
    heads = ["release, ms", "with its check, ms", "goal", "as a multiple of tiktoken's time"]
    yield format_table(["", *heads, "growth"], rows) + "\n"


def show_first_token(first: FirstToken | None) -> Iterator[str]:
    """Yield what reading the prompt ahead gains."""
    if first is None:
        return
    found = {(row.document_tokens, row.remote_seconds, row.warmed): row for row in first.rows}
    rows = []
    for tokens, seconds, warmed in found:
        if warmed:
            continue
        cold, warm = (found[tokens, seconds, each].median for each in (False, True))
        after = (f"{cold - seconds:.2f}", f"{warm - seconds:.2f}")
        times = (f"{seconds:g}", f"{cold:.2f}", f"{warm:.2f}", *after)
        rows.append([f"{tokens:,} tokens", *times])
    yield "## First token\n"
    yield (
        "Seconds from a request to the first token of its streamed answer, medians of "
        f"{len(first.rows[0].seconds)}, at commit {first.machine['commit']}. The local model is "
        "the bundled one on one core, with llama.cpp. With `local.warm_prefix` it reads the "
        "document while the remote writes, so that little is left to read afterwards, unless the "
        "remote is faster.\n"
    )
    heads = ["the remote takes", "not read ahead", "read ahead"]
    more = ["after the remote, not read ahead", "after the remote, read ahead"]
    yield format_table(["document", *heads, *more], rows) + "\n"


def show_soak(soak: Soak | None) -> Iterator[str]:
    """Yield the memory over many requests."""
    if soak is None:
        return
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    yield "## Memory over many requests\n"
    yield (
        f"{code(soak.target)} at commit {soak.machine['commit']}: {soak.requests:,} requests "
        f"with new words, chats and streams by turns, over {soak.connections} connections in "
        f"{soak.seconds / 60:.0f} minutes; {soak.late:,} late, {soak.bad:,} bad. In the second "
        f"half the memory changed by {soak.growth():+.1f} MB for 100,000 requests.\n"
    )
    heads = [f"after {share:.0%}" for share in shares]
    cells = [f"{soak.at(share):.0f} MB" for share in shares]
    yield format_table(["", *heads], [["memory", *cells]]) + "\n"


def code(name: str) -> str:
    """Return a name as code."""
    return f"`{name}`"


def short(value: float) -> str:
    """Return a figure in three digits, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
