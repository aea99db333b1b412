"""Discover the models of a remote: those on its own list that the operator's patterns allow.

The list is not trusted. Only names of a strict form are read from it, and only so many. A name of
a client's is compared with the list and never sent: what leaves is always the remote's own name.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from extraction.backends.answers import read_list, read_object
from proxy.config.upstreams.remote import Remote, find_place
from proxy.errors import ApiError
from proxy.remote.upstream import RemoteClient

__all__ = ["MOST", "REFRESH_SECONDS", "Catalogue", "find_served", "read_names"]

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
