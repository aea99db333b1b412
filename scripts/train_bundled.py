"""Train the bundled demo model and write it for llama.cpp.

    pip install -c constraints.txt -e '.[train]'
    python scripts/train_bundled.py --corpus ../shared/data/corpus/train.jsonl.xz

The corpus is lines of `{"source", "title", "text"}`, xz-compressed. The settings are those of
`Architecture` and of the three rounds, `FIRST`, `SECOND` and `THIRD`; seeds are fixed.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import platform
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed to train

import torch  # noqa: E402
from bundled.corpus import Document, hash_file, read_corpus  # noqa: E402
from bundled.damage import Damager  # noqa: E402
from bundled.examples import ExampleMaker, join_templates  # noqa: E402
from bundled.export import SAMPLING, Weights, list_tokens, write_gguf  # noqa: E402
from bundled.model import Architecture, Llama  # noqa: E402
from bundled.nearness import Nearness  # noqa: E402
from bundled.own_output import write_all  # noqa: E402
from bundled.packing import (  # noqa: E402
    SHARED_WEIGHT,
    Tokens,
    encode_conversations,
    encode_plain,
    find_content_words,
)
from bundled.pairs import write_pairs  # noqa: E402
from bundled.preference import THIRD, prefer  # noqa: E402
from bundled.tokenizer import CHAT_TEMPLATE, train_tokenizer  # noqa: E402
from bundled.train import FIRST, SECOND, History, train, validate  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from tqdm import trange  # noqa: E402

from extraction.bundled.dequantize import read_gguf  # noqa: E402
from perturb import load_table  # noqa: E402

logger = logging.getLogger("train_bundled")

KINDS = ("extraction", "remote", "answer", "chat")
SEED = 20240817
OTHERS = 8  # conversations of the first round, in the second, for each with the model's own output
TOKENIZER_SHARE = 8  # every eighth document trains the tokenizer: 13 MB are enough for 8192


def main() -> None:
    """Read the command line and run every step."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "extraction" / "bundled")
    parser.add_argument("--steps", type=int, default=FIRST.steps, help="of the first round")
    parser.add_argument("--more-steps", type=int, default=SECOND.steps, help="of the second")
    parser.add_argument(
        "--prompts", type=int, default=THIRD.prompts, help="of each pass of the third"
    )
    parser.add_argument("--conversations", type=int, default=30_000)
    parser.add_argument(
        "--own", type=int, default=1_500, help="conversations with the model's own output"
    )
    parser.add_argument(
        "--resume",
        type=Path,
        help="a trained file to resume from, without the first round; 0 steps or prompts skip "
        "the other rounds",
    )
    parser.add_argument("--plain-bytes", type=int, default=100_000_000)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Run every step: corpus → tokenizer → examples → model → files."""
    began = time.monotonic()
    resumed = _read_report(arguments.resume) if arguments.resume else None
    first = replace(FIRST, seed=SEED, steps=0 if arguments.resume else arguments.steps)
    second = replace(SECOND, seed=SEED + 1, steps=arguments.more_steps)
    third = replace(THIRD, seed=SEED + 2, prompts=arguments.prompts)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    arguments.out.mkdir(parents=True, exist_ok=True)

    logger.info("reading the corpus")
    documents, held_out = read_corpus(arguments.corpus)
    documents = [documents[i] for i in rng.permutation(len(documents))]
    texts = ["\n".join(d.paragraphs) for d in documents]
    tokenizer = train_tokenizer(texts[::TOKENIZER_SHARE], Architecture.vocab_size)
    architecture = Architecture(vocab_size=tokenizer.get_vocab_size())  # a small corpus has less

    logger.info("making %d conversations", arguments.conversations)
    table = load_table()
    damager = Damager(table, rng)
    maker = ExampleMaker(documents, damager, rng)
    turns = [maker.make() for _ in trange(arguments.conversations, leave=False)]
    plain = encode_plain(tokenizer, _take_texts(texts, arguments.plain_bytes))
    content = find_content_words(tokenizer, plain, join_templates())
    conversations = encode_conversations(tokenizer, turns, content)
    unseen = ExampleMaker(held_out, damager, rng)
    check = {
        kind: encode_conversations(tokenizer, [unseen.make(kind) for _ in range(160)], content)
        for kind in KINDS
    }
    plain_check, bytes_per_token = _encode_held_out(tokenizer, held_out)

    logger.info("training on %d plain tokens", len(plain))
    model = Llama(architecture, compiled=True)
    if arguments.resume:
        facts, old = read_gguf(arguments.resume)
        if facts["tokenizer.ggml.tokens"] != list_tokens(tokenizer):
            raise SystemExit(f"{arguments.resume} was trained on another corpus or settings")
        model.load_state_dict({name: torch.from_numpy(w) for name, w in old.items()})
    trained = time.monotonic()
    history = train(model, plain, conversations, first)
    so_far = arguments.out / "so-far.gguf"

    if second.steps:
        logger.info("sampling %d answers from the model", arguments.own)
        write_gguf(so_far, collect_weights(model), architecture, tokenizer)
        pairs, prompts = maker.make_remote_prompts(arguments.own)
        own = [
            maker.make_extraction(prefix, generation.text, answer)
            for (prefix, answer), (generation,) in zip(
                pairs, write_all(so_far, prompts), strict=True
            )
        ]
        others = rng.permutation(len(conversations))[: OTHERS * arguments.own]
        talk = encode_conversations(tokenizer, own, content) + [conversations[i] for i in others]
        history.extend(train(model, plain, talk, second))

    preferences: list[float] = []
    about_pairs = None
    if third.prompts:
        logger.info("sampling %d answers to each of %d prompts", third.answers, third.prompts)
        write_gguf(so_far, collect_weights(model), architecture, tokenizer)
        own_answers, nearness = write_pairs(
            *(so_far, maker, Nearness(table), tokenizer, content),
            prompts=third.prompts,
            answers=third.answers,
            pairs=third.pairs,
        )
        preferences = prefer(model, own_answers, third)
        about_pairs = {
            "count": len(own_answers),
            "mean_nearness_of_all_answers": round(nearness, 4),
            "final_loss": round(float(np.mean(preferences[-50:])), 4),
        }
    trained_seconds = time.monotonic() - trained
    losses = validate(model, plain_check, check)

    so_far.unlink(missing_ok=True)
    weights = collect_weights(model)
    write_gguf(arguments.out / "model.gguf", weights, architecture, tokenizer)
    plot(history, preferences, arguments.out / "loss.png")
    report = {
        "architecture": architecture.to_dict(),
        "parameters": sum(w.size for w in weights.values()),
        "first_round": first.to_dict(),
        "second_round": second.to_dict(),
        "third_round": third.to_dict(),
        "shared_weight": SHARED_WEIGHT,
        "corpus": {
            "sha256": hash_file(arguments.corpus),
            "documents": len(documents),
            "held_out_documents": len(held_out),
            "plain_tokens": len(plain),
            "conversations": len(conversations),
            "own_output_conversations": arguments.own,
            "conversation_tokens": sum(len(c.tokens) for c in conversations),
        },
        "bytes_per_token": round(bytes_per_token, 4),
        "tokens_seen": history.tokens,
        "tokens_learnt": history.learnt,
        "preference_pairs": about_pairs,
        "resumed": resumed,
        "training_seconds": round(trained_seconds),
        "wall_seconds": round(time.monotonic() - began),
        "validation_loss_nats_per_token": {k: round(v, 4) for k, v in losses.items()},
        "validation_plain_bits_per_byte": round(
            losses["plain"] / math.log(2) / bytes_per_token, 4
        ),
        "sampling_defaults": SAMPLING,
        "chat_template": CHAT_TEMPLATE,
        "model_bytes": (arguments.out / "model.gguf").stat().st_size,
        "model_sha256": hash_file(arguments.out / "model.gguf"),
        "software": {"python": platform.python_version(), "torch": torch.__version__},
    }
    (arguments.out / "training.json").write_text(json.dumps(report, indent=2) + "\n")
    logger.info("done: %s", {k: round(v, 3) for k, v in losses.items()})


def collect_weights(model: Llama) -> Weights:
    """Return the parameters, by transformers' names."""
    return {name: p.detach().numpy() for name, p in model.named_parameters()}


