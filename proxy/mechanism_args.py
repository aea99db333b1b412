"""The options by which a command names a mechanism, and the mechanism they name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import yaml

from perturb import Mechanism, get_mechanism, load_table, mechanism_names
from perturb.embeddings import BUNDLED_TABLE
from perturb.errors import ParameterError

__all__ = ["add_mechanism", "chosen_mechanism"]


def add_mechanism(
    parser: argparse.ArgumentParser,
    *,
    default: str | None = None,
    names: Sequence[str] | None = None,
    beside: Any = None,
) -> None:
    """Add --mechanism, --epsilon, --set and --table.

    Args:
        parser: the command's.
        default: the mechanism where none is named; without one it has to be.
        names: those to choose from (all).
        beside: a group of alternatives to put --mechanism into.
    """
    names = names or mechanism_names()
    option = (beside or parser).add_argument(
        "--mechanism",
        metavar="NAME",
        default=default,
        choices=names,
        help=", ".join(names) + (f" ({default})" if default else ""),
    )
    option.required = beside is None and default is None
    parser.add_argument("--epsilon", type=float, default=6.0, help="nominal ε per token (6)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the mechanism, the value in YAML; may be repeated",
    )
    parser.add_argument("--table", metavar="PATH", help="embedding table (bundled)")


def chosen_mechanism(args: argparse.Namespace) -> Mechanism:
    """The mechanism that the options name.

    Raises:
        PerturbError: a parameter breaks its rule, or the table cannot be loaded.
    """
    table = load_table(args.table or BUNDLED_TABLE)
    return get_mechanism(args.mechanism, table, epsilon=args.epsilon, **_parameters(args.set))


def _parameters(settings: Sequence[str]) -> dict[str, Any]:
    out = {}
    for setting in settings:
        name, found, value = setting.partition("=")
        try:
            out[name.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            found = ""
        if not found:
            raise ParameterError("--set takes NAME=VALUE, the value in YAML")
    return out
