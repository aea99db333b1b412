"""The commands that need no server: perturb a text, build a table, make a key."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from perturb import DocumentOptions, Perturber
from perturb.embed import embed_words, endpoint_encoder, local_encoder
from perturb.embeddings import save_table
from perturb.errors import TableError
from perturb.table_build import build_table
from perturb.vocabulary import Vocabulary, load_encoding
from proxy.auth import new_key
from proxy.mechanism_args import chosen_mechanism

__all__ = ["build_embeddings", "make_key", "perturb_text", "read_text"]

OPENAI = "https://api.openai.com/v1"


def read_text(path: str) -> str:
    """A file, or standard input for `-`; bytes that are not UTF-8 become U+FFFD."""
    if path == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    return Path(path).read_text("utf-8", "replace")


def perturb_text(args: argparse.Namespace) -> int:
    """`inferdpt perturb`: the perturbed text on standard output, the receipt on standard error
    (or both as JSON); with `--lines` one text a line, and no receipts."""
    options = DocumentOptions(oov=args.oov, number=args.number, layout=args.layout)
    perturber = Perturber(chosen_mechanism(args), options)
    if args.lines:
        for line in read_text(args.file).removesuffix("\n").split("\n"):
            print(" ".join(perturber.perturb(line).text.splitlines()))
        return 0
    done = perturber.perturb(read_text(args.file))
    receipt = done.receipt.to_dict()
    if args.json:
        print(json.dumps({"text": done.text, "receipt": receipt}, ensure_ascii=False, indent=2))
        return 0
    print(done.text)
    for key, value in receipt.items():
        shown = value if isinstance(value, (str, int, float)) else json.dumps(value)
        print(f"{key}: {shown}", file=sys.stderr)
    return 0


def build_embeddings(args: argparse.Namespace) -> int:
    """`inferdpt embeddings build`: embed every word, then make the table."""
    vocabulary = Vocabulary(load_encoding(), args.size)
    if args.encoder:
        source, embed = args.encoder, local_encoder(args.encoder)
    else:
        # OpenAI's key goes to OpenAI; another endpoint gets a key only if one is named for it.
        name = args.api_key_env or (None if args.endpoint else "OPENAI_API_KEY")
        source = f"{args.model} at {args.endpoint or OPENAI}"
        key = os.environ.get(name) if name else None
        embed = endpoint_encoder(args.endpoint or OPENAI, args.model, key)
    partial = Path(f"{args.out}.partial")
    bars: dict[str, tqdm[Any]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            bars[stage] = tqdm(total=total, desc=f"{stage:>15}")
        bars[stage].update(done - bars[stage].n)

    try:
        embeddings = embed_words(
            embed,
            vocabulary.words + vocabulary.others,
            source=source,
            partial=partial,
            batch=args.batch,
            progress=progress,
        )
        table = build_table(
            vocabulary,
            embeddings,
            provenance={
                "model": args.name or source,
                "licence": args.licence,
                "created": datetime.now(UTC).date().isoformat(),
            },
            progress=progress,
        )
    except TableError:
        print(f"what was finished is kept in {partial}", file=sys.stderr)
        raise
    finally:
        for bar in bars.values():
            bar.close()
    digest = save_table(table, args.out)
    shutil.rmtree(partial)
    print(f"{args.out}.npz: {len(table)} words, {table.vectors.shape[1]} dimensions, {digest}")
    print("calibrated z: " + ", ".join(f"ε={e}: {z:.3f}" for e, z in table.calibration.items()))
    return 0


def make_key(args: argparse.Namespace) -> int:
    """`inferdpt key TENANT`: a key for a client, and the lines for config.yaml."""
    key, digest = new_key()
    print(f"key for the client (shown once): {key}\n\nfor config.yaml:\n")
    print("server:\n  keys:")
    print(f"    - tenant: {json.dumps(args.tenant)}\n      sha256: {digest}")
    return 0
