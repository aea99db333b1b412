"""`inferdpt store` and `inferdpt ledger`: look at what the proxy remembers, and make it forget."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from proxy.config import Config
from proxy.errors import ConfigError

__all__ = ["add_ledger", "add_store"]

TITLES = ("tenant", "", "requests", "tokens", "ε charged", "ε basic", "ε best (δ)", "ε nominal")
DAY = 86_400.0
PURGE_NOTE = """\
A forgotten text is drawn afresh when it is sent again: who holds both releases can average them.
examples:
  inferdpt store purge                    # what memo.ttl_seconds and memo.rows say
  inferdpt store purge --older-than 7
  inferdpt store purge --tenant alice --ledger
"""

Add = Callable[..., argparse.ArgumentParser]
Settings = Callable[[str | None], Config]


def add_store(commands: Any, add: Add, settings: Settings) -> None:
    """Add `store info` and `store purge`."""
    store = add(commands, "store", "the database of releases, answers and accounts")
    parts = store.add_subparsers(required=True, metavar="COMMAND")
    info = add(parts, "info", "say how much is in it")
    info.add_argument("--config", metavar="FILE", help="default: config.yaml here, if any")
    info.set_defaults(run=lambda args: asyncio.run(_info(settings(args.config))))
    purge = add(parts, "purge", "forget texts and answers", PURGE_NOTE)
    purge.add_argument("--config", metavar="FILE", help="default: config.yaml here, if any")
    which = purge.add_mutually_exclusive_group()
    which.add_argument("--older-than", type=float, metavar="DAYS", help="last used before that")
    which.add_argument("--all", action="store_true", help="everything")
    purge.add_argument("--tenant", help="only this tenant's (everything of it)")
    purge.add_argument(
        "--ledger", action="store_true", help="the accounts, too: budgets start anew"
    )
    purge.set_defaults(run=lambda args: asyncio.run(_purge(settings(args.config), args)))


def add_ledger(commands: Any, add: Add, settings: Settings) -> None:
    """Add `ledger`."""
    ledger = add(commands, "ledger", "what left, by tenant, day and conversation")
    ledger.add_argument("--config", metavar="FILE", help="default: config.yaml here, if any")
    ledger.add_argument("--tenant", help="only this one's account, with its conversations")
    ledger.add_argument("--json", action="store_true", help="as JSON")
    ledger.set_defaults(run=lambda args: asyncio.run(_ledger(settings(args.config), args)))


async def _info(config: Config) -> int:
    from proxy.store import open_store

    async with open_store(config.store) as store:
        print(store)
        for name, value in (await store.info()).items():
            print(f"{name:>10} {value}")
    return 0


async def _purge(config: Config, args: argparse.Namespace) -> int:
    from proxy.store import open_store

    some = args.older_than is not None or args.tenant or args.all
    if args.ledger and not some:
        raise ConfigError("--ledger needs --older-than, --tenant or --all")
    async with open_store(config.store) as store:
        if some:
            before = None if args.older_than is None else time.time() - args.older_than * DAY
            gone = await store.purge(before=before, tenant=args.tenant, ledger=args.ledger)
        else:
            gone = await store.sweep(config.memo.ttl_seconds, config.memo.rows)
    print(f"{gone} rows are gone")
    return 0


async def _ledger(config: Config, args: argparse.Namespace) -> int:
    from proxy.ledger import Ledger
    from proxy.store import open_store

    async with open_store(config.store) as store:
        ledger = Ledger(store, delta=config.limits.delta)
        tenants = [args.tenant] if args.tenant else list(await ledger.totals())
        accounts = [await ledger.figures(tenant, exact=True) for tenant in tenants]
    if args.json:
        print(json.dumps(accounts, ensure_ascii=False, indent=2))
        return 0
    rows: list[tuple[str, ...]] = [TITLES]
    for account in accounts:
        rows.append(_row(account["tenant"], "in all", account["total"]))
        parts = {**account["days"], **(account["conversations"] if args.tenant else {})}
        rows += [_row("", name[:12], figures) for name, figures in parts.items()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(TITLES))]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    print("ε nominal: of mechanisms whose ε is no bound; it is charged, and proves nothing.")
    return 0


def _row(tenant: str, what: str, figures: dict[str, Any]) -> tuple[str, ...]:
    epsilon = figures["epsilon"]
    best = epsilon["best"]
    return (
        tenant,
        what,
        str(figures["requests"]),
        str(figures["tokens"]),
        f"{epsilon['charged']:.6g}",
        f"{epsilon['basic']:.6g}",
        f"{best['epsilon']:.6g} ({best['delta']:g}, {best['bound']})",
        f"{epsilon['nominal']:.6g}",
    )
