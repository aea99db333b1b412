"""`inferdpt codebook`: make codebooks of public passages, show them and check them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proxy.cli.help import group_page, page
from proxy.cli.options import AsJson, print_json
from proxy.cli.progress import show_progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from extraction.server_encoder import ServerEncoder
    from perturb.whole.codebook import Codebook
    from perturb.whole.encoder import Encoder

__all__ = ["build", "check", "codebook_group", "info"]

WORDS = 60  # perturb.whole.passages.WORDS; a test holds them equal
EPSILONS = (6, 8, 10, 12, 16)
STEP = 1024  # passages that are checked at a time
BUILDING = (
    "inferdpt codebook build articles.jsonl --out news.codebook --licence 'CC BY 4.0'",
    "inferdpt codebook build notes/*.txt --out notes.codebook --licence CC0 --words 80",
    "inferdpt codebook build leads.jsonl.xz --out leads.codebook --licence CC0"
    " --encoder sentence-transformers/all-MiniLM-L6-v2",
    "inferdpt codebook build leads.jsonl.xz --out leads.codebook --licence CC0"
    " --endpoint http://127.0.0.1:8080/v1 --model nomic-embed-text",
)
CHECKING = (
    "inferdpt codebook check news.codebook",
    "inferdpt codebook check leads.codebook"
    " --endpoint http://127.0.0.1:8080/v1 --model nomic-embed-text",
)
File = Annotated[
    str | None, typer.Argument(metavar="FILE", help="A codebook (default: the bundled one).")
]
Endpoint = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Use an embedding model of this OpenAI-compatible server."),
]
Model = Annotated[
    str | None, typer.Option(metavar="NAME", help="Use this embedding model of the server.")
]
KeyVariable = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Take the server's key from this variable (default: none)."),
]


def codebook_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page(BUILDING[0], "inferdpt codebook info news.codebook"),
        help="Make codebooks of public passages for the mechanism surrogate.",
        no_args_is_help=True,
    )
    app.command("build", cls=page(*BUILDING))(build)
    showing = page("inferdpt codebook info", "inferdpt codebook info news.codebook --json")
    app.command("info", cls=showing)(info)
    app.command("check", cls=page(*CHECKING))(check)
    return app


def build(
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXTS...", help="Public texts: .txt, or .jsonl with `text`."),
    ],
    out: Annotated[str, typer.Option(metavar="FILE", help="Write this codebook.")],
    licence: Annotated[
        str, typer.Option(metavar="TEXT", help="Write the texts' licence into the codebook.")
    ],
    source: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Say where the texts come from (default: the files)."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Use this sentence-transformers model or folder (default: the bundled encoder).",
        ),
    ] = None,
    endpoint: Endpoint = None,
    model: Model = None,
    api_key_env: KeyVariable = None,
    words: Annotated[
        int, typer.Option(metavar="N", min=5, max=200, help="Cut passages of about N words.")
    ] = WORDS,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=2, help="Stop after this many passages.")
    ] = None,
) -> int:
    """Make a codebook of public texts.

    Texts are cut into passages at the ends of sentences; an empty line begins a new passage. Files
    may be compressed (.xz, .gz). A build that fails or is killed keeps what is finished, and
    the next one resumes it. Never build one from private texts: its passages leave as they are.

    A codebook made with --endpoint works in a proxy whose local server serves that model, set as
    local.embeddings_model.
    """
    from itertools import islice

    from extraction.errors import LocalModelError
    from perturb.errors import PerturbError
    from perturb.whole.build import build_codebook

    if encoder and (endpoint or model):
        raise typer.BadParameter("give one of the two", param_hint=["--encoder", "--endpoint"])
    try:
        with (
            _open_encoder(encoder, endpoint, model, api_key_env) as encode,
            show_progress() as progress,
        ):
            digest = build_codebook(
                islice(_read_passages(texts, words), limit),
                Path(out),
                encode,
                licence=licence,
                source=source or ", ".join(Path(path).name for path in texts),
                progress=progress,
            )
    except (LocalModelError, PerturbError):
        if (partial := Path(f"{out}.partial")).exists():
            print(f"what was finished is kept in {partial}", file=sys.stderr)
        raise
    print(f"{out}: {Path(out).stat().st_size:,} bytes, SHA-256 {digest}")
    return info(out)


def info(file: File = None, as_json: AsJson = False) -> int:
    """Show what a codebook holds, and how far a private choice from it reaches at several ε."""
    from perturb.whole.codebook import load_codebook

    facts = _describe(load_codebook(file))
    if as_json:
        print_json(facts)
        return 0
    for key, value in facts.items():
        if key != "choices":
            print(f"{key:12} {value}")
    print("\n  ε     nearest t   mass of the first t   mean rank")
    for row in facts["choices"]:
        print(
            f"  {row['epsilon']:<4g} {row['near']:>10,} {row['near_mass']:>20.2f}"
            f" {row['expected_rank']:>12,.0f}"
        )
    return 0


def check(
    file: File = None,
    endpoint: Endpoint = None,
    model: Model = None,
    api_key_env: KeyVariable = None,
) -> int:
    """Check a codebook: its SHA-256, that every passage is where its hash says, and the vectors
    against the encoder. The server of an encoder that asks one has to be named."""
    import numpy as np

    from perturb.errors import CodebookError
    from perturb.whole.codebook import load_codebook

    book = load_codebook(file)
    own = str(book.facts["encoder"]["encoder"])
    with (
        _open_encoder(own, endpoint, model, api_key_env) as encoder,
        show_progress(leave=False) as progress,
    ):
        if encoder.identity != book.facts["encoder"]:
            raise CodebookError(
                f"the codebook was made with the encoder {book.facts['encoder']}, "
                f"not {encoder.identity}"
            )
        for start in range(0, len(book), STEP):
            places = range(start, min(start + STEP, len(book)))
            passages = [book.passage(i) for i in places]
            for i, passage in zip(places, passages, strict=True):
                if book.find(passage) != i:
                    raise CodebookError(f"passage {i} does not stand where its SHA-256 says")
            held = book.vectors[places.start : places.stop] * book.scales[places, None]
            made = encoder(passages)
            cosines = np.einsum("ij,ij->i", held, made)
            if (cosines[made.any(axis=1)] < 0.99).any():
                raise CodebookError("a vector is not the one that the encoder gives its passage")
            progress("passages", places.stop, len(book))
    print(f"sound: {len(book):,} passages, SHA-256 {book.sha256}")
    return 0


class _Waiting:
    """Call a server's encoder from code that waits for it."""

    def __init__(self, encoder: ServerEncoder, runner: asyncio.Runner) -> None:
        self.identity = encoder.identity
        self._encoder = encoder
        self._runner = runner

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        return self._runner.run(self._encoder.encode(texts))


