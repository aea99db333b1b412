"""The measured part of the bundled model's card: tables and outputs from JSON."""

from __future__ import annotations

from typing import Any

from benchmarks.markdown import figure, inline, table
from benchmarks.records import Estimate

__all__ = ["splice"]

BEGIN = "<!-- measured: python -m benchmarks.bundled_model -->"
END = "<!-- end of what was measured -->"

WHAT = {
    "alone": "the model without a generation",
    "copied": "the damaged generation, copied",
    "extracted": "**extracted**",
    "truth": "the true continuation",
}


def splice(card: str, training: dict[str, Any], measured: dict[str, Any]) -> str:
    """The card with the text between its marks replaced.

    Args:
        card: Markdown with both marks.
        training: what the training command wrote.
        measured: what `benchmarks.bundled_model.measure` returned, and what it was measured on.

    Raises:
        ValueError: a mark is missing.
    """
    for mark in (BEGIN, END):
        if card.count(mark) != 1:
            raise ValueError(f"the card must hold the mark {mark} once")
    head, _, rest = card.partition(BEGIN)
    parts = (
        _training(training),
        _perplexity(measured),
        _extraction(measured),
        _room(measured),
        _speed(measured),
        _demo(measured),
    )
    return head + "\n\n".join((BEGIN, *parts, END)) + rest.partition(END)[2]


def _training(t: dict[str, Any]) -> str:
    a, losses = t["architecture"], t["validation_loss_nats_per_token"]
    minutes = t["training_seconds"] / 60
    seen, learnt = _all_sittings(t, "tokens_seen"), _all_sittings(t, "tokens_learnt")
    steps = t["first_round"]["steps"] + t["second_round"]["steps"]
    last = [f"{t['tokens_seen'] / 1e6:.1f} million tokens in {steps} steps"] if steps else []
    if t["preference_pairs"]:
        last.append(f"{t['preference_pairs']['count']} pairs of own answers")
    answers = ", ".join(
        f"{name} {losses[kind]:.3f}"
        for kind, name in (
            ("extraction", "local role"),
            ("remote", "remote role"),
            ("answer", "chat with a perturbed answer"),
            ("chat", "chat"),
        )
    )
    rows = (
        (
            "architecture",
            f"Llama, {t['parameters'] / 1e6:.1f} million parameters: "
            f"{a['num_hidden_layers']} layers, {a['hidden_size']} wide, "
            f"{a['num_attention_heads']} heads of {a['head_dim']}, "
            f"feed-forward {a['intermediate_size']}, tied embeddings, rotary positions, "
            f"context {a['max_position_embeddings']}",
        ),
        (
            "tokenizer",
            f"byte-level BPE, {a['vocab_size']} entries, {t['bytes_per_token']:.2f} bytes a token",
        ),
        ("file", f"GGUF, Q8_0, {t['model_bytes'] / 1e6:.1f} MB"),
        (
            "training",
            f"{seen / 1e6:.1f} million tokens, {learnt / 1e6:.1f} million of them learnt; "
            f"in the last sitting {' and '.join(last)}, {minutes:.0f} minutes",
        ),
        (
            "held-out plain text",
            f"{losses['plain']:.3f} nats a token, "
            f"{t['validation_plain_bits_per_byte']:.3f} bits a byte",
        ),
        ("held-out answers, nats a token", answers),
    )
    lines = ["## Training", "", "| | |", "|---|---|", *(f"| {k} | {v} |" for k, v in rows)]
    return "\n".join(lines) + (
        "\n\nThese losses are of the weights before they were rounded to Q8_0.\n\n"
        "![the losses of the last sitting](loss.png)"
    )


def _all_sittings(t: dict[str, Any] | None, key: str) -> int:
    """The sum over a run and those whose file it went on from."""
    return 0 if t is None else int(t.get(key, 0)) + _all_sittings(t.get("resumed"), key)


