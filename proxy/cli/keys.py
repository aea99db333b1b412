"""`inferdpt keys`: make, list, rotate, revoke and move clients' keys, or reopen the proxy."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proxy.cli.help import group_page, page
from proxy.cli.options import ConfigFile, load_configuration

if TYPE_CHECKING:
    from proxy.access.auth import Grant, StoredKey, Terms
    from proxy.config.settings import Config
    from proxy.errors import ConfigError

__all__ = [
    "create",
    "export",
    "import_keys",
    "keys_group",
    "list_keys",
    "new",
    "reopen",
    "revoke",
    "rotate",
]

FIRST = """\
There was no key before. Until now a proxy on this store was open to this machine without a key.
From now on every client needs one, even of a running proxy, and even after all keys are revoked
(`inferdpt keys reopen` undoes that).\
"""
REOPENED = """\
the revoked keys are forgotten: a proxy that starts from now on is open to this machine without a
key; a running one stays as it is until it is restarted\
"""
NOBODY = "every request is refused until you run `inferdpt keys create TENANT`"

NOTE = """\
Once there has been a key, every client needs one, even after it is revoked.
`inferdpt keys reopen` and a restart of the proxy undo that."""
EXPORT_NOTE = """\
A line of JSON for each key, revoked ones included: id, SHA-256, tenant, role, label, owner, times
and limits. No key can be made of it. It has the terms of --deny in the clear."""
IMPORT_NOTE = """\
The clients go on with the keys that they have. All keys are taken over, or none: each line that
cannot be is named. Limits are encrypted under the secret of this store."""
LIMITS = "NAME=N,…"
ID = re.compile("[0-9a-f]{12}")
TIME = re.compile("([0-9]{1,6})([mhdw])")
UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def _parse_time(text: str) -> float:
    """Return the seconds of a time such as 90d."""
    found = TIME.fullmatch(text)
    if found is None:
        raise typer.BadParameter("must be a whole number and m, h, d or w, such as 90d")
    return int(found[1]) * UNITS[found[2]]


Tenant = Annotated[str, typer.Argument(metavar="TENANT", help="Name the client.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="Name the key, as `keys list` shows it.")]
OnBehalf = Annotated[
    bool,
    typer.Option(
        "--on-behalf",
        help="Make the key of a trusted front end, which names the user of each request in the "
        "header server.user_header. Each user is a tenant with limits of its own.",
    ),
]
Expires = Annotated[
    float | None,
    typer.Option(
        metavar="TIME",
        parser=_parse_time,
        help="End the key after this time, such as 90d or 12h (default: never).",
    ),
]


def keys_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page(
            "inferdpt keys create alice",
            "inferdpt keys list",
            "inferdpt keys rotate 1f2e3d4c5b6a --overlap 7d",
            "inferdpt keys revoke 1f2e3d4c5b6a",
            "inferdpt keys export > keys.jsonl",
        ),
        help="Make, list, rotate, revoke and move clients' keys.",
        no_args_is_help=True,
    )
    creating = page(
        "inferdpt keys create alice",
        "inferdpt keys create bob --mechanisms rantext_ldp --epsilon-max 8 --models gpt-4o",
        "inferdpt keys create ci --rpm 60 --burst 10 --budget 'day=5000,total=100000'",
        "inferdpt keys create web --actions 'PASSWORD=refuse,API_KEY=refuse'",
        "inferdpt keys create open-webui --on-behalf --rpm 30 --budget day=5000",
        "inferdpt keys create alice --label laptop --owner 'Alice Roe' --expires 90d",
        notes=lambda: NOTE,
    )
    app.command("create", cls=creating)(create)
    app.command("new", cls=page("inferdpt keys new alice"))(new)
    app.command("list", cls=page("inferdpt keys list"))(list_keys)
    rotating = page(
        "inferdpt keys rotate 1f2e3d4c5b6a --overlap 7d",
        "inferdpt keys rotate 1f2e3d4c5b6a --overlap 24h --expires 90d",
    )
    app.command("rotate", cls=rotating)(rotate)
    app.command("revoke", cls=page("inferdpt keys revoke 1f2e3d4c5b6a"))(revoke)
    exporting = page("inferdpt keys export > keys.jsonl", notes=lambda: EXPORT_NOTE)
    app.command("export", cls=exporting)(export)
    importing = page(
        "inferdpt keys import keys.jsonl --dry-run",
        "inferdpt keys import keys.jsonl",
        notes=lambda: IMPORT_NOTE,
    )
    app.command("import", cls=importing)(import_keys)
    app.command("reopen", cls=page("inferdpt keys reopen"))(reopen)
    return app


def create(
    tenant: Tenant,
    mechanisms: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Allow only these mechanisms.")
    ] = None,
    models: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Allow only these models.")
    ] = None,
    epsilon_min: Annotated[
        float | None, typer.Option(metavar="ε", help="Allow no smaller ε.")
    ] = None,
    epsilon_max: Annotated[
        float | None, typer.Option(metavar="ε", help="Allow no larger ε.")
    ] = None,
    rpm: Annotated[
        float | None, typer.Option(metavar="N", help="Allow this many requests a minute.")
    ] = None,
    burst: Annotated[
        int | None,
        typer.Option(metavar="N", help="Allow this many requests at once (default: as --rpm)."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar=LIMITS, help="Limit ε by request, conversation, day, total."),
    ] = None,
    budget_tokens: Annotated[
        str | None, typer.Option(metavar=LIMITS, help="Limit tokens, by the same names.")
    ] = None,
    budget_unbounded: Annotated[
        str | None,
        typer.Option(metavar=LIMITS, help="Limit tokens without a proved bound, likewise."),
    ] = None,
    actions: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE=ACTION,…",
            help="Treat marked parts of a type, or of * (every type), at least so: keep, "
            "value, replace, surrogate, refuse.",
        ),
    ] = None,
    deny: Annotated[
        list[str] | None,
        typer.Option(metavar="TERM", help="Always mark this term, too. Repeatable."),
    ] = None,
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE=P,…",
            help="Mark words also from this probability of the detector on, by type.",
        ),
    ] = None,
    on_behalf: OnBehalf = False,
    label: Annotated[
        str, typer.Option(metavar="TEXT", help="Tell the key from others of its tenant.")
    ] = "",
    owner: Annotated[
        str, typer.Option(metavar="TEXT", help="Name the person who answers for the key.")
    ] = "",
    expires: Expires = None,
    config: ConfigFile = None,
) -> int:
    """Make a key in the store; it is shown once."""
    from proxy.access.auth import Terms, build_grant, check_note, check_tenant, parse_pairs

    settings = load_configuration(config)
    check_tenant(tenant)
    check_note("label", label)
    check_note("owner", owner)
    grant = build_grant(
        mechanisms=mechanisms and mechanisms.split(","),
        models=models and models.split(","),
        epsilon_min=epsilon_min,
        epsilon_max=epsilon_max,
        requests_per_minute=rpm,
        burst=burst,
        budget=parse_pairs(budget),
        budget_tokens=parse_pairs(budget_tokens),
        budget_unbounded=parse_pairs(budget_unbounded),
        actions=parse_pairs(actions),
        deny=deny and tuple(deny),
        thresholds=parse_pairs(thresholds),
    )
    asyncio.run(_create(settings, tenant, grant, Terms(on_behalf, label, owner, expires)))
    return 0


def new(tenant: Tenant, on_behalf: OnBehalf = False) -> int:
    """Make a key for config.yaml, and print its lines.

    `keys create` keeps a key in the store instead, with limits of its own.
    """
    from proxy.access.auth import check_tenant, new_key

    check_tenant(tenant)
    key, digest = new_key()
    print(f"key for the client (shown once): {key}\n\nfor config.yaml:\n")
    print("server:\n  keys:")
    print(f"    - tenant: {json.dumps(tenant)}\n      sha256: {digest}")
    if on_behalf:
        print("      on_behalf: true")
    return 0


def list_keys(config: ConfigFile = None) -> int:
    """List the keys in the store, without their secrets."""
    asyncio.run(_list(load_configuration(config)))
    return 0


def rotate(
    id_: Id,
    overlap: Annotated[
        float,
        typer.Option(
            metavar="TIME",
            parser=_parse_time,
            help="Leave the old key in force for this time, such as 7d or 12h.",
        ),
    ],
    expires: Expires = None,
    config: ConfigFile = None,
) -> int:
    """Replace a key by a new one; both are in force for a while.

    The new key has the tenant, limits, label and owner of the old one, which ends after the
    overlap, or earlier if it would have.
    """
    asyncio.run(_rotate(load_configuration(config), id_, overlap, expires))
    return 0


def revoke(id_: Id, config: ConfigFile = None) -> int:
    """Revoke a key in the store from its next request on."""
    asyncio.run(_revoke(load_configuration(config), id_))
    return 0


def export(config: ConfigFile = None) -> int:
    """Print the keys in the store as lines of JSON, for another store."""
    asyncio.run(_export(load_configuration(config)))
    return 0


def import_keys(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Read what `keys export` printed."),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the file and the store; change nothing.")
    ] = False,
    config: ConfigFile = None,
) -> int:
    """Take over the keys of another store, all or none."""
    from proxy.access.key_lines import read_keys

    settings = load_configuration(config)
    with _naming(file):
        keys = read_keys(file.read_bytes())
    asyncio.run(_import(settings, file, keys, dry_run))
    return 0


def reopen(config: ConfigFile = None) -> int:
    """Forget revoked keys, so that this machine needs none."""
    asyncio.run(_reopen(load_configuration(config)))
    return 0


async def _create(config: Config, tenant: str, grant: Grant, terms: Terms) -> None:
    from proxy.access.auth import Keyring
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        keyring = Keyring(store, config.server)
        first = not await keyring.required()
        id_, key = await keyring.create(tenant, grant, terms)
        print(FIRST if first else await keyring.mode())
    print(f"key {id_} of {tenant} (shown once): {key}")


async def _list(config: Config) -> None:
    from proxy.access.auth import Keyring
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        for key in await Keyring(store, config.server).list_keys():
            print("  ".join(_describe(key)))


def _describe(key: StoredKey) -> list[str]:
    """Return what the line of a key says."""
    if key.revoked is not None:
        state = f"revoked {_format_day(key.revoked)}"
    elif not key.in_force:
        state = f"ended {_format_day(key.expires)}"
    else:
        state = "in force" if key.expires is None else f"in force to {_format_day(key.expires)}"
    grant = key.grant.model_dump(exclude_defaults=True, exclude_none=True)
    notes = {"label": key.label, "owner": key.owner}
    return [
        key.id,
        key.tenant,
        *(["on behalf of its users"] if key.on_behalf else []),
        *(f"{name} {json.dumps(text)}" for name, text in notes.items() if text),
        f"made {_format_day(key.created)}",
        "never used" if key.used is None else f"used {_format_day(key.used)}",
        state,
        json.dumps(grant),
    ]


async def _export(config: Config) -> None:
    from proxy.access.auth import Keyring
    from proxy.access.key_lines import write_line
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        for key in await Keyring(store, config.server).list_keys():
            print(write_line(key))


async def _import(
    config: Config, file: Path, keys: Mapping[int, StoredKey], dry_run: bool
) -> None:
    from proxy.access.auth import Keyring
    from proxy.storage.opening import open_store

    count = f"{len(keys)} keys" if len(keys) > 1 else "1 key"
    async with open_store(config.store) as store:
        keyring = Keyring(store, config.server)
        first = not await keyring.required()
        with _naming(file):
            await keyring.adopt(keys, only_check=dry_run)
        if dry_run:
            print(f"{count} would be imported; nothing is changed")
            return
        print(f"imported: {count}, {sum(key.in_force for key in keys.values())} in force")
        print(FIRST if first else await keyring.mode())


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Say which file has the faults, and that nothing of it is imported."""
    from proxy.errors import ConfigError

    try:
        yield
    except ConfigError as exc:
        raise ConfigError(f"{file}: no key is imported\n{exc}") from None


async def _rotate(config: Config, id_: str, overlap: float, seconds: float | None) -> None:
    from proxy.access.auth import Keyring
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        made = await Keyring(store, config.server).rotate(id_, overlap, seconds)
    if made is None:
        raise _make_error("rotate", id_)
    print(f"key {made[0]} takes the place of {id_} (shown once): {made[1]}")


async def _revoke(config: Config, id_: str) -> None:
    from proxy.access.auth import Keyring
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        keyring = Keyring(store, config.server)
        if not await keyring.revoke(id_):
            raise _make_error("revoke", id_)
        print(f"key {id_} is revoked: {await keyring.mode()}")
        if not await keyring.count_in_force():
            print(NOBODY)


async def _reopen(config: Config) -> None:
    from proxy.access.auth import Keyring
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        await Keyring(store, config.server).reopen()
    print(REOPENED)


def _make_error(command: str, id_: str) -> ConfigError:
    """Return the error of an id that no key in force has."""
    from proxy.errors import ConfigError

    if not ID.fullmatch(id_):  # not repeated, since it may be a key
        return ConfigError(f"{command} takes the id of a key, as `keys list` shows it")
    return ConfigError(f"there is no key {id_} in force")


def _format_day(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).date().isoformat()
