"""The `inferdpt` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from extraction.errors import ExtractionError
from perturb import PerturbError, mechanism_class, mechanism_names
from perturb.vocabulary import DEFAULT_SIZE
from proxy.audit_cli import add_audit, add_certify
from proxy.config import Config, load_config
from proxy.errors import ApiError, ConfigError
from proxy.keys_cli import add_keys
from proxy.mechanism_args import add_mechanism
from proxy.paraphrase_cli import add_clip_bounds
from proxy.refute_cli import add_account, add_refute
from proxy.store_cli import add_ledger, add_store

__all__ = ["main"]

SERVE_EXAMPLES = """\
examples:
  inferdpt serve                                   # config.yaml if there is one, else defaults
  inferdpt serve --remote-model gpt-4o --local-base-url http://127.0.0.1:8000/v1
  inferdpt serve --config config.yaml --mechanism rantext_ldp --epsilon 8
"""
PERTURB_EXAMPLES = """\
examples:
  echo "The meeting is on Monday." | inferdpt perturb - --mechanism rantext --epsilon 6
  inferdpt perturb letter.txt --mechanism rantext_ldp --epsilon 8 --json
  inferdpt perturb mail.txt --mechanism selective --set 'patterns={CASE: "CX-[0-9]+"}'
"""
EMBEDDINGS_EXAMPLES = """\
examples:
  OPENAI_API_KEY=… inferdpt embeddings build --out ada --model text-embedding-ada-002
  inferdpt embeddings build --out my --endpoint http://127.0.0.1:8080/v1 --model my-embedder
  inferdpt embeddings build --out minilm --encoder sentence-transformers/all-MiniLM-L6-v2
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    args = _parser().parse_args(argv)
    try:
        return int(args.run(args))
    except (ApiError, ConfigError, PerturbError, ExtractionError) as exc:
        print(f"inferdpt: {exc}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as exc:
        print(f"inferdpt: {exc.filename or ''}: {exc.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="inferdpt",
        description="Ask an untrusted LLM without showing it your document.",
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_serve(commands)
    _add_check(commands)
    _add_demo(commands)
    _add_perturb(commands)
    _add_embeddings(commands)
    add_audit(commands, _add)
    add_certify(commands, _add)
    add_refute(commands, _add)
    add_account(commands, _add)
    add_clip_bounds(commands, _add)
    add_store(commands, _add, _configured)
    add_ledger(commands, _add, _configured)
    add_keys(commands, _add, _configured)
    key = commands.add_parser(
        "key", help="make an API key for config.yaml (`keys` keeps them in the store)"
    )
    key.add_argument("tenant", help="whose key it is")
    key.set_defaults(run=_key)
    return parser


def _add(commands: Any, name: str, help: str, examples: str = "") -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """Options that override the configuration file."""
    parser.add_argument("--config", metavar="FILE", help="default: config.yaml here, if any")
    parser.add_argument("--host", help="address to listen on")
    parser.add_argument("--port", type=int, help="port to listen on; 0 picks one")
    parser.add_argument("--remote-base-url", metavar="URL", help="the untrusted model's API")
    parser.add_argument("--remote-model", metavar="NAME", help="its model")
    parser.add_argument("--local-base-url", metavar="URL", help="the trusted model's API")
    parser.add_argument("--local-model", metavar="NAME", help="its model")
    parser.add_argument("--mechanism", help=", ".join(mechanism_names()))
    parser.add_argument("--epsilon", type=float, help="nominal ε per token")


def _add_serve(commands: Any) -> None:
    serve = _add(commands, "serve", "run the proxy", SERVE_EXAMPLES)
    _add_settings(serve)
    serve.set_defaults(run=_serve)


def _add_check(commands: Any) -> None:
    check = _add(commands, "check", "validate the configuration and reach every part")
    _add_settings(check)
    check.set_defaults(run=_check)


def _add_demo(commands: Any) -> None:
    demo = _add(commands, "demo", "show the whole path on this machine, bundled model only")
    demo.add_argument("--text", metavar="FILE", help="a text of your own, - for standard input")
    demo.add_argument("--mechanism", default="rantext", choices=mechanism_names(), metavar="NAME")
    demo.add_argument("--epsilon", type=float, default=6.0)
    demo.set_defaults(run=_demo)


def _add_perturb(commands: Any) -> None:
    known = "\n".join(_describe(name) for name in mechanism_names())
    epilog = f"mechanisms, and their parameters for --set:\n{known}\n\n{PERTURB_EXAMPLES}"
    perturb = _add(commands, "perturb", "perturb a text and print its receipt", epilog)
    perturb.add_argument("file", nargs="?", default="-", metavar="FILE|-")
    add_mechanism(perturb, default="rantext")
    perturb.add_argument("--oov", default="map", choices=("map", "drop"))
    perturb.add_argument("--number", default="random", choices=("random", "drop"))
    perturb.add_argument("--layout", default="keep", choices=("keep", "drop"))
    perturb.add_argument("--lines", action="store_true", help="one text a line, no receipts")
    perturb.add_argument("--json", action="store_true", help="text and receipt as JSON")
    perturb.set_defaults(run=_perturb)


def _describe(name: str) -> str:
    """A mechanism's line in the help text, and one for its parameters with their defaults."""
    cls = mechanism_class(name)
    settings = ", ".join(
        f"{field.name}={field.default!r}"
        for field in fields(cls.parameter_type)
        if field.name != "epsilon"
    )
    line = f"  {name:12} {cls.summary}"
    return f"{line}\n{'':15}{settings}" if settings else line


def _add_embeddings(commands: Any) -> None:
    embeddings = _add(commands, "embeddings", "embedding tables")
    build = _add(
        embeddings.add_subparsers(required=True, metavar="COMMAND"),
        "build",
        "make a table from an embeddings API or a local encoder; resumes after a failure",
        EMBEDDINGS_EXAMPLES,
    )
    build.add_argument("--out", required=True, metavar="PATH", help="writes PATH.npz, PATH.json")
    source = build.add_mutually_exclusive_group(required=True)
    source.add_argument("--model", help="the API's embedding model")
    source.add_argument("--encoder", help="a sentence-transformers model or folder")
    build.add_argument("--endpoint", metavar="URL", help="OpenAI-compatible API (OpenAI)")
    build.add_argument(
        "--api-key-env",
        metavar="NAME",
        help="variable that holds the key (OPENAI_API_KEY for OpenAI itself, else none)",
    )
    build.add_argument("--size", type=int, default=DEFAULT_SIZE, help=f"words ({DEFAULT_SIZE})")
    build.add_argument("--batch", type=int, default=512, help="words in one request (512)")
    build.add_argument("--name", help="the model's name as written into the table")
    build.add_argument("--licence", default="not stated", help="the model's licence")
    build.set_defaults(run=_embeddings)


def _configured(path: str | None) -> Config:
    """The configuration file: the one named, else config.yaml here, else the defaults."""
    return load_config(path or _default_file())


def _default_file() -> str | None:
    return "config.yaml" if Path("config.yaml").is_file() else None


def _config(args: argparse.Namespace) -> Any:
    """The configuration file with the command line over it."""
    path = args.config or _default_file()
    overrides: dict[str, dict[str, Any]] = {}

    def put(section: str, key: str, value: Any) -> None:
        if value is not None:
            overrides.setdefault(section, {})[key] = value

    put("server", "host", args.host)
    put("server", "port", args.port)
    put("remote", "base_url", args.remote_base_url)
    put("privacy", "mechanism", args.mechanism)
    put("privacy", "epsilon", args.epsilon)
    put("local", "base_url", args.local_base_url)
    put("local", "model", args.local_model)
    if args.local_base_url:
        put("local", "mode", "external")
    config = load_config(path, overrides)
    if args.remote_model:  # the one model served, in place of the file's list
        models = {args.remote_model: args.remote_model}
        config = config.model_copy(
            update={"remote": config.remote.model_copy(update={"models": models})}
        )
    return config


def _serve(args: argparse.Namespace) -> int:
    from proxy.serve import serve

    serve(_config(args))
    return 0


def _check(args: argparse.Namespace) -> int:
    from proxy.checkup import check

    return check(_config(args))


def _demo(args: argparse.Namespace) -> int:
    from proxy.demo import DEMO_TEXT, run
    from proxy.tools import read_text

    run(read_text(args.text) if args.text else DEMO_TEXT, args.mechanism, args.epsilon)
    return 0


def _perturb(args: argparse.Namespace) -> int:
    from proxy.tools import perturb_text

    return perturb_text(args)


def _embeddings(args: argparse.Namespace) -> int:
    from proxy.tools import build_embeddings

    return build_embeddings(args)


def _key(args: argparse.Namespace) -> int:
    from proxy.tools import make_key

    return make_key(args)


def _version() -> str:
    try:
        return f"inferdpt {version('inferdpt')}"
    except PackageNotFoundError:
        return "inferdpt (not installed)"


if __name__ == "__main__":
    sys.exit(main())
