"""Choose the remote for a request by the name of its model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proxy.config.settings import Remote
from proxy.config.upstreams.remote import DEFAULT, make_prefix
from proxy.errors import ApiError, model_not_found
from proxy.remote.discovery import Catalogue
from proxy.remote.upstream import RemoteClient

__all__ = ["Remotes", "Route"]


@dataclass(frozen=True)
class Route:
    """Hold where a request goes: a remote, and the remote's own name for the model."""

    remote: RemoteClient
    model: str


class Remotes:
    """Hold a client for each remote, with connections, limits and a key of its own.

    The operator's names come first. Among what remotes list, no remote can take another's name:
    the alias stands in front of it.

    Args:
        configured: the settings of each remote, by alias.
        clock: tells the time, in seconds.
    """

    def __init__(
        self, configured: Mapping[str, Remote], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clients = {alias: RemoteClient(each, alias) for alias, each in configured.items()}
        self._named = {
            name: Route(client, own)
            for alias, client in self._clients.items()
            for name, own in client.config.names(alias).items()
        }
        self._catalogues = {
            alias: Catalogue(client, clock)
            for alias, client in self._clients.items()
            if client.config.patterns
        }

    @property
    def models(self) -> tuple[str, ...]:
        """Return the names of models that clients may use, as far as they are known."""
        found = [
            make_prefix(alias) + own
            for alias, catalogue in self._catalogues.items()
            for own in catalogue.names
        ]
        served = (name for name in found if self._look_up(name) is not None)
        return tuple(dict.fromkeys((*self._named, *served)))

    async def discover(self) -> None:
        """Ask each remote whose models are not all named for its list."""
        await asyncio.gather(*(catalogue.refresh() for catalogue in self._catalogues.values()))

    async def find(self, model: str) -> Route:
        """Return the route of a model. A remote that may have an unknown one is asked for its
        list again, at most every few minutes.

        Raises:
            ApiError: 404, no remote serves the name.
        """
        route = self._look_up(model)
        if route is None:
            alias, own = self._split(model)
            catalogue = self._catalogues.get(alias)
            if catalogue is not None and catalogue.allows(own):
                await catalogue.refresh()
                route = self._look_up(model)
        if route is None:
            raise model_not_found()
        return route

    async def ask(self, seconds: float) -> dict[str, bool]:
        """Ask each remote for its list of models, which sends no text; return by alias whether it
        answered within some seconds."""

        async def ask_one(client: RemoteClient) -> bool:
            try:
                async with asyncio.timeout(seconds):
                    await client.list_models()
            except (ApiError, TimeoutError):
                return False
            return True

        found = await asyncio.gather(*map(ask_one, self._clients.values()))
        return dict(zip(self._clients, found, strict=True))

    async def aclose(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(client.aclose() for client in self._clients.values()))

    def _look_up(self, model: str) -> Route | None:
        if (named := self._named.get(model)) is not None:
            return named
        alias, own = self._split(model)
        catalogue = self._catalogues.get(alias)
        if catalogue is None or own not in catalogue.names:
            return None
        return Route(self._clients[alias], own)

    def _split(self, model: str) -> tuple[str, str]:
        """Return the alias of the only remote whose list may have a name, and its name there."""
        alias, _, own = model.partition("/")
        return (alias, own) if alias in self._clients and alias != DEFAULT else (DEFAULT, model)