@contextmanager
def _open_encoder(
    name: str | None, endpoint: str | None, model: str | None, key_variable: str | None
) -> Iterator[Encoder]:
    """Yield the encoder with a name, or the one by a server's model."""
    from extraction.backends.openai_server import OpenAIServer
    from extraction.server_encoder import ServerEncoder
    from perturb.whole.encoder import BUNDLED, load_encoder

    if (endpoint is None) != (model is None):
        raise typer.BadParameter("give both or none", param_hint=["--endpoint", "--model"])
    if endpoint is None or model is None:
        yield load_encoder(name or BUNDLED)
        return
    server = OpenAIServer(endpoint, api_key=os.environ.get(key_variable) if key_variable else None)
    with asyncio.Runner() as runner:
        try:
            yield _Waiting(ServerEncoder(model, lambda: server), runner)
        finally:
            runner.run(server.aclose())


def _describe(book: Codebook) -> dict[str, Any]:
    from fractions import Fraction

    from perturb.whole.choice import PrivateChoice, choose_near_count

    choices = []
    for epsilon in map(Fraction, EPSILONS):
        near = choose_near_count(book.profile, len(book), epsilon)
        law = PrivateChoice(len(book), near, epsilon)
        choices.append(
            {
                "epsilon": float(epsilon),
                "near": near,
                "near_mass": law.near_mass,
                "expected_rank": law.expected_rank,
            }
        )
    encoder = book.facts["encoder"]
    return {
        "passages": len(book),
        "dimension": book.vectors.shape[1],
        "encoder": " ".join([encoder["encoder"], *filter(None, [encoder.get("model")])]),
        "licence": book.facts["licence"],
        "source": book.facts["provenance"],
        "created": book.facts["created"],
        "sha256": book.sha256,
        "choices": choices,
    }


def _read_passages(paths: list[str], words: int) -> Iterator[str]:
    """Yield the passages of files.

    Raises:
        CodebookError: a line of a .jsonl file has no `text`; the file and the line are named.
    """
    from perturb.errors import CodebookError
    from perturb.whole.passages import split_passages

    for path in map(Path, paths):
        plain = path.name.removesuffix(".xz").removesuffix(".gz")
        lines = _read_lines(path)
        if not plain.endswith(".jsonl"):
            for paragraph in "".join(lines).split("\n\n"):
                yield from split_passages(paragraph, words)
            continue
        for number, line in enumerate(lines, 1):
            text = _read_text(line)
            if text is None:
                raise CodebookError(
                    f"{path.name}, line {number}: must be an object with a string `text`"
                )
            for paragraph in text.split("\n\n"):
                yield from split_passages(paragraph, words)


def _read_text(line: str) -> str | None:
    """Return the `text` of a line of JSON; None where it has none."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    text = found.get("text") if isinstance(found, dict) else None
    return text if isinstance(text, str) else None


def _read_lines(path: Path) -> Iterator[str]:
    import gzip
    import lzma

    opener: Any = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8") as file:
        yield from file
