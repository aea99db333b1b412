"""A browser of few wits: it keeps cookies, reads the token of a page and sends forms."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

__all__ = ["Browser", "Page", "browsing"]

TOKEN = re.compile(r'name="token" value="([0-9a-f]{64})"')


class Page:
    """A page as it was received."""

    def __init__(self, response: aiohttp.ClientResponse, text: str) -> None:
        self.status, self.headers, self.text = response.status, response.headers, text

    @property
    def token(self) -> str:
        found = TOKEN.search(self.text)
        assert found is not None
        return found[1]


class Browser:
    """Visits one proxy's console."""

    def __init__(self, root: str, session: aiohttp.ClientSession) -> None:
        self.root, self.session = root, session
        self.token = ""

    async def get(self, path: str = "", **headers: str) -> Page:
        url = f"{self.root}/console{path}"
        async with self.session.get(url, headers=headers) as response:
            page = Page(response, await response.text())
        if TOKEN.search(page.text):
            self.token = page.token
        return page

    async def post(self, path: str, form: dict[str, Any], **headers: str) -> Page:
        fields = {"token": self.token, **form}
        headers = {"Origin": self.root, **headers}
        url = f"{self.root}/console{path}"
        async with self.session.post(url, data=fields, headers=headers) as response:
            page = Page(response, await response.text())
        if TOKEN.search(page.text):
            self.token = page.token
        return page

    async def log_in(self, key: str) -> Page:
        await self.get()
        await self.post("/login", {"key": key})
        return await self.get("/health")

    @property
    def cookies(self) -> dict[str, str]:
        return {cookie.key: cookie.value for cookie in self.session.cookie_jar}


@asynccontextmanager
async def browsing(root: str) -> AsyncIterator[Browser]:
    jar = aiohttp.CookieJar(unsafe=True)  # cookies of addresses, not only of names
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        yield Browser(root, session)
