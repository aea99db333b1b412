"""Show addresses without secrets, and hint at those that are probably mistakes."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from proxy.config.settings import Config
from proxy.config.upstreams.remote import find_place

__all__ = ["base_url_hints", "without_user"]

ENDPOINT = re.compile(r"/(chat/completions|completions|responses|messages|embeddings|models)$")
VERSION = re.compile(r"/v\d")


def without_user(url: str) -> str:
    """Return a URL without the user and password it may hold."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def base_url_hints(config: Config) -> list[str]:
    """Return hints at likely mistakes in the base URLs.

    They do not repeat the URLs, which may hold a password.
    """
    urls = {
        f"{find_place(alias)}.base_url": remote.base_url
        for alias, remote in config.every_remote.items()
    }
    if config.local.mode == "external":
        urls["local.base_url"] = config.local.base_url
    out = []
    for name, url in urls.items():
        path = urlsplit(url).path.rstrip("/")
        if found := ENDPOINT.search(path):
            out.append(f"{name} ends with {found.group()}: leave out that part")
        elif not VERSION.search(path):
            out.append(f"{name} has no /v1: most servers need it at the end, and else answer 404")
    return out
