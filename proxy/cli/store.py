"""`inferdpt store` and `ledger`: inspect the memory of the proxy, purge it, change its secret."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proxy.cli.help import PANELS, group_page, lay_out, page
from proxy.cli.options import AsJson, ConfigFile, load_configuration, print_json

if TYPE_CHECKING:
    from proxy.config.settings import Config

__all__ = ["add_ledger", "info", "ledger", "purge", "rekey", "store_group"]

TITLES = (
    "tenant",
    "",
    "requests",
    "tokens",
    "unbounded",
    "ε charged",
    "ε basic",
    "ε best (δ)",
    "ε nominal",
    "ε proved part",
    "ε by unit",
    "disclosed",
)
LEGEND = """\
unbounded: tokens without a proved bound. With any of them, or with ε nominal (charged for
mechanisms whose ε is not a bound), the whole has no bound; ε proved part is for the other tokens,
and ε by unit says of what: n tokens are one text's, a document is a whole text.
disclosed: tokens (unbounded) sent in a conversation, charged there or not. Add the guard's δ
(`guard_delta_per_text` in --json, at most 1e-9) for each text: it may refuse an honest draw."""
DAY = 86_400.0
PURGE_NOTE = """\
The audit record stays (`store.records_days`), and states that accounts were forgotten.
A forgotten text is drawn afresh when it is sent again: an adversary with both releases can
average them."""
REKEY_NOTE = """\
Stop every proxy on the store first. The audit record is hashed anew; files of batches and limits
of keys are encrypted anew. Releases, answers and conversations are known only by hashes of what
clients wrote, so they are forgotten: texts that are sent again are drawn and charged afresh (an
adversary with both releases can average them), and budgets of conversations and of the owners of
corpora start anew. Those of days and in all stay, as do keys."""


def store_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page("inferdpt store info", "inferdpt store purge --older-than 7"),
        help="Inspect the store of releases and accounts, purge it, or change its secret.",
        no_args_is_help=True,
    )
    purging = page(
        "inferdpt store purge                    # as memo.ttl_seconds and memo.rows limit it",
        "inferdpt store purge --older-than 7",
        "inferdpt store purge --tenant alice --ledger",
        notes=lambda: PURGE_NOTE,
    )
    rekeying = page(
        "inferdpt store rekey new-secret",
        "inferdpt store rekey new-secret --heads /mnt/elsewhere/heads.json",
        notes=lambda: REKEY_NOTE,
    )
    app.command("info", cls=page("inferdpt store info"))(info)
    app.command("purge", cls=purging)(purge)
    app.command("rekey", cls=rekeying)(rekey)
    return app


def add_ledger(app: typer.Typer) -> None:
    """Add `ledger` to the command line."""
    showing = page("inferdpt ledger", "inferdpt ledger --tenant alice --json")
    app.command("ledger", cls=showing, rich_help_panel=PANELS.clients)(ledger)


def info(config: ConfigFile = None) -> int:
    """Print the size of the store."""
    asyncio.run(_info(load_configuration(config)))
    return 0


def purge(
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Forget entries last used before that.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget everything.")] = False,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Forget only this tenant's entries.")
    ] = None,
    ledger: Annotated[
        bool, typer.Option("--ledger", help="Forget the accounts, too: budgets start anew.")
    ] = False,
    config: ConfigFile = None,
) -> int:
    """Forget texts, answers, files and batches."""
    if everything and older_than is not None:
        raise typer.BadParameter("give one of the two", param_hint=["--older-than", "--all"])
    some = older_than is not None or bool(tenant) or everything
    asyncio.run(_purge(load_configuration(config), some, older_than, tenant, ledger))
    return 0


def rekey(
    secret: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Read the new secret there; without one, make it."),
    ],
    heads: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Check the file of `records check --heads`, and renew it."
        ),
    ] = None,
    config: ConfigFile = None,
) -> int:
    """Give the store another secret."""
    asyncio.run(_rekey(load_configuration(config), secret, heads))
    return 0


def ledger(
    tenant: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Print only this account, with its conversations."),
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> int:
    """Print the charges, by tenant, day and conversation."""
    accounts = asyncio.run(_read_accounts(load_configuration(config), tenant))
    if as_json:
        print_json(accounts)
        return 0
    rows: list[tuple[str, ...]] = [TITLES]
    for account in accounts:
        rows.append(_format_row(account["tenant"], "in all", account["total"]))
        parts = {**account["days"], **(account["conversations"] if tenant else {})}
        rows += [_format_row("", name[:12], figures) for name, figures in parts.items()]
    print(f"{lay_out(rows)}\n{LEGEND}")
    return 0


async def _info(config: Config) -> None:
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        print(store)
        for name, value in (await store.info()).items():
            print(f"{name:>10} {value}")


async def _purge(
    config: Config, some: bool, older_than: float | None, tenant: str | None, ledger: bool
) -> None:
    from proxy.errors import ConfigError
    from proxy.records.chain import forget_accounts
    from proxy.storage.ledger import Ledger
    from proxy.storage.opening import open_store

    if ledger and not some:
        raise ConfigError("--ledger needs --older-than, --tenant or --all")
    async with open_store(config.store) as store:
        if some:
            before = None if older_than is None else time.time() - older_than * DAY
            gone = 0
            if ledger:
                accounts = Ledger(store, delta=config.limits.delta)
                gone = await forget_accounts(store, accounts, before=before, tenant=tenant)
            gone += await store.purge(before=before, tenant=tenant, ledger=ledger)
        else:
            gone = await store.sweep(config.memo.ttl_seconds, config.memo.rows)
    print(f"{gone} rows deleted")


async def _rekey(config: Config, path: Path, heads: Path | None) -> None:
    from proxy.cli.records import note_heads, read_heads
    from proxy.records.check import check_records
    from proxy.records.rekey import rekey
    from proxy.storage.opening import open_store
    from proxy.storage.secret import offer_secret

    noted = {} if heads is None else read_heads(heads)
    async with open_store(config.store) as store:
        with offer_secret(path) as secret:
            changed, done = await rekey(store, secret, noted)
        if heads is not None:
            note_heads(heads, await check_records(changed))
    print(
        f"{done.rows} rows of the record are hashed anew, and {done.sealed} of files, batches and "
        f"keys encrypted anew; {done.texts} texts, {done.answers} "
        f"answers and {done.conversations} conversations are forgotten.\nFrom now on the store's "
        f"secret is the one in {path}: put it in the place of the old one."
    )


async def _read_accounts(config: Config, tenant: str | None) -> list[dict[str, Any]]:
    from proxy.storage.ledger import Ledger
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        ledger = Ledger(store, delta=config.limits.delta)
        tenants = [tenant] if tenant else list(await ledger.totals())
        return [await ledger.figures(name, exact=True) for name in tenants]


def _format_row(tenant: str, what: str, figures: dict[str, Any]) -> tuple[str, ...]:
    from perturb.release import format_sum, format_upper

    epsilon, disclosed = figures["epsilon"], figures.get("disclosed")
    best = epsilon["best"]
    bounded = best["bound"] != "none"
    return (
        tenant,
        what,
        str(figures["requests"]),
        str(figures["tokens"]),
        str(figures["unbounded"]),
        format_sum(epsilon["charged"]),
        format_sum(epsilon["basic"]) if bounded else "no bound",
        f"{format_upper(best['epsilon'])} ({format_upper(best['delta'])}, {best['bound']})"
        if bounded
        else "no bound",
        format_sum(epsilon["nominal"]),
        format_sum(epsilon["proved_part"]["basic"]),
        ", ".join(_format_unit(*item) for item in figures["units"].items()),
        "" if disclosed is None else f"{disclosed['tokens']} ({disclosed['unbounded']})",
    )


def _format_unit(unit: str, charged: dict[str, float]) -> str:
    """Format the charges of a unit: `36 for 3 documents`."""
    from perturb.release import format_sum

    count = int(charged["count"])
    return f"{format_sum(charged['epsilon'])} for {count} {unit}{'' if count == 1 else 's'}"