def _read_report(model: Path) -> dict[str, Any]:
    """Return the known facts of a file's training: its digest, and, from the report beside it if
    it describes this very file, its figures."""
    path, digest = model.with_name("training.json"), hash_file(model)
    known = json.loads(path.read_text()) if path.exists() else {}
    if known.get("model_sha256") != digest:
        known = {}
    wanted = ("tokens_seen", "tokens_learnt", "training_seconds", "resumed")
    return {"sha256": digest, **{k: known[k] for k in wanted if k in known}}


def plot(history: History, preferences: list[float], path: Path) -> None:
    """Draw the loss curves: by tokens, with a line where the length of the rows changes, and by
    preferences. Skipped rounds have no curve."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lengths = np.flatnonzero(np.diff(history.lengths))
    curves: tuple[tuple[str, list[float], Iterable[int]], ...] = (
        ("training loss (nats per token)", history.losses, lengths),
        ("preference loss (nats per pair)", preferences, ()),
    )
    drawn = [curve for curve in curves if curve[1]]
    figure, axes = pyplot.subplots(
        len(drawn), figsize=(7, 4 * len(drawn)), layout="constrained", squeeze=False
    )
    for (label, losses, lines), axis in zip(drawn, axes[:, 0], strict=True):
        width = min(25, len(losses))
        smooth = np.convolve(losses, np.ones(width) / width, mode="valid")
        axis.plot(losses, color="0.8", linewidth=0.6, label="each step")
        steps = np.arange(width - 1, len(losses))
        axis.plot(steps, smooth, color="C0", label=f"mean of {width} steps")
        for i in lines:
            axis.axvline(i, color="0.6", linestyle=":", linewidth=1)
        axis.set(xlabel="step", ylabel=label)
        axis.legend()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _take_texts(texts: list[str], limit: int) -> list[str]:
    """Return texts from the front, about `limit` characters in all."""
    sizes = np.cumsum([len(text) for text in texts])
    return texts[: int(np.searchsorted(sizes, limit)) + 1]


def _encode_held_out(tokenizer: Tokenizer, held_out: list[Document]) -> tuple[Tokens, float]:
    """Return tokens of held-out text, and the mean number of bytes per token (end tokens
    counted)."""
    texts = ["\n".join(d.paragraphs)[:4000] for d in held_out]
    tokens = encode_plain(tokenizer, texts)
    return tokens, sum(len(text.encode()) for text in texts) / len(tokens)


if __name__ == "__main__":
    main()
