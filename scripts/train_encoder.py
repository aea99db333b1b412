"""Learn the bundled encoder of whole texts: token vectors whose mean imitates MiniLM.

    python scripts/train_encoder.py train.jsonl.xz --teacher /tmp/teacher.npy

The texts are cut into passages; All-MiniLM-L6-v2 (extra `bench`) embeds some of them. Its vectors
are projected on their first principal directions, and the mean of a passage's token vectors plus a
constant is learnt to point the same way. Tokens begin at the bundled word table's vectors, by
their rarity, and are held near them.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.metrics.utility import load_minilm  # noqa: E402
from extraction.judge import split_parts  # noqa: E402
from perturb import load_table  # noqa: E402
from perturb.whole.encoder import (  # noqa: E402
    BUNDLED_FILE,
    StaticEncoder,
    load_static,
    make_vectors,
    read_tokens,
    save_static,
)
from perturb.whole.passages import split_passages  # noqa: E402

DIMENSION = 128
LEAST_PASSAGES = 4  # a token of fewer has no vector
EPOCHS, BATCH, RATE = 8, 256, 0.004
NEAR_START, PAIRS = 0.005, 2.0  # weights of the two smaller losses
PAIRED = 5000  # pairs of passages that are not about the same
PASSING = 0.02  # of them may seem to be
STEP = 2048  # passages that are embedded before the file is written


def main() -> None:
    """Read the command line, embed, learn, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("texts", type=Path, help=".jsonl.xz of public texts, with `text`")
    parser.add_argument(
        "--teacher", type=Path, required=True, help=".npy of MiniLM's vectors, kept and resumed"
    )
    parser.add_argument("--passages", type=int, default=40_960, help="how many are learnt from")
    parser.add_argument("--out", type=Path, default=BUNDLED_FILE)
    arguments = parser.parse_args()

    passages = read_passages(arguments.texts)
    teacher = embed(passages[: arguments.passages], arguments.teacher)
    learnt = learn(passages, teacher)
    save_static(arguments.out, *learnt)
    unseen = passages[arguments.passages : arguments.passages + 2 * PAIRED]
    unrelated = measure_unrelated(load_static(arguments.out), unseen)
    print(f"cosine to unrelated texts: {unrelated:.3f}")
    print(save_static(arguments.out, *learnt, unrelated))


def read_passages(path: Path) -> list[str]:
    """Return the passages of all texts, shuffled by a fixed seed."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        passages = [p for line in file for p in split_passages(json.loads(line)["text"])]
    random.Random(1).shuffle(passages)
    return passages


def embed(passages: list[str], path: Path) -> NDArray[np.float32]:
    """Return MiniLM's vectors of length 1, float32 (n, 384); what the file holds is not embedded
    again."""
    rows = np.load(path) if path.exists() else np.empty((0, 384), dtype=np.float16)
    encode = load_minilm() if len(rows) < len(passages) else None
    while encode and len(rows) < len(passages):
        more = encode(passages[len(rows) : len(rows) + STEP])
        rows = np.concatenate([rows, more.astype(np.float16)])
        np.save(path, rows)
        print(f"{len(rows)} of {len(passages)} passages are embedded", file=sys.stderr)
    return make_vectors(rows[: len(passages)])


def learn(
    passages: list[str], teacher: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
    """Return tokens (n,), their vectors (n, d) and the constant (d,)."""
    import torch
    from torch.nn.functional import embedding_bag, mse_loss, normalize

    torch.manual_seed(0)
    read = [read_tokens(passage) for passage in passages]
    counts = Counter(token for ids in read for token in set(ids.tolist()))
    tokens = np.array(sorted(t for t, count in counts.items() if count >= LEAST_PASSAGES))
    place = {token: i for i, token in enumerate(tokens.tolist())}
    directions = np.linalg.svd(teacher[:20_000], full_matrices=False)[2][:DIMENSION]
    goal = torch.tensor(teacher @ directions.T)
    start = torch.tensor(initial_vectors(tokens, counts, len(read), directions))
    bags = [
        torch.tensor([place[token] for token in ids.tolist() if token in place])
        for ids in read[: len(teacher)]
    ]
    vectors = start.clone().requires_grad_()
    bias = torch.zeros(DIMENSION, requires_grad=True)
    optimizer = torch.optim.Adam([vectors, bias], lr=RATE)
    held_out = np.arange(len(teacher)) % 20 == 0
    training, testing = np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def encode(which: NDArray[np.int64]) -> torch.Tensor:
        ends = torch.tensor([0, *np.cumsum([len(bags[i]) for i in which[:-1]])])
        flat = torch.cat([bags[i] for i in which])
        return normalize(embedding_bag(flat, vectors, ends, mode="mean") + bias, dim=1)

    steps, done = EPOCHS * (len(training) // BATCH), 0
    for epoch in range(EPOCHS):
        order = np.random.default_rng(epoch).permutation(training)
        for first in range(0, len(order) - BATCH + 1, BATCH):
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1 - done / steps)
            done += 1
            which = order[first : first + BATCH]
            made, wanted = encode(which), normalize(goal[which], dim=1)
            loss = 1 - (made * wanted).sum(1).mean()
            loss = loss + PAIRS * mse_loss(made @ made.T, wanted @ wanted.T)
            loss = loss + NEAR_START * ((vectors - start) ** 2).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            right = (encode(testing) * normalize(goal[testing], dim=1)).sum(1).mean()
        print(f"epoch {epoch + 1}: cosine to MiniLM {right:.3f} on passages held out")
    return tokens, vectors.detach().numpy(), bias.detach().numpy()


def measure_unrelated(encoder: StaticEncoder, passages: list[str]) -> float:
    """Return the cosine of a passage and the nearest sentence of another that 2 % exceed."""
    half = len(passages) // 2
    about = encoder(passages[:half])
    nearest = [
        (encoder(split_parts(other)) @ vector).max()
        for vector, other in zip(about, passages[half:], strict=True)
    ]
    return float(np.quantile(nearest, 1 - PASSING))


def initial_vectors(
    tokens: NDArray[np.int64],
    counts: Counter[int],
    passages: int,
    directions: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return the bundled table's vectors by rarity, projected, float32 (n, d); a token that is no
    word begins at zero."""
    table = load_table()
    is_word, places = table.places(tokens.astype(np.uint32), mapped=True)
    rarity = np.log(passages / np.array([counts[token] for token in tokens.tolist()]))
    rows = np.zeros((len(tokens), DIMENSION), dtype=np.float32)
    rows[is_word] = table.vectors[places].astype(np.float32) @ directions.T
    scaled: NDArray[np.float32] = rows * (rarity / rarity.mean())[:, None].astype(np.float32)
    return scaled


if __name__ == "__main__":
    main()
