"""Choose the remote for a request by the name of its model, and discover a remote's models.

A model is served if it is on the remote's own list and the operator's patterns allow it. The list
is not trusted: only names of a strict form are read from it, and only so many. A name of a
client's is compared with the list and never sent: what leaves is always the remote's own name.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from extraction.backends.base import read_list, read_object
from proxy.config.upstreams.remote import DEFAULT, Remote, find_place, make_prefix
from proxy.errors import ApiError, model_not_found
from proxy.remote.upstream import RemoteClient

__all__ = ["MOST", "REFRESH_SECONDS", "Catalogue", "Remotes", "Route", "find_served", "read_names"]


logger = logging.getLogger("inferdpt.remote")
REFRESH_SECONDS = 300.0  # between two requests for a list
MOST = 1_000  # models of a remote
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}")


class Catalogue:
    """Keep the models that a remote lists.

    Args:
        client: asks the remote.
        clock: tells the time, in seconds.

    Attributes:
        names: the remote's names of the models that its patterns allow, in its order; a mapping
            for its look-up.
    """

    def __init__(self, client: RemoteClient, clock: Callable[[], float]) -> None:
        self.names: Mapping[str, None] = {}
        self._client = client
        self._clock = clock
        self._asked: float | None = None
        self._lock = asyncio.Lock()

    def allows(self, name: str) -> bool:
        """Tell if the remote may have a model of this name."""
        return bool(find_served(self._client.config, [name]))

    async def refresh(self) -> None:
        """Ask the remote, unless it was asked a short time ago. If it fails, what is known
        stays."""
        async with self._lock:
            now = self._clock()
            if self._asked is not None and now < self._asked + REFRESH_SECONDS:
                return
            self._asked = now
            place = find_place(self._client.alias)
            try:
                listed = read_names(await self._client.list_models())
            except ApiError as exc:
                logger.warning("%s: its models cannot be listed: %s", place, exc.message)
            except ValueError:
                logger.warning("%s: its list of models is not of the usual form", place)
            else:
                self.names = dict.fromkeys(find_served(self._client.config, listed))
                logger.info("%s: serves %d of %d models", place, len(self.names), len(listed))


def find_served(remote: Remote, names: Iterable[str]) -> list[str]:
    """Return the names that have the form of names and match a pattern of a remote's."""
    patterns = remote.patterns
    found = (n for n in names if NAME.fullmatch(n) and any(fnmatchcase(n, p) for p in patterns))
    return list(islice(found, MOST))


def read_names(told: Any) -> list[str]:
    """Return the names on a list of models that have the form of names, each once.

    Raises:
        ValueError: it is not a list of models.
    """
    listed = read_list(read_object(told).get("data"))
    names = (read_object(item).get("id") for item in listed)
    return list(dict.fromkeys(n for n in names if isinstance(n, str) and NAME.fullmatch(n)))


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
        """Ask for the lists of all remotes that have more models than the configuration names."""
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
