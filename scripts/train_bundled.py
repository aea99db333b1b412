"""Train the bundled demo model and write it for llama.cpp.

    pip install 'torch>=2.9' tokenizers gguf safetensors matplotlib tqdm
    python scripts/train_bundled.py --corpus ../shared/data/corpus/train.jsonl.xz

The corpus is lines of `{"source", "title", "text"}`, xz-compressed. `--minutes` bounds the
wall time, so the number of steps depends on the machine; `--steps` fixes it.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import platform
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed to train

import torch  # noqa: E402
from bundled.corpus import Document, read_corpus, sha256_of  # noqa: E402
from bundled.damage import Damager  # noqa: E402
from bundled.examples import ExampleMaker  # noqa: E402
from bundled.export import SAMPLING, read_hf, write_gguf, write_hf  # noqa: E402
from bundled.model import Architecture, Llama  # noqa: E402
from bundled.packing import Tokens, encode_conversations, encode_plain  # noqa: E402
from bundled.tokenizer import CHAT_TEMPLATE, train_tokenizer  # noqa: E402
from bundled.train import Budget, History, Settings, train, validate  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

from perturb import load_table  # noqa: E402

logger = logging.getLogger("train_bundled")

KINDS = ("extraction", "remote", "answer", "chat")
SEED = 20240817
TOKENIZER_SHARE = 8  # every eighth document trains the tokenizer: 13 MB are plenty for 4096


def main() -> None:
    """Read the command line and run every step."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "extraction" / "bundled")
    parser.add_argument("--hf-out", type=Path, help="also write a transformers/vLLM folder")
    parser.add_argument("--minutes", type=float, default=35)
    parser.add_argument("--steps", type=int, help="train for so many steps, not minutes")
    parser.add_argument("--resume", type=Path, help="go on from a folder --hf-out wrote")
    parser.add_argument(
        "--start", type=float, default=0.4, help="where --resume enters the schedule"
    )
    parser.add_argument("--conversations", type=int, default=20000)
    parser.add_argument("--plain-bytes", type=int, default=40_000_000)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Corpus → tokenizer → examples → model → files."""
    began = time.monotonic()
    resume: Path | None = arguments.resume
    earlier = json.loads((resume / "training.json").read_text())["sittings"] if resume else []
    # Another seed for each sitting, or the next would go through the same rows again.
    settings, architecture = Settings(seed=SEED + len(earlier)), Architecture()
    torch.manual_seed(settings.seed)
    rng = np.random.default_rng(settings.seed)

    logger.info("reading the corpus")
    documents, held_out = read_corpus(arguments.corpus)
    documents = [documents[i] for i in rng.permutation(len(documents))]
    texts = ["\n".join(d.paragraphs) for d in documents]
    if resume:
        _, tokenizer = read_hf(resume)
    else:
        tokenizer = train_tokenizer(texts[::TOKENIZER_SHARE], architecture.vocab_size)

    logger.info("making %d conversations", arguments.conversations)
    damager = Damager(load_table(), rng)
    maker = ExampleMaker(documents, damager, rng)
    conversations = encode_conversations(
        tokenizer, [maker.make() for _ in range(arguments.conversations)]
    )
    unseen = ExampleMaker(held_out, damager, rng)
    check = {
        kind: encode_conversations(tokenizer, [unseen.make(kind) for _ in range(160)])
        for kind in KINDS
    }
    plain = encode_plain(tokenizer, _first_bytes(texts, arguments.plain_bytes))
    plain_check, bytes_per_token = _held_out_plain(tokenizer, held_out)

    logger.info("training on %d plain tokens", len(plain))
    model = Llama(architecture, compiled=True)
    if resume:
        old, _ = read_hf(resume)
        model.load_state_dict({name: torch.from_numpy(w) for name, w in old.items()})
    budget = Budget(arguments.minutes, arguments.steps, arguments.start if resume else 0.0)
    history = train(model, plain, conversations, settings, budget)
    trained_seconds = time.monotonic() - budget.started
    losses = validate(model, plain_check, check)

    weights = {name: p.detach().numpy() for name, p in model.named_parameters()}
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_gguf(arguments.out / "model.gguf", weights, architecture, tokenizer)
    if arguments.hf_out:
        write_hf(arguments.hf_out, weights, architecture, tokenizer)
    plot(history, arguments.out / "loss.png")
    sitting = {
        "start": budget.start,
        "steps": len(history.steps),
        "tokens_seen": history.tokens,
        "tokens_learnt": history.learnt,
        "training_seconds": round(trained_seconds),
        "wall_seconds": round(time.monotonic() - began),
    }
    sittings = [*earlier, sitting]
    report = {
        "architecture": architecture.to_dict(),
        "parameters": sum(w.size for w in weights.values()),
        "settings": settings.to_dict(),
        "corpus": {
            "sha256": sha256_of(arguments.corpus),
            "documents": len(documents),
            "held_out_documents": len(held_out),
            "plain_tokens": len(plain),
            "conversations": len(conversations),
            "conversation_tokens": sum(len(c.tokens) for c in conversations),
        },
        "bytes_per_token": round(bytes_per_token, 4),
        **{
            key: sum(sitting[key] for sitting in sittings) for key in sittings[0] if key != "start"
        },
        "sittings": sittings,
        "final_training_loss": round(float(np.mean(history.losses[-50:])), 4),
        "validation_loss_nats_per_token": {k: round(v, 4) for k, v in losses.items()},
        "validation_plain_bits_per_byte": round(
            losses["plain"] / math.log(2) / bytes_per_token, 4
        ),
        "sampling_defaults": SAMPLING,
        "chat_template": CHAT_TEMPLATE,
        "model_bytes": (arguments.out / "model.gguf").stat().st_size,
        "model_sha256": sha256_of(arguments.out / "model.gguf"),
        "software": {"python": platform.python_version(), "torch": torch.__version__},
    }
    for folder in filter(None, (arguments.out, arguments.hf_out)):
        (folder / "training.json").write_text(json.dumps(report, indent=2) + "\n")
    logger.info("done: %s", {k: round(v, 3) for k, v in losses.items()})


def plot(history: History, path: Path) -> None:
    """Draw the loss curve; a line marks where the rows grow longer."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    losses = np.array(history.losses)
    width = min(25, len(losses))
    smooth = np.convolve(losses, np.ones(width) / width, mode="valid")
    axes.plot(history.steps, losses, color="0.8", linewidth=0.6, label="each step")
    axes.plot(history.steps[width - 1 :], smooth, color="C0", label=f"mean of {width} steps")
    for i in np.flatnonzero(np.diff(history.lengths)):
        axes.axvline(float(i), color="0.6", linestyle=":", linewidth=1)
    axes.set(xlabel="step", ylabel="training loss (nats per token)", ylim=(1.5, 7))
    axes.legend()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _first_bytes(texts: list[str], limit: int) -> list[str]:
    """Texts from the front, about `limit` characters in all."""
    sizes = np.cumsum([len(text) for text in texts])
    return texts[: int(np.searchsorted(sizes, limit)) + 1]


def _held_out_plain(tokenizer: Tokenizer, held_out: list[Document]) -> tuple[Tokens, float]:
    """Tokens of held-out text, and how many bytes one stands for (end tokens counted)."""
    texts = ["\n".join(d.paragraphs)[:4000] for d in held_out]
    tokens = encode_plain(tokenizer, texts)
    return tokens, sum(len(text.encode()) for text in texts) / len(tokens)


if __name__ == "__main__":
    main()
