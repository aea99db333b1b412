"""`inferdpt keys`: make, list and revoke clients' keys in the store."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from proxy.config import Config
from proxy.errors import ConfigError

__all__ = ["add_keys"]

EXAMPLES = """\
examples:
  inferdpt keys create alice
  inferdpt keys create bob --mechanisms rantext_ldp --epsilon-max 8 --models gpt-4o
  inferdpt keys create ci --rpm 60 --burst 10 --budget 'day=5000,total=100000'
  inferdpt keys revoke 1f2e3d4c5b6a
"""

Add = Callable[..., argparse.ArgumentParser]
Settings = Callable[[str | None], Config]


def add_keys(commands: Any, add: Add, settings: Settings) -> None:
    """Add `keys create`, `keys list` and `keys revoke`."""
    keys = add(commands, "keys", "clients' keys in the store", EXAMPLES)
    parts = keys.add_subparsers(required=True, metavar="COMMAND")
    create = add(parts, "create", "make a key; it is shown once", EXAMPLES)
    create.add_argument("tenant", help="whose key it is")
    create.add_argument("--mechanisms", metavar="NAME,…", help="the only ones it allows")
    create.add_argument("--models", metavar="NAME,…", help="the only ones it allows")
    create.add_argument("--epsilon-min", type=float, metavar="ε")
    create.add_argument("--epsilon-max", type=float, metavar="ε")
    create.add_argument("--rpm", type=float, metavar="N", help="requests a minute")
    create.add_argument("--burst", type=int, metavar="N", help="requests at once (as --rpm)")
    for name, what in (("--budget", "ε"), ("--budget-tokens", "tokens")):
        limits = "request=…,conversation=…,day=…,total=…"
        create.add_argument(name, metavar=limits, help=f"limits in {what}, any of these")
    create.set_defaults(run=lambda args: asyncio.run(_create(settings(args.config), args)))
    listing = add(parts, "list", "list the keys, without the keys")
    listing.set_defaults(run=lambda args: asyncio.run(_list(settings(args.config))))
    revoke = add(parts, "revoke", "revoke a key, from its next request on")
    revoke.add_argument("id", help="as `keys list` shows it")
    revoke.set_defaults(run=lambda args: asyncio.run(_revoke(settings(args.config), args.id)))
    for part in (create, listing, revoke):
        part.add_argument("--config", metavar="FILE", help="default: config.yaml here, if any")


async def _create(config: Config, args: argparse.Namespace) -> int:
    from proxy.auth import Keyring
    from proxy.grants import Grant
    from proxy.store import open_store

    if not args.tenant or not args.tenant.isprintable():
        raise ConfigError("the tenant must be a name of printable characters")
    wanted = {
        "mechanisms": args.mechanisms and args.mechanisms.split(","),
        "models": args.models and args.models.split(","),
        "epsilon_min": args.epsilon_min,
        "epsilon_max": args.epsilon_max,
        "requests_per_minute": args.rpm,
        "burst": args.burst,
        "budget": _limits(args.budget),
        "budget_tokens": _limits(args.budget_tokens),
    }
    try:
        grant = Grant.model_validate({k: v for k, v in wanted.items() if v is not None})
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        where = [".".join(str(part) for part in error["loc"])] if error["loc"] else []
        said = error["msg"].removeprefix("Value error, ")
        raise ConfigError(": ".join([*where, said])) from None
    async with open_store(config.store) as store:
        id_, key = await Keyring(store, config.server).create(args.tenant, grant)
    print(f"key {id_} of {args.tenant} (shown once): {key}")
    return 0


async def _list(config: Config) -> int:
    from proxy.auth import Keyring
    from proxy.store import open_store

    async with open_store(config.store) as store:
        for key in await Keyring(store, config.server).listed():
            grant = key.grant.model_dump(exclude_defaults=True, exclude_none=True)
            state = "in force" if key.revoked is None else f"revoked {_day(key.revoked)}"
            print(
                f"{key.id}  {key.tenant}  made {_day(key.created)}  {state}  {json.dumps(grant)}"
            )
    return 0


async def _revoke(config: Config, id_: str) -> int:
    from proxy.auth import Keyring
    from proxy.store import open_store

    async with open_store(config.store) as store:
        if not await Keyring(store, config.server).revoke(id_):
            raise ConfigError(f"there is no key {id_} in force")
    print(f"key {id_} is revoked")
    return 0


def _limits(text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    return {name.strip(): value for name, _, value in pairs}


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
