"""The measured part of the bundled model's card: tables and outputs from JSON."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.markdown import escape, format_figure, format_table
from benchmarks.harness.records import Estimate

__all__ = ["splice"]

BEGIN = "<!-- measured: python -m benchmarks.bundled_model.__main__ -->"
END = "<!-- end of what was measured -->"

WHAT = {
    "alone": "the model without a generation",
    "copied": "the damaged generation, copied",
    "extracted": "**extracted**",
    "truth": "the true continuation",
}


def splice(card: str, training: dict[str, Any], measured: dict[str, Any]) -> str:
    """Replace the text between the card's marks; return the card.

    Args:
        card: Markdown with both marks.
        training: the report of the training command.
        measured: the figures of `benchmarks.bundled_model`, and the data behind them.

    Raises:
        ValueError: a mark is missing.
    """
    for mark in (BEGIN, END):
        if card.count(mark) != 1:
            raise ValueError(f"the card must hold the mark {mark} once")
    head, _, rest = card.partition(BEGIN)
    parts = (
        _render_training(training),
        _render_perplexity(measured),
        _render_extraction(measured),
        _render_room(measured),
        _render_speed(measured),
        _render_demo(measured),
    )
    return head + "\n\n".join((BEGIN, *parts, END)) + rest.partition(END)[2]


def _render_training(t: dict[str, Any]) -> str:
    a, losses = t["architecture"], t["validation_loss_nats_per_token"]
    minutes = t["training_seconds"] / 60
    seen, learnt = _sum_runs(t, "tokens_seen"), _sum_runs(t, "tokens_learnt")
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
            f"in the last run {' and '.join(last)}, {minutes:.0f} minutes",
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
        "\n\nThese losses are of the weights before rounding to Q8_0.\n\n"
        "![the losses of the last run](loss.png)"
    )


def _sum_runs(t: dict[str, Any] | None, key: str) -> int:
    """Sum a figure over a run and the runs that it resumed."""
    return 0 if t is None else int(t.get(key, 0)) + _sum_runs(t.get("resumed"), key)


def _render_perplexity(m: dict[str, Any]) -> str:
    sets = ("all", *m["texts"])
    counts = ", ".join(f"{count} of {name}" for name, count in m["texts"].items())
    rows = [
        [name, *(_format_interval(found[part]) for part in sets)]
        for name, found in m["bits_per_byte"].items()
    ]
    return (
        "## Bits per byte\n\n"
        "Measured on prefix and continuation of texts that no model here was trained on "
        f"({counts}): means over texts with 95 % bootstrap intervals. The 4-gram model was fitted "
        "on the first 20 million tokens of the corpus.\n\n" + format_table(["", *sets], rows)
    )


def _render_extraction(m: dict[str, Any]) -> str:
    rows = [
        [
            WHAT[row["what"]]
            + (f", `{row['mechanism']}` {row['epsilon']:g}" if row["epsilon"] else ""),
            *(_format_interval(row[key]["all"], digits) for key, digits in METRICS),
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
            *(
                _format_interval(gain["similarity"][part], sign=True)
                for part in ("all", *m["texts"])
            ),
        ]
        for gain in m["gains"]
    ]
    return (
        "## Extraction\n\n"
        "In the local role the model gets the raw prefix of 50 GPT-2 tokens and a *damaged* "
        "generation: the true continuation of 100 tokens with every word passed through a "
        "mechanism. Similarity is the cosine to the true continuation, coherence the cosine to "
        "the prefix (MiniLM).\n\n"
        + format_table(head, rows)
        + "\n\nGain in similarity, paired by text; an interval above zero is a gain at the 5 % "
        "level:\n\n" + format_table(["", "all", *m["texts"]], gains)
    )


METRICS = (("similarity", 3), ("bleu", 2), ("rouge_l", 3), ("coherence", 3))


def _render_room(m: dict[str, Any]) -> str:
    beside = {"prefix": "the prefix", "alone": "the answer without it"}
    rows = [
        [
            f"`{one['mechanism']}` {one['epsilon']:g}, beside {beside[one['beside']]}",
            f"{one['weight']:.3f}",
            *(
                _format_interval(one["similarity"][part], sign=True)
                for part in ("all", *m["texts"])
            ),
        ]
        for one in m["room"]
    ]
    return (
        "### What a damaged generation holds\n\n"
        "The table shows the gain in similarity to the true continuation when the damaged text's "
        "vector is added, with one weight for all texts, to the vector of the prefix or of the "
        "model's answer without it. The weight was chosen on these texts, so the gain is if "
        "anything too large. A reader of the whole text's meaning could gain this much; one who "
        "knew which words are true might gain more.\n\n"
        + format_table(["", "weight", "all", *m["texts"]], rows)
    )


def _render_speed(m: dict[str, Any]) -> str:
    s = m["speed"]
    return (
        "## Speed\n\n"
        f"llama.cpp on {m['machine']['processors']} processors, one request at a time, medians: "
        f"an extraction of 100 tokens takes {s['answer_seconds']:.2f} s, the first token "
        f"{s['first_token_seconds']:.2f} s, then {s['tokens_per_second']:.0f} tokens a second; "
        f"the server is ready after {s['ready_seconds']:.1f} s."
    )


def _render_demo(m: dict[str, Any]) -> str:
    parts = [
        "## Twenty outputs\n\n"
        f"The whole path with `rantext` at ε = {m['demo_epsilon']:g} and the model in both roles, "
        "on texts written for this project. All outputs of one run with a fixed seed are shown."
    ]
    for number, one in enumerate(m["demo"], 1):
        fields = (
            ("text", one["text"]),
            ("sent", one["sent"]),
            ("came back", one["generation"]),
            ("extracted", one["answer"]),
        )
        parts.append(f"**{number}. {one['kind']}**")
        parts += [f"> *{name}*: {escape(value)}" for name, value in fields]
    return "\n\n".join(parts)


def _format_interval(values: list[float], digits: int = 3, *, sign: bool = False) -> str:
    value, low, high = values
    return format_figure(Estimate(value, low, high, 1), digits, sign=sign)