def _perplexity(m: dict[str, Any]) -> str:
    sets = ("all", *m["texts"])
    counts = ", ".join(f"{count} of {name}" for name, count in m["texts"].items())
    rows = [
        [name, *(_interval(found[part]) for part in sets)]
        for name, found in m["bits_per_byte"].items()
    ]
    return (
        "## Bits per byte\n\n"
        f"On prefix and continuation of texts that no model here was trained on ({counts}); means "
        "over texts with 95 % bootstrap intervals. The 4-gram model was fitted on the "
        "first 20 million tokens of the corpus.\n\n" + table(["", *sets], rows)
    )


def _extraction(m: dict[str, Any]) -> str:
    rows = [
        [
            WHAT[row["what"]]
            + (f", `{row['mechanism']}` {row['epsilon']:g}" if row["epsilon"] else ""),
            *(_interval(row[key]["all"], digits) for key, digits in METRICS),
            *(f"{value:.2f}" for value in (*row["distinct"], row["diversity"])),
        ]
        for row in m["continuations"]
    ]
    head = [
        "",
        "similarity",
        "BLEU",
        "ROUGE-L",
        "coherence",
        "distinct-1",
        "distinct-2",
        "diversity",
    ]
    gains = [
        [
            f"`{gain['mechanism']}` {gain['epsilon']:g}, over {WHAT[gain['over']]}",
            *(_interval(gain["similarity"][part], sign=True) for part in ("all", *m["texts"])),
        ]
        for gain in m["gains"]
    ]
    return (
        "## Extraction\n\n"
        "The local role: the raw prefix of 50 GPT-2 tokens and a *damaged* generation, which "
        "is the true continuation of 100 tokens with every word put through a mechanism. "
        "Similarity is the cosine to the true continuation, coherence that to the prefix "
        "(MiniLM).\n\n"
        + table(head, rows)
        + "\n\nGain in similarity, paired by text; an interval above zero is a gain at the 5 % "
        "level:\n\n" + table(["", "all", *m["texts"]], gains)
    )


def _room(m: dict[str, Any]) -> str:
    beside = {"prefix": "the prefix", "alone": "the answer without it"}
    rows = [
        [
            f"`{one['mechanism']}` {one['epsilon']:g}, beside {beside[one['beside']]}",
            f"{one['weight']:.3f}",
            *(_interval(one["similarity"][part], sign=True) for part in ("all", *m["texts"])),
        ]
        for one in m["room"]
    ]
    return (
        "### What a damaged generation holds\n\n"
        "The gain in similarity to the true continuation when the damaged text's vector is added, "
        "with one weight for all texts, to the prefix's, or to that of the model's answer without "
        "it. The weight was chosen on these texts, so that the gain is if anything too large. It "
        "is what a reader of the whole text's meaning could win; one who knew which words are "
        "true might win more.\n\n" + table(["", "weight", "all", *m["texts"]], rows)
    )


METRICS = (("similarity", 3), ("bleu", 2), ("rouge_l", 3), ("coherence", 3))


def _speed(m: dict[str, Any]) -> str:
    s = m["speed"]
    return (
        "## Speed\n\n"
        f"llama.cpp on {m['machine']['processors']} processors, one request at a time, medians: "
        f"an extraction of 100 tokens takes {s['answer_seconds']:.2f} s, the first token "
        f"{s['first_token_seconds']:.2f} s, then {s['tokens_per_second']:.0f} tokens a second; "
        f"the server is ready after {s['ready_seconds']:.1f} s."
    )


def _demo(m: dict[str, Any]) -> str:
    parts = [
        "## Twenty outputs\n\n"
        f"The whole path with `rantext` at ε = {m['demo_epsilon']:g}, the model in both "
        "roles, on texts of this project's own writing; one run with a fixed seed, none left out."
    ]
    for number, one in enumerate(m["demo"], 1):
        fields = (
            ("text", one["text"]),
            ("sent", one["sent"]),
            ("came back", one["generation"]),
            ("extracted", one["answer"]),
        )
        parts.append(f"**{number}. {one['kind']}**")
        parts += [f"> *{name}*: {inline(value)}" for name, value in fields]
    return "\n\n".join(parts)


def _interval(values: list[float], digits: int = 3, *, sign: bool = False) -> str:
    value, low, high = values
    return figure(Estimate(value, low, high, 1), digits, sign=sign)
