"""`inferdpt table build`: make an embedding table."""

from __future__ import annotations

import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from proxy.cli.help import group_page, page
from proxy.cli.options import Variant
from proxy.cli.progress import show_progress

__all__ = ["build", "table_group"]

OPENAI = "https://api.openai.com/v1"
SIZE = 11_000  # perturb.vocabulary.vocabulary.DEFAULT_SIZE; a test holds them equal
EXAMPLES = (
    "OPENAI_API_KEY=… inferdpt table build --out ada --model text-embedding-ada-002",
    "inferdpt table build --out my --endpoint http://127.0.0.1:8080/v1 --model my-embedder",
    "inferdpt table build --out minilm --encoder sentence-transformers/all-MiniLM-L6-v2",
)


def table_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page(*EXAMPLES), help="Make embedding tables.", no_args_is_help=True
    )
    app.command("build", cls=page(*EXAMPLES))(build)
    return app


def build(
    out: Annotated[str, typer.Option(metavar="PATH", help="Write PATH.npz and PATH.json.")],
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Use this embedding model of the API.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Use this sentence-transformers model or folder."),
    ] = None,
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="Call this API (default: OpenAI's).")
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Take the key from this variable (default for OpenAI: OPENAI_API_KEY).",
        ),
    ] = None,
    size: Annotated[int, typer.Option(metavar="N", help="Embed this many words.")] = SIZE,
    vocabulary: Variant = "clean",
    batch: Annotated[
        int, typer.Option(metavar="N", help="Send this many words in one request.")
    ] = 512,
    name: Annotated[str | None, typer.Option(help="Write this model name into the table.")] = None,
    licence: Annotated[
        str, typer.Option(metavar="TEXT", help="Write the model's licence into the table.")
    ] = "not stated",
) -> int:
    """Make a table from an embeddings API or a local encoder.

    A build that fails or is killed keeps its finished parts, and the next one resumes it.
    """
    from perturb.errors import TableError
    from perturb.vocabulary.embed import embed_words, endpoint_encoder, local_encoder
    from perturb.vocabulary.embeddings import save_table
    from perturb.vocabulary.table_build import build_table
    from perturb.vocabulary.words import load_vocabulary

    if (model is None) == (encoder is None):
        raise typer.BadParameter("give one of the two", param_hint=["--model", "--encoder"])
    words = load_vocabulary(vocabulary, size)
    if encoder:
        source, embed = encoder, local_encoder(encoder)
    else:
        # OpenAI's key goes to OpenAI; another endpoint gets a key only if one is named for it.
        variable = api_key_env or (None if endpoint else "OPENAI_API_KEY")
        source = f"{model} at {endpoint or OPENAI}"
        key = os.environ.get(variable) if variable else None
        embed = endpoint_encoder(endpoint or OPENAI, model or "", key)
    partial = Path(f"{out}.partial")
    facts = {
        "model": name or source,
        "licence": licence,
        "created": datetime.now(UTC).date().isoformat(),
    }
    strings = words.words + words.others
    try:
        with show_progress() as progress:
            embeddings = embed_words(
                embed, strings, source=source, partial=partial, batch=batch, progress=progress
            )
            table = build_table(words, embeddings, provenance=facts, progress=progress)
    except TableError:
        if partial.exists():
            print(f"the finished parts are kept in {partial}", file=sys.stderr)
        raise
    digest = save_table(table, out)
    shutil.rmtree(partial)
    print(f"{out}.npz: {len(table)} words, {table.vectors.shape[1]} dimensions, {digest}")
    print(words.description)
    print("calibrated z: " + ", ".join(f"ε={e}: {z:.3f}" for e, z in table.calibration.items()))
    return 0
