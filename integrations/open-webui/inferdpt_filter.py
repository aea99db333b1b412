"""
title: InferDPT
description: Replaces names, numbers and addresses before a chat leaves, and puts them back.
author: InferDPT Proxy
version: 0.2.0
license: MIT
requirements: aiohttp
required_open_webui_version: 0.12.0
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import (
    Awaitable,
    Callable,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from copy import copy
from functools import cached_property
from html import unescape
from html.entities import codepoint2name
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

import aiohttp
from pydantic import BaseModel, Field

SECONDS = 60.0
OLDEST = (0, 12)  # of Open WebUI: older ones do not call `request`, or name settings otherwise
# A shield, shown beside the message box.
ICON = (
    "data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' "
    "fill='none' stroke='currentColor' stroke-width='2'>"
    "<path d='M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z'/></svg>"
)
# Settings of Open WebUI that make it send a chat by itself, where no filter sees it.
UNSEEN = {
    "task.title.enable": "titles",
    "task.tags.enable": "tags",
    "task.follow_up.enable": "follow-up questions",
    "task.autocomplete.enable": "autocompletion",
    "task.query.search.enable": "queries for web search",
    "task.query.retrieval.enable": "queries for retrieval",
    "chat.context_compaction.enable": "context compaction",
    "memories.background_review.enable": "review of memories",
}
KEPT = ("metadata", "model")  # Open WebUI reads the first and does not send it
Emit = Callable[[dict[str, Any]], Awaitable[None]]


class Filter:
    """Sanitize chats with an InferDPT Proxy in gateway mode while the switch is on."""

    class Valves(BaseModel):
        """Hold the settings that an administrator makes."""

        priority: int = Field(1_000_000, description="Run after filters with a lower number.")
        base_url: str = Field("http://127.0.0.1:8100/v1", description="Address of the proxy.")
        api_key: str = Field("none", description="Key that the proxy issued.")
        model: str = Field("gpt-4o", description="A model that the proxy serves.")
        show: bool = Field(True, description="Show the text that left, below the answer.")
        allow_unseen: bool = Field(
            False,
            description="Serve although Open WebUI sends texts that no filter sees, such as "
            "requests for titles: only if they go to a model of your own.",
        )

    def __init__(self) -> None:
        self.valves = self.Valves()
        self.toggle = True  # Open WebUI shows a switch, and runs the filter while it is on
        self.icon = ICON

    async def inlet(self, body: dict[str, Any]) -> dict[str, Any]:
        """Refuse a chat of which Open WebUI would send something past its filters.

        Raises:
            RuntimeError: Open WebUI shows the reason, and does not send the chat.
        """
        if not self.valves.allow_unseen and (unseen := await _list_unseen(body.get("model"))):
            raise RuntimeError(
                f"InferDPT: Open WebUI sends {', '.join(unseen)} past its filters. An "
                "administrator can turn them off, or set the valve allow_unseen."
            )
        return body

    async def request(
        self,
        body: dict[str, Any],
        __metadata__: dict[str, Any],
        __request__: Any,
        __event_emitter__: Emit | None = None,
    ) -> dict[str, Any]:
        """Return the whole request sanitized, directly before it is sent. After a tool has
        answered, Open WebUI calls this again.

        Raises:
            RuntimeError: the proxy refused or failed. Open WebUI shows the reason, and sends
                nothing.
        """
        ways = _get_ways_back(__request__)
        chat = {key: value for key, value in body.items() if key not in KEPT}
        if (former := ways.get(_name(__metadata__))) is not None:
            # The turns so far have been sanitized already; replacements are not replaced again.
            chat["messages"] = former.restore(chat["messages"])
        done = await self._sanitize(chat)
        ways[_name(__metadata__)] = WayBack(done)
        if __event_emitter__ is not None:
            for event in _describe(done, show=self.valves.show):
                await __event_emitter__(event)
        done["body"].pop("store", None)
        return {**done["body"], **{key: body[key] for key in KEPT if key in body}}

    def stream(
        self, event: dict[str, Any], __metadata__: dict[str, Any], __request__: Any
    ) -> dict[str, Any]:
        """Restore one event of a streamed answer."""
        back = _get_ways_back(__request__).get(_name(__metadata__))
        for choice in event.get("choices") or () if back else ():
            back.restore_choice(choice)
        return event

    async def outlet(
        self, body: dict[str, Any], __metadata__: dict[str, Any], __request__: Any
    ) -> dict[str, Any]:
        """Restore an answer that did not stream."""
        back = _get_ways_back(__request__).get(_name(__metadata__))
        messages = body.get("messages") or []
        if back and not back.streamed and messages and messages[-1].get("role") == "assistant":
            last = messages[-1]
            if isinstance(last.get("content"), str):
                last["content"] = back.restore_content(last["content"])
            last |= {"output": back.restore(last["output"])} if last.get("output") else {}
        return body

    async def _sanitize(self, chat: dict[str, Any]) -> dict[str, Any]:
        url = self.valves.base_url.rstrip("/") + "/privacy/sanitize"
        how = {
            "json": {**chat, "model": self.valves.model},
            "headers": {"Authorization": f"Bearer {self.valves.api_key}"},
            "allow_redirects": False,
        }
        # Raw text goes here: the environment's HTTP proxies must not see it.
        session = aiohttp.ClientSession(trust_env=False, timeout=aiohttp.ClientTimeout(SECONDS))
        try:
            async with session, session.post(url, **how) as answer:
                found: dict[str, Any] = await answer.json()
        except (aiohttp.ClientError, TimeoutError, ValueError):
            raise RuntimeError("The InferDPT Proxy cannot be reached; nothing was sent.") from None
        if answer.status != 200 or found.get("object") != "privacy.sanitization":
            told = (found.get("error") or {}).get("message") or f"status {answer.status}"
            raise RuntimeError(f"InferDPT: {told}")
        return found


def _get_ways_back(request: Any) -> dict[str, WayBack]:
    """Return the ways back of the answers to one request of a browser; it may ask many models."""
    if not hasattr(request.state, "inferdpt"):
        request.state.inferdpt = {}
    found: dict[str, WayBack] = request.state.inferdpt
    return found


def _name(metadata: dict[str, Any]) -> str:
    """Return the name of an answer that is awaited."""
    return f"{metadata.get('chat_id')}/{metadata.get('message_id')}"


async def _list_unseen(model: Any) -> list[str]:
    """List what Open WebUI sends past its filters. Raises `RuntimeError`: it cannot be told."""
    try:
        from open_webui.env import VERSION
        from open_webui.models.config import Config
        from open_webui.models.models import Models

        version = tuple(map(int, VERSION.split(".")[:2]))
        on = {name: await Config.get(name) for name in UNSEEN}
        info = await Models.get_model_by_id(model)
        prompt = info.params.model_dump().get("system") if info else None
    except (ImportError, AttributeError, TypeError, ValueError):
        version, on, prompt = (0, 0), {}, None
    if version < OLDEST or None in on.values():
        raise RuntimeError("InferDPT: this filter does not know this version of Open WebUI.")
    return [UNSEEN[name] for name, is_on in on.items() if is_on] + (
        ["the model's own system prompt"] if prompt else []
    )


def _describe(done: dict[str, Any], *, show: bool) -> list[dict[str, Any]]:
    """Return the events that tell what was replaced in the messages, and what leaves."""
    counts: Counter[str] = Counter()
    for position, found in done["receipt"]["positions"].items():
        if position.startswith("messages"):
            counts.update(found)
    parts = ", ".join(f"{number} × {kind}" for kind, number in counts.items())
    told = f"InferDPT replaced {parts}" if parts else "InferDPT found nothing to replace"
    events = [{"type": "status", "data": {"description": told, "done": True}}]
    texts = [_join(message.get("content")) for message in done["body"]["messages"]]
    if show and (left := [text for text in texts if text][-1:]):
        source = {
            "document": left,
            "metadata": [{"source": "What left"}],
            "source": {"name": "What left"},
        }
        events.append({"type": "source", "data": source})
    return events


def _join(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


# Copied by scripts/bundle_restoring.py; change the originals.

_FIRST = 64  # characters of a text that are looked at first


class Prefixes:
    """Find which of many strings begin at a place of a text.

    They are compared as a whole by binary search, not character by character: a string that
    repeats itself costs no more than another one.

    Args:
        strings: what is looked for; none of them is empty.

    >>> Prefixes(["to", "today", "tomorrow"]).find("see you today", 8)
    ['today', 'to']
    """

    def __init__(self, strings: Iterable[str]) -> None:
        self._sorted = sorted(set(strings))
        self._shorter: list[int] = []  # the longest other one that each begins with, or -1
        open_: list[int] = []
        for place, string in enumerate(self._sorted):
            while open_ and not string.startswith(self._sorted[open_[-1]]):
                open_.pop()
            self._shorter.append(open_[-1] if open_ else -1)
            open_.append(place)
        # A fast check: at most places, no string begins.
        self._size = min(map(len, self._sorted), default=0)
        self._beginnings = {string[: self._size] for string in self._sorted}

    def find(self, text: str, start: int) -> list[str]:
        """Return the strings that a text continues with at a place, the longest first."""
        if text[start : start + self._size] not in self._beginnings:
            return []
        size = _FIRST
        rest = text[start : start + size]
        place = bisect_right(self._sorted, rest)
        while len(rest) == size and place < len(self._sorted):
            if not self._sorted[place].startswith(rest):
                break
            size *= 2
            rest = text[start : start + size]
            place = bisect_right(self._sorted, rest)
        # Every string that `rest` begins with also begins the last one that sorts before it.
        found = []
        place -= 1
        while place >= 0:
            if rest.startswith(self._sorted[place]):
                found.append(self._sorted[place])
            place = self._shorter[place]
        return found

    def continues(self, beginning: str) -> bool:
        """Tell if one of the strings begins so and is longer."""
        if len(beginning) > self._size and beginning[: self._size] not in self._beginnings:
            return False
        place = bisect_right(self._sorted, beginning)
        return place < len(self._sorted) and self._sorted[place].startswith(beginning)


LOOK_AHEAD = 64  # characters after a replacement that may decide
ENTITY = 32  # characters of the longest entity
WINDOW = 128  # characters of the text so far that may begin an address, written with entities
# With the elements of SVG that may load something; others have no attribute that loads.
_TAGS = re.compile(
    r"a|abbr|acronym|address|applet|area|article|aside|audio|b|base|basefont|bdi|"
    r"bdo|bgsound|big|blink|blockquote|body|br|button|canvas|caption|center|cite|"
    r"code|col|colgroup|command|data|datalist|dd|del|details|dfn|dialog|dir|div|"
    r"dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|frame|frameset|"
    r"h1|h2|h3|h4|h5|h6|head|header|hgroup|hr|html|i|iframe|image|img|input|"
    r"ins|isindex|kbd|keygen|label|layer|legend|li|link|main|map|mark|marquee|"
    r"math|menu|menuitem|meta|meter|nav|nobr|noembed|noframes|noscript|object|ol|"
    r"optgroup|option|output|p|param|picture|plaintext|portal|pre|progress|q|rb|"
    r"rp|rt|rtc|ruby|s|samp|script|search|section|select|slot|small|source|span|"
    r"strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|"
    r"tfoot|th|thead|time|title|tr|track|tt|u|ul|var|video|wbr|xmp|animate|"
    r"animatemotion|animatetransform|circle|defs|ellipse|feimage|filter|foreignobject|"
    r"g|line|lineargradient|marker|mask|path|pattern|polygon|polyline|radialgradient|"
    r"rect|set|stop|symbol|text|textpath|tspan|use|view",
    re.IGNORECASE,
)
# The last character of a beginning of an address, after one that may stand before it.
_TRIGGER = re.compile(
    r"<|(?<![^/\\;:])[/\\]|(?<![^\w;\\+.-]):|(?<![^\]lL])\(|(?<![^\sA-Za-z])=|(?<![^wW;])\."
    r"|(?<!\W);"
)
# A scheme that a client may fetch needs no slashes after it. `mailto:` and the like fetch nothing.
_BEGIN = re.compile(
    r"(?://|(?<!\w)(?:https?|wss?|ftp|data|blob|javascript|vbscript):|(?<!\w)file:[/\\]"
    r"|(?<!\w)www\.|<(?!(?:mailto|tel):)[a-z][a-z0-9+.-]{1,31}:)\Z",
    re.IGNORECASE,
)
_BACKSLASHES = re.compile(r"(?<![\w:.\\/])[/\\]{2}\Z")  # a browser reads `\` as `/`: not C:\\
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # a backslash escape of Markdown
_TARGET = re.compile(r"(?:\]|(?<!\w)url)\(\Z", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?:href|src|srcset|poster|formaction|style)\s{0,3}=\Z", re.IGNORECASE)
_DEFINING = re.compile(r"\]:[ \t]*+(?:\r?\n)?[ \t>]*+(?P<begun>(?!<)\S{1,128}+)?\Z")  # a reference
_NAME = re.compile(r"[A-Za-z0-9]*")
_END_OF_RUN = re.compile(r"[\s<]")
_END_OF_VALUE = re.compile(r"[\s>]")  # of an attribute without quotes
_END_OF_POINTY = re.compile(r"[>\n]")
_QUOTES = {quote: re.compile(quote) for quote in "\"'"}
_RUN_AND_BLANKS = re.compile(r"[^ \t\r\n]*[ \t]*")
_END_OF_STYLE = re.compile(r"</style", re.IGNORECASE)
_IN_TARGET = re.compile(r"[\\()>\"'\s]")
_WHOLE = frozenset((("<", ">"), ("]", ")")))
_OWN = re.compile(r"//|www\.", re.IGNORECASE)
_HOST_ENDS = re.compile(r"[^/?#]*//[^/?#\\]+[/?#]")  # whatever follows goes to the same host
_ENDS = re.compile(r"[)\]}>\"'*_`|.,;:!?]{0,8}(?:(?P<end>[\s<])|\Z)")


class Addresses:
    """Follow a text. The result does not depend on how the text is cut.

    Addresses are: the rest of a run of characters after `//`, `\\\\`, `www.` or a scheme that
    can be fetched, also where they are written with entities of HTML or backslash escapes; a
    target of Markdown or `url()`; an attribute that holds an address or a style; all inside a tag
    or `<style>` of HTML; and the destination of a reference.
    """

    def __init__(self) -> None:
        self._state = "text"
        self._recent = ""  # the end of the text that is outside of addresses
        self._opening = False  # nothing of the address has come yet
        self._quote = ""  # that ends a part of a tag, a target or an attribute
        self._depth = 0  # of parentheses in a target
        self._step = ""  # of a tag, as HTML's tokenizer names them
        self._tag = ""

    @property
    def inside(self) -> bool:
        """Tell if the next character belongs to an address that has begun."""
        return self._state not in ("text", "name") and not self._opening

    def admits(self, new: str, raw: str, following: str, *, whole: bool) -> bool | None:
        """Tell if a value may be restored as the next part of the text.

        A replacement that is an address itself, or stands for one, may, as the user wrote it, if
        the remote added nothing to its host; and so may a whole tag of HTML or
        target of Markdown.

        Args:
            new, raw: the replacement and its value.
            following: the text after it, at least `LOOK_AHEAD` characters where there are as many.
            whole: whether nothing comes after `following`.

        Returns:
            None if more of the text is needed.
        """
        if self.inside and not (self._state == "run" and new[:1] == raw[:1] == "<"):
            return False  # a tag ends a run
        if (new[:1], new[-1:]) in _WHOLE:  # a tag or a target that the user wrote
            return True
        if _OWN.search(new) or _OWN.search(raw):
            return bool(_HOST_ENDS.match(raw)) or self._ends(following, whole=whole)
        if self._opening:
            return False
        if self._state == "text" and _DEFINING.search(self._recent):
            return _cannot_define(raw, following, whole=whole)
        return True

    def read(self, text: str) -> None:
        """Read the next piece of the text."""
        place = 0
        while place < len(text):
            place = getattr(self, f"_read_{self._state}")(text, place)

    def _enter(self, state: str, *, opening: bool = False) -> None:
        self._state, self._opening = state, opening
        self._recent = self._quote = self._step = ""

    def _read_text(self, text: str, place: int) -> int:
        """Read up to the next beginning of an address, and return the place after it."""
        for found in _TRIGGER.finditer(text, place):
            end = found.end()
            first = max(place, end - WINDOW)
            before = self._recent if first == place else ""
            if self._begin((before + text[first:end])[-WINDOW:]):
                return end
        self._recent = (self._recent + text[max(place, len(text) - WINDOW) :])[-WINDOW:]
        return len(text)

    def _begin(self, seen: str) -> bool:
        """Tell if an address begins with the last character, and enter it."""
        last = seen[-1]
        if last == ";":
            entity = seen[seen.rfind("&") :]
            if len(entity) > ENTITY or unescape(entity) not in "/\\:.":
                return False
            before = seen[: -len(entity)]
            if unescape(before[before.rfind("&") :])[-1:] == ":" == unescape(entity):
                return False  # a scheme ends in no second colon
        if last == "<":
            pointy = _DEFINING.search(seen[:-1])
            self._enter("pointy" if pointy and not pointy["begun"] else "name")
        elif last == "(" and _TARGET.search(seen[-5:]):
            self._enter("target", opening=True)
            self._depth = 1
        elif last == "=" and _ATTRIBUTE.search(seen[-16:]):
            self._enter("attribute", opening=True)
        elif last in "/\\:.;" and _begins_run(seen):
            self._enter("run")
        elif last in "/\\;" and _BACKSLASHES.search(unescape(seen)):
            self._enter("slashes")
        else:
            return False
        return True

    def _read_run(self, text: str, place: int) -> int:
        return self._find_end(_END_OF_RUN, text, place)

    def _read_slashes(self, text: str, place: int) -> int:
        """Read what follows two backslashes: a host, or something else that is escaped twice."""
        first = text[place]
        if first in "/\\":
            return place + 1
        self._enter("run" if first.isalnum() or first in "&[%" else "text")
        return place

    def _read_pointy(self, text: str, place: int) -> int:
        return self._find_end(_END_OF_POINTY, text, place)

    def _read_attribute(self, text: str, place: int) -> int:
        if self._opening:
            return self._open(text[place], place)
        end = _QUOTES[self._quote] if self._quote else _END_OF_VALUE
        return self._find_end(end, text, place)

    def _open(self, first: str, place: int) -> int:
        """Read the first character of an attribute or a target, or one before it."""
        if first.isspace():
            return place + 1
        if first in "\"'" and not self._quote:
            self._quote = first
            return place + 1
        self._opening = False
        return place

    def _find_end(self, end: re.Pattern[str], text: str, place: int) -> int:
        found = end.search(text, place)
        if found is None:
            return len(text)
        self._enter("text")
        return found.start()

    def _read_target(self, text: str, place: int) -> int:
        """Read a part of a target: its parentheses pair up, outside of quotes and `<…>`."""
        first = text[place]
        if self._opening:
            if first == "<" and not self._quote:
                self._quote = ">"
                return place + 1
            return self._open(first, place)
        if self._step == "escaped":
            self._step = "line" if first == "\n" else ""
            return place + 1
        found = _IN_TARGET.search(text, place)
        if found is None:
            self._step = ""
            return len(text)
        before = self._step if found.start() == place else ""
        first, self._step = found[0], ""
        if first == "\n" and before == "line":  # a link ends before a blank line
            self._enter("text")
        elif first.isspace():
            self._step = "line" if first == "\n" or before == "line" else "blank"
        elif first == "\\":
            self._step = "escaped"
        elif self._quote:
            self._quote = "" if first == self._quote else self._quote
        elif first in "\"'" and before:
            self._quote = first
        elif first in "()":
            self._depth += 1 if first == "(" else -1
            if not self._depth:
                self._enter("text")
        return found.end()

    def _read_name(self, text: str, place: int) -> int:
        """Read the name of a tag, until it is one or none."""
        found = _NAME.match(text, place)
        assert found is not None
        self._recent += found[0]
        if found.end() == len(text) and len(self._recent) < WINDOW:
            return len(text)
        name, after = self._recent.lower(), text[found.end() : found.end() + 1]
        if _TAGS.fullmatch(name) and (after.isspace() or after in ("/", ">")):
            self._enter("tag")
            self._tag, self._step = name, "start"
        else:
            self._enter("text")
            self._recent = f"<{name}"[-WINDOW:]
        return found.end()

    def _read_tag(self, text: str, place: int) -> int:
        """Read a character of a tag as HTML's tokenizer does, or a part of a quoted value."""
        first, step = text[place], self._step
        if step == "quoted":
            end = text.find(self._quote, place)
            if end == place:
                self._quote, self._step = "", "before name"
            self._opening = False
            return place + 1 if end == place else end if end >= 0 else len(text)
        self._opening = False
        if step == "start" and len(self._tag) == 1 and not (first.isalpha() or first in " \t\n/>"):
            self._enter("text")  # `i<a && …`; other attributes of these elements load nothing
            return place
        if first == ">":
            self._enter("style" if self._tag == "style" else "text")
        elif first.isspace():
            self._step = {"name": "after name", "unquoted": "before name"}.get(step, step)
            self._opening = step == "before value"
        elif step == "before value":
            self._step = "quoted" if first in "\"'" else "unquoted"
            self._quote = first if first in "\"'" else ""
            self._opening = self._step == "quoted"
        elif step != "unquoted":
            if first == "/":
                self._step = "before name"
            elif first == "=" and step in ("name", "after name"):
                self._step, self._opening = "before value", True
            else:
                self._step = "name"
        return place + 1

    def _read_style(self, text: str, place: int) -> int:
        size = len("</style")
        head = self._recent + text[place : place + size]
        found = _END_OF_STYLE.search(head)
        end = place + found.end() - len(self._recent) if found else 0
        if not found and (found := _END_OF_STYLE.search(text, place)):
            end = found.end()
        if found:
            self._enter("text")
            return end
        self._recent = (head + text[max(place + size, len(text) - size) :])[-size:]
        return len(text)

    def _ends(self, following: str, *, whole: bool) -> bool | None:
        """Tell if an address ends before a text."""
        if self._opening and following:
            ends = self._quote or (")" if self._state == "target" else ">")
            return following[0] in ends or (not self._quote and following[0].isspace())
        found = _ENDS.match(following)
        if found is None or found["end"] or whole:
            return found is not None
        return None


def _begins_run(seen: str) -> bool:
    """Tell if the end of a text begins an address, as it is or decoded."""
    if "&" not in seen and "\\" not in seen:
        return _BEGIN.search(seen[-40:]) is not None
    plain = unescape(seen)
    return any(map(_BEGIN.search, (plain, _ESCAPED.sub(r"\1", plain))))


def _cannot_define(raw: str, following: str, *, whole: bool) -> bool | None:
    """Tell if a value that follows `[…]:` is no destination: more than a title comes after it."""
    text = raw + following
    rest = text[_RUN_AND_BLANKS.match(text).end() :]  # type: ignore[union-attr] # it may be empty
    if not rest:
        return False if whole or len(following) >= LOOK_AHEAD else None
    return rest[0] not in "\r\n\"'("


ENGLISH = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
GERMAN = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August"),
    *("September", "Oktober", "November", "Dezember"),
)
_MONTHS = {
    name[:size].lower(): number
    for names in (ENGLISH, GERMAN)
    for number, name in enumerate(names, 1)
    for size in (3, len(name))
} | {"sept": 9}
_ISO = re.compile(r"(?P<y>[12][0-9]{3})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})")
_FIGURES = re.compile(r"(?P<a>[0-9]{1,2})(?P<s>[-/.])(?P<b>[0-9]{1,2})[-/.](?P<y>[12][0-9]{3})")
_NAMED = (
    re.compile(
        r"(?P<d>[0-9]{1,2})(?:\.|st|nd|rd|th)?\s(?:of\s)?(?P<m>[^\W\d_]{3,9})\.?"
        r"(?:,?\s(?P<y>[12][0-9]{3}))?"
    ),
    re.compile(
        r"(?P<m>[^\W\d_]{3,9})\.?\s(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?(?:,?\s(?P<y>[12][0-9]{3}))?"
    ),
    re.compile(r"(?P<m>[^\W\d_]{3,9})\.?,?\s(?P<y>[12][0-9]{3})(?P<d>)"),
)


class _Date(NamedTuple):
    """Hold a date; what it does not tell is 0."""

    year: int
    month: int
    day: int


def spell_dates(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Yield a date that replaces another one in each way to write it, with that one written so.

    Where the order of day and month is not known, it is read both ways.

    >>> dict(spell_dates("2023-06-09", "2021-05-12"))["June 9"]
    'May 12'
    """
    for ours, theirs in zip(_read_date(new), _read_date(raw), strict=False):
        if [bool(part) for part in ours] != [bool(part) for part in theirs]:
            continue
        for write in _WAYS:
            shown = write(ours)
            if shown is not None and shown != new:
                yield shown, write(theirs) or raw


def _read_date(text: str) -> list[_Date]:
    text = " ".join(text.split())
    if found := _ISO.fullmatch(text):
        read = [(found["y"], found["m"], found["d"])]
    elif found := _FIGURES.fullmatch(text):
        read = [(found["y"], found["b"], found["a"])]
        if found["s"] != ".":
            read.append((found["y"], found["a"], found["b"]))
    else:
        read = []
        for named in _NAMED:
            if found := named.fullmatch(text):
                month = _MONTHS.get(found["m"].lower(), 0)
                read = [(found["y"] or "0", str(month), found["d"] or "0")] if month else []
                break
    # What is no date in one order keeps its place: the orders of two dates pair up.
    return [_Date(*map(int, parts)) for parts in read]


def _has(date: _Date, parts: str) -> bool:
    told = {"y": date.year, "m": 1 <= date.month <= 12, "d": 1 <= date.day <= 31}
    return all(map(told.get, parts))


def _figures(pattern: str) -> Callable[[_Date], str | None]:
    def write(date: _Date) -> str | None:
        shown = pattern.format(y=date.year, m=date.month, d=date.day)
        return shown if _has(date, "ymd") else None

    return write


def _words(pattern: str, names: tuple[str, ...], parts: str) -> Callable[[_Date], str | None]:
    def write(date: _Date) -> str | None:
        if not _has(date, parts):
            return None
        day = date.day
        ordinal = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
        month = names[date.month - 1]
        return pattern.format(y=date.year, m=month, s=month[:3], d=day, o=f"{day}{ordinal}")

    return write


def _write_year(date: _Date) -> str | None:
    return str(date.year) if date.year else None


_WAYS = (
    *map(_figures, ("{y}-{m:02}-{d:02}", "{y}/{m:02}/{d:02}", "{y}{m:02}{d:02}")),
    *map(_figures, ("{d:02}.{m:02}.{y}", "{d}.{m}.{y}", "{d:02}/{m:02}/{y}", "{d}/{m}/{y}")),
    *map(_figures, ("{m:02}/{d:02}/{y}", "{m}/{d}/{y}", "{d:02}-{m:02}-{y}", "{m:02}-{d:02}-{y}")),
    *(
        _words(pattern.replace("M", month) + year, ENGLISH, "md" + "y" * bool(year))
        for pattern, years in (
            ("{d} M", (" {y}", "")),
            ("M {d}", (", {y}", " {y}", "")),
            ("{o} M", (" {y}", "")),
            ("{o} of M", (" {y}", ", {y}", "")),
            ("M {o}", (", {y}", "")),
        )
        for month in ("{m}", "{s}")
        for year in years
    ),
    *(
        _words(pattern, GERMAN, "md" + "y" * pattern.endswith("{y}"))
        for pattern in ("{d}. {m} {y}", "{d}. {m}", "{d} {m} {y}")
    ),
    *(
        _words(pattern, names, "my")
        for pattern in ("{m} {y}", "{s} {y}")
        for names in (ENGLISH, GERMAN)
    ),
    _write_year,
)


FEWEST_DIGITS = 7  # of a number that is known without its separators
MOST_DIGITS = 40
ENDED = 9  # digits of a number that people tell by its last four
YEARS = range(1900, 2101)
CALLING = {
    *("20", "27", "30", "31", "32", "33", "34", "36", "40", "41", "43", "44", "45", "46", "47"),
    *("48", "49", "51", "52", "54", "55", "56", "57", "60", "61", "62", "63", "64", "65", "66"),
    *("81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98"),
}
ENDINGS = (
    *("ending in ", "ending with ", "ends in ", "ends with ", "ending ", "ended in "),
    *("last four digits ", "last 4 digits ", "last four digits: ", "last 4 digits: "),
    *("last four digits are ", "last 4 digits are ", "last four ", "last 4: "),
    *("endet auf ", "endend auf ", "endet mit ", "mit der endung ", "endziffern "),
    *("letzte vier ziffern ", "letzten vier ziffern ", "letzte vier ziffern: "),
    *("*", "* ", "*-", "•", "• ", "…", "… ", "...", "... ", "xxxx", "xxxx ", "xxxx-", "x"),
)
_SEPARATORS = re.compile(r"[ .\-/()+]")
_RUN = re.compile(rf"[0-9](?:[ .\-/()]{{0,3}}[0-9]){{0,{MOST_DIGITS - 1}}}")
_AMOUNT = re.compile(
    r"(?P<before>[^\w\s]?\s?|[A-Z]{3}\s?)(?P<whole>[0-9]{1,3}(?:(?P<sign>[ ,.'])[0-9]{3})"
    r"(?:(?P=sign)[0-9]{3}){0,4}|[0-9]{1,9})(?:[.,](?P<part>[0-9]{1,2}))?"
    r"(?P<after>\s?[^\d\s]{0,12})"
)
_LONG = re.compile(r"[A-Z0-9]{9,40}")


def _read_digits(text: str) -> str:
    """Return the digits of a number, or nothing if it is none."""
    digits = _SEPARATORS.sub("", text)
    return digits if digits.isascii() and digits.isdigit() else ""


def spell_amounts(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Yield an amount with other separators, or without its unit, with the raw one written so.

    >>> dict(spell_amounts("$4,310.50", "$950"))["4310.50"]
    '950'
    """
    ours, theirs = _AMOUNT.fullmatch(new), _AMOUNT.fullmatch(raw)
    if not ours or not theirs or len(whole := re.sub(r"\D", "", ours["whole"])) < 4:
        return
    bare = not (ours["before"] or ours["after"])
    if bare and not ours["sign"]:
        return
    same_unit = (ours["before"], ours["after"]) == (theirs["before"], theirs["after"])
    for thousands, point in (("", "."), ("", ","), (",", "."), (".", ","), (" ", ","), ("'", ".")):
        for is_round in (False, True):
            if is_round and (ours["part"] or "").strip("0"):
                continue
            told = [_write(each, thousands, point, is_round=is_round) for each in (ours, theirs)]
            shown, value = told
            if same_unit and not bare:
                shown_unit, unit = (f"{a['before']}{{}}{a['after']}" for a in (ours, theirs))
                yield shown_unit.format(shown), unit.format(value)
            if thousands or (ours["part"] and not is_round) or int(whole) not in YEARS:
                yield shown, value


def _write(amount: re.Match[str], thousands: str, point: str, *, is_round: bool) -> str:
    whole = f"{int(re.sub(r'[^0-9]', '', amount['whole'])):,}".replace(",", thousands)
    part = amount["part"] or ""
    return whole if not part or (is_round and not part.strip("0")) else whole + point + part


def spell_endings(new: str, raw: str) -> Iterator[tuple[str, str, int]]:
    """Yield the last four digits of a long number, as they are told, with those of the raw one,
    and the length of what comes before them. Four digits alone may be anything."""
    ours, theirs = (_SEPARATORS.sub("", text) for text in (new, raw))
    if not (_LONG.fullmatch(ours) and _LONG.fullmatch(theirs)):
        return
    if not ours[-4:].isdigit() or not theirs[-4:].isdigit() or sum(map(str.isdigit, ours)) < ENDED:
        return
    for told in ENDINGS:
        yield told + ours[-4:], theirs[-4:], len(told)
    if int(ours[-4:]) not in YEARS:
        yield ours[-4:], theirs[-4:], 0


class Number(NamedTuple):
    """Hold where a number ends, its replacement, and its raw value with the separators that are
    written; None for that if two values share it."""

    end: int
    new: str
    raw: str | None


class Numbers:
    """Find long numbers, whatever their separators: telephones, cards, accounts.

    Args:
        raw_of: the raw value of each replacement.
    """

    def __init__(self, raw_of: Mapping[str, str]) -> None:
        self._raws: dict[str, dict[str, str]] = {}  # by digits: the raw digits, and whose
        for new, raw in raw_of.items():
            ours, theirs = _read_digits(new), _read_digits(raw)
            if len(ours) < FEWEST_DIGITS or not theirs or len(ours) > MOST_DIGITS:
                continue
            if new.startswith("+") != raw.startswith("+"):
                continue
            self._add(ours, theirs, new)
            if not new.startswith("+"):
                continue
            self._add("00" + ours, "00" + theirs, new)
            if ours[:2] == theirs[:2] and ours[:2] in CALLING:
                self._add("0" + ours[2:], "0" + theirs[2:], new)
                self._add(f"{ours[:2]}0{ours[2:]}", f"{theirs[:2]}0{theirs[2:]}", new)
            elif ours[0] == theirs[0] == "1":
                self._add(ours[1:], theirs[1:], new)
        self._prefixes = Prefixes(self._raws)

    def _add(self, ours: str, theirs: str, new: str) -> None:
        self._raws.setdefault(ours, {}).setdefault(theirs, new)

    def __bool__(self) -> bool:
        return bool(self._raws)

    def find(self, text: str, start: int, *, whole: bool) -> list[Number] | None:
        """Find the numbers that begin at a digit, the longest first.

        Returns:
            None if it depends on what follows.
        """
        run = _RUN.match(text, start)
        if run is None:
            return []
        places = [place for place in range(start, run.end()) if text[place].isdigit()]
        digits = "".join(text[place] for place in places)
        rest = text[run.end() : run.end() + 4]
        may_continue = len(rest) < 4 and not rest.strip(" .-/()")
        if not whole and may_continue and self._prefixes.continues(digits):
            return None
        found = []
        for number in self._prefixes.find(digits, 0):
            end = places[len(number) - 1] + 1
            (raw, new), *others = self._raws[number].items()
            value = None if others else _lay_out(raw, text[start:end], len(number))
            found.append(Number(end, new, value))
        return found


def _lay_out(raw: str, written: str, count: int) -> str:
    """Write the digits of a raw number with the separators of another one."""
    if len(raw) != count:
        return raw
    digits = iter(raw)
    return "".join(next(digits) if c.isdigit() else c for c in written)


LONGEST_FORM = 100  # characters of a replacement that has other forms than its own
MOST_WORDS = 6  # of a replacement that is looked for as one word
_ABBREVIATIONS = (
    "AC AD AI AM API AR AS AT BA BC BE BS CA CC CD CE CEO CFO CI CLI CM CO CPU CS CSS CSV "
    "CTO CV DB DC DE DI DJ DM DNA DNS DO DR EC EG EM EN EOF ER ES EU FAQ FR FTP FX GB GDP "
    "GO GP GPS GPU GUI HD HR HTTP ID IDE IE IF II III IN IO IP IS ISO IT IV JD JS JSON KB "
    "KM KPI LA LLM LP MA MB MBA MD ML MM MP MR MS MVP NA NASA NATO NB NDA NET NLP NO NY OK "
    "ON OR OS PA PC PDF PE PH PHP PI PM PO PR PS QA RAM RE REST RNA RO RSS SA SD SDK SE SEO "
    "SI SMS SO SQL SSD SSH SSL TB TLS TO TV UI UK UN UP URL US USA USB USD UTC UX VAT VI VM "
    "VP VPN VR WA WE WWW XML "
)
# Initials that are a word of their own.
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
_TAG = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){0,6}_[1-9][0-9]{0,3}")
_PLAIN_WORDS = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
_ALNUM = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
_MAIL = re.compile(r"([^\s@:/]+)@([^\s@:/]+\.[^\s@:/.]+)")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_ALPHA = re.compile(r"[A-Za-z]")

Spell = Callable[[str], str | None]


class Form(NamedTuple):
    """Hold one form.

    Attributes:
        name: of the form, for readers of the table.
        spell: returns a replacement in it, or None if the replacement has no such form.
        respell: the same for a raw value.
        exact: whether other capitals are something else.
        certain: whether it can be restored. Anything else is counted and left.
    """

    name: str
    spell: Spell
    respell: Spell
    exact: bool = False
    certain: bool = True


class Spelling(NamedTuple):
    """Hold a replacement in one form.

    Attributes:
        new, raw: the replacement and its value.
        shown: the replacement in the form.
        form: see `Form`.
        kept: how many characters at its beginning, such as `ending in `, stay as they are.
        year: whether it is a year that is no part of another date.
    """

    new: str
    raw: str
    shown: str
    form: Form
    kept: int = 0
    year: bool = False


def fold_case(text: str) -> str:
    """Return a text in small letters, character by character: the length stays, and a part of a
    text is folded as it is in the whole."""
    if "Σ" not in text and "İ" not in text:  # whose small letters depend on others, or are two
        return text.lower()
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def is_tag(new: str) -> bool:
    """Tell if a replacement is a type and a number, such as `PERSON_417`."""
    return _TAG.fullmatch(new) is not None


def spell(new: str, raw: str) -> Iterator[Spelling]:
    """Yield a replacement in each form that it has. Its own form is the first; of two forms that
    are written alike, the first counts."""
    yield Spelling(new, raw, new, PLAIN)
    if len(new) > LONGEST_FORM:
        return
    seen = {fold_case(new)}
    for found in _spell_all(new, raw):
        key = fold_case(found.shown)
        if key not in seen:
            seen.add(key)
            yield found


def _spell_all(new: str, raw: str) -> Iterator[Spelling]:
    is_tagged = is_tag(new)
    forms: tuple[Form, ...] = FORMS
    if is_tagged:
        forms = TAG_FORMS
    elif _PLAIN_WORDS.fullmatch(new):  # most names: there is nothing to escape
        forms = FORMS_OF_WORDS if " " in new else FORMS_OF_WORD
    for form in forms:
        shown = form.spell(new)
        if shown is not None and shown != new and form.respell(raw) is not None:
            yield Spelling(new, raw, shown, form)
    if is_tagged or not any(map(str.isdigit, new)):
        return
    for shown, value in (*spell_dates(new, raw), *spell_amounts(new, raw)):
        yield Spelling(new, value, shown, VALUE, year=shown.isdigit() and len(shown) == 4)
    for shown, value, kept in spell_endings(new, raw):
        yield Spelling(new, value, shown, VALUE if kept else UNCERTAIN, kept)


def recase(found: Spelling, written: str, *, joined: bool) -> str | None:
    """Return the raw value in the form and in the capitals of what is written; None if that is
    something else.

    Args:
        found: what is written, but for its capitals.
        joined: whether it is a part of a longer name, such as `PERSON_417_file`.
    """
    form, new, raw = found.form, found.new, found.raw
    if form.exact and written != found.shown:
        return None
    if is_tag(new):
        return _join_words(raw, written) if joined and written != new else form.respell(raw)
    if written != found.shown and _has_capitals(raw):
        cased = _recase_words(new, raw, fold_case(found.shown), written)
        raw = _recase_whole(form, new, raw, written) if cased is None else cased
    return form.respell(raw)


def _join_words(raw: str, written: str) -> str:
    """Return a value as a part of a longer name, if it is made of words."""
    if not all(map(str.isalpha, raw.split())):
        return raw
    between = "_" if "_" in written else "-" if "-" in written else ""
    cased = raw.lower() if written.islower() else raw
    return between.join(cased.split())


def _has_capitals(raw: str) -> bool:
    """Tell if other capitals leave a value what it is: a key of letters and digits has its own."""
    return "@" in raw or not any(map(str.isdigit, raw))


def _recase_words(new: str, raw: str, shown: str, written: str) -> str | None:
    """Return a raw value, each word in the capitals of its word; None if they do not pair up."""
    ours, theirs = _LETTERS.findall(new), _LETTERS.findall(raw)
    if len(ours) != len(theirs):
        return None
    place, cases = 0, []
    for word, value in zip(ours, theirs, strict=True):
        start = shown.find(fold_case(word), place)
        if start < 0:
            return None
        place = start + len(word)
        cases.append(_recase_word(word, written[start:place], value))
    words = iter(cases)
    return _LETTERS.sub(lambda _: next(words), raw)


def _recase_word(word: str, written: str, value: str) -> str:
    if written == word:
        return value
    if written.islower():
        return value.lower()
    if written.isupper() and len(written) > 1:
        return value.upper()
    if written[:1].isupper() and written[1:] == written[1:].lower():
        keeps = value[:1].isupper() and not value.isupper()
        return value if keeps else value[:1].upper() + value[1:].lower()
    return value


def _recase_whole(form: Form, new: str, raw: str, written: str) -> str:
    for case in (str.upper, str.lower):
        if form.spell(case(new)) == written:
            return case(raw)
    plain = _ESCAPES.sub("", written)
    return raw.upper() if plain.isupper() else raw.lower() if plain.islower() else raw


_ESCAPES = re.compile(r"%[0-9A-Fa-f]{2}|\\u[0-9a-fA-F]{4}|&#?\w{1,8};")


def _same(text: str) -> str | None:
    return text


def _symmetric(name: str, spell_: Spell, *, exact: bool = False, certain: bool = True) -> Form:
    return Form(name, spell_, spell_, exact, certain)


def _split(text: str) -> list[str]:
    """Return the words of a text that can become one word, or nothing."""
    if "@" in text or "//" in text or not _LETTERS.search(text):
        return []
    return _ALNUM.findall(_APOSTROPHE.sub("", text))


def _write_joined(name: str, between: str) -> Form:
    """Return the form in which words are joined: file names, names of variables, addresses."""

    def spell_joined(text: str) -> str | None:
        words = _split(text)
        return between.join(words) if 1 < len(words) <= MOST_WORDS else None

    def respell_joined(text: str) -> str | None:
        return between.join(_split(text)) or None

    return Form(name, spell_joined, respell_joined)


def _space_out(name: str, between: str) -> Form:
    """Return the form in which white space is written as something else."""

    def spell_spaced(text: str) -> str | None:
        words = text.split()
        return between.join(words) if len(words) <= MOST_WORDS else None

    return _symmetric(name, spell_spaced)


def _write_name(
    name: str,
    write: Callable[[list[str]], str],
    *,
    exact: bool = False,
    besides: frozenset[str] = frozenset(),
) -> Form:
    """Return a form of a person's name, but for some that are something else. Only a name of
    several words has one."""

    def spell_name(text: str) -> str | None:
        words = text.split()
        if not 1 < len(words) <= 4 or not all(map(_NAME_WORD.fullmatch, words)):
            return None
        return write(words)

    def spell_replacement(text: str) -> str | None:
        shown = spell_name(text)
        return None if shown in besides else shown

    return Form(name, spell_replacement, spell_name, exact)


def _possess(text: str) -> str | None:
    """Return a name with the `s` of a genitive or a plural: `Webers`."""
    if not text or not text[-1].isalpha() or len(text) < 3:
        return None
    return text + "s"


def _possess_raw(text: str) -> str | None:
    if not text or not text[-1].isalpha():
        return None
    return text + ("'" if text[-1] in "sxzßSXZ" else "S" if text.isupper() else "s")


def _put_backslashes(*signs: str) -> Spell:
    """Return a function that writes a backslash before each of some characters."""
    wanted = re.compile(f"[{re.escape(''.join(signs))}]")
    return lambda text: wanted.sub(lambda found: f"\\{found[0]}", text)


def _spell_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _name_entities(text: str) -> str:
    """Write a text with the named entities of HTML."""
    return "".join(
        f"&{codepoint2name[ord(c)]};" if ord(c) in codepoint2name else c
        for c in text.replace("'", "&#39;").replace("&#39;", "\0")
    ).replace("\0", "&#39;")


def _number_entities(text: str) -> str:
    return "".join(f"&#{ord(c)};" if not c.isascii() or c in "&<>\"'" else c for c in text)


def _strip_accents(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.translate(_LIGATURES))
    return "".join(c for c in plain if not unicodedata.combining(c))


_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "œ": "oe"})
_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
)


def _spell_domain(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[2] if found else None


def _spell_local(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[1] if found and len(found[1]) > 3 else None


def _respell_local(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[1] if found else None


def _spell_out(name: str, at: str) -> Form:
    """Return the form in which an address of e-mail is written for people."""

    def spell_at(text: str) -> str | None:
        return text.replace("@", at) if _MAIL.fullmatch(text) else None

    return _symmetric(name, spell_at)


def _group(name: str, between: str) -> Form:
    """Return a form of an IBAN, in groups of four."""

    def spell_groups(text: str) -> str | None:
        plain = re.sub(r"[\s-]", "", text).upper()
        if not _IBAN.fullmatch(plain):
            return None
        return between.join(plain[i : i + 4] for i in range(0, len(plain), 4))

    return _symmetric(name, spell_groups)


def _tag(
    name: str, between: str, last: str, respell: Spell = _same, *, certain: bool = True
) -> Form:
    """Return a form of a tag: with something else between its words, and before its number."""

    def spell_tag(text: str) -> str | None:
        *words, number = text.split("_")
        # `Person 7` may be the remote's own.
        sure = len(words) > 1 or len(number) > 2 or last not in ("", " ")
        return between.join(words) + last + number if sure == certain else None

    return Form(name, spell_tag, respell, certain=certain)


_markdown = _put_backslashes("\\", "`", "*", "_", "[", "]", "<", ">", "#", "|", "~")
_regex = _put_backslashes(*".*+?^$(){}|[]\\")

# As it is written, and values that change with the form.
PLAIN = _symmetric("as written", _same)
VALUE = _symmetric("another way to write a value", _same)
UNCERTAIN = _symmetric("what may be something else", _same, certain=False)
FORMS = (
    _symmetric("URL", lambda text: quote(text, safe="")),
    _symmetric("query of a URL", quote_plus),
    _symmetric("path of a URL", lambda text: quote(text, safe="@:+,;=&")),
    _symmetric("JSON", _spell_json),
    _symmetric("JSON inside a string", lambda text: _spell_json(_spell_json(text))),
    _symmetric("JSON with slashes", lambda text: _spell_json(text).replace("/", "\\/")),
    _symmetric("HTML", html.escape),
    _symmetric("HTML, apostrophes", lambda t: html.escape(t).replace("&#x27;", "&#39;")),
    _symmetric("HTML, apostrophes by name", lambda t: html.escape(t).replace("&#x27;", "&apos;")),
    _symmetric("HTML, text alone", lambda text: html.escape(text, quote=False)),
    _symmetric("HTML, by name", _name_entities),
    _symmetric("HTML, by number", _number_entities),
    _symmetric("regular expression", _regex),
    _symmetric("regular expression, escaped twice", lambda t: _spell_json(_regex(t) or "")),
    _symmetric("regular expression of Python", re.escape),
    _symmetric("regular expression, a class", lambda text: text.replace(".", "[.]")),
    _symmetric("Markdown", _markdown),
    _symmetric("Markdown, all signs", _put_backslashes(*"\\`*_{}[]<>()#+-.!|~@")),
    _symmetric("LaTeX", _put_backslashes(*"&%$#_{}")),
    _symmetric("shell", lambda text: re.sub(r"([^\w@%+=:,./-])", r"\\\1", text)),
    _symmetric("shell, in quotes", lambda text: text.replace("'", "'\\''")),
    _symmetric("SQL, in quotes", lambda text: text.replace("'", "''")),
    _symmetric("a backslash before quotes", _put_backslashes("'", '"', "\\")),
    _space_out("HTML blanks", "&nbsp;"),
    _space_out("LaTeX blanks", "~"),
    _space_out("blanks of a regular expression", r"\s+"),
    _space_out("blanks of a regular expression, any", r"\s*"),
    _space_out("one blank of a regular expression", r"\s"),
    _write_joined("snake_case", "_"),
    _write_joined("snake_case in Markdown", r"\_"),
    _write_joined("kebab-case", "-"),
    _write_joined("with dots", "."),
    _write_joined("camelCase", ""),
    _write_joined("with blanks", " "),
    _symmetric("no accents", _strip_accents),
    _symmetric("no umlauts", lambda text: text.translate(_UMLAUTS)),
    Form("genitive", _possess, _possess_raw),
    _write_name("an initial", lambda w: " ".join([*(f"{x[0]}." for x in w[:-1]), w[-1]])),
    _write_name("an initial without a dot", lambda w: " ".join([*(x[0] for x in w[:-1]), w[-1]])),
    _write_name("an initial, no blank", lambda w: "".join([*(f"{x[0]}." for x in w[:-1]), w[-1]])),
    _write_name("an initial, in one word", lambda w: "".join([*(x[0] for x in w[:-1]), w[-1]])),
    _write_name("an initial, snake_case", lambda w: "_".join([*(x[0] for x in w[:-1]), w[-1]])),
    _write_name("the surname's initial", lambda w: f"{' '.join(w[:-1])} {w[-1][0]}."),
    _write_name("initials", lambda w: " ".join(f"{x[0]}." for x in w), exact=True),
    _write_name("initials, no blank", lambda w: "".join(f"{x[0]}." for x in w), exact=True),
    _write_name(
        "initials, letters alone",
        lambda w: "".join(x[0] for x in w),
        exact=True,
        besides=ABBREVIATIONS,
    ),
    _group("IBAN", " "),
    _group("IBAN, no blanks", ""),
    _group("IBAN, hyphens", "-"),
    _symmetric("domain", _spell_domain),
    Form("local part", _spell_local, _respell_local),
    _spell_out("at in brackets", " [at] "),
    _spell_out("at in parentheses", " (at) "),
    _spell_out("at in brackets, no blanks", "[at]"),
    _spell_out("at in parentheses, no blanks", "(at)"),
    _spell_out("at as a word", " at "),
)
FORMS_OF_WORDS, FORMS_OF_WORD = (
    tuple(form for form in FORMS if form.spell(sample) not in (None, sample))
    for sample in ("Abcd Efgh", "Abcd")
)
_BETWEEN = (("_", _same), (r"\_", _markdown), (r"\\_", _same), (" ", _same), ("-", _same))
TAG_FORMS = (
    *(
        _tag(f"tag: {a!r} and {b!r}", a, b, respell)
        for a, respell in _BETWEEN
        for b, _ in _BETWEEN
        if a == b or "\\" not in a + b
    ),
    _tag("tag in one word", "", ""),
    _tag("tag in one word, then a sign", "", "_"),
    _tag("tag that may be something else", " ", " ", certain=False),
    _tag("tag in one word that may be something else", "", "", certain=False),
    _tag("tag in a URL", "%5F", "%5F", lambda text: quote(text, safe="")),
    _tag("tag in HTML", "&#95;", "&#95;", html.escape),
    _tag("tag with dots", ".", "."),
    Form("genitive of a tag", lambda text: f"{text}s", _possess_raw),
)


LONGEST = 400  # characters of a replacement that is looked for: bounds what is held back
BLANKS = 16  # of white space between two of its words
BEFORE = 32  # characters before a replacement that may decide
_BLANK = re.compile(r"[^\S ]")
_GAP = re.compile(r" {2,}")
_ALIKE = str.maketrans("\u2010\u2011\u2012\u2013\u2212\u2019", "-----'")
# Scripts without blanks between words: a replacement may touch their characters.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[^\W_{_UNSPACED}]")
_LETTER_RUN = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_HEAD = 3  # characters by which most places are seen to begin no replacement
_IN_DATE = re.compile(
    r"(?:[0-9][./-]|(?<![^\W\d_])(?:jan|feb|m[aä]r|apr|ma[iy]|ju[nl]|aug|sep|o[ck]t|nov|de[cz])"
    r"[^\W\d_]{0,6}\.?,? |[0-9](?:st|nd|rd|th)?,? )\Z"
)


class Piece(NamedTuple):
    """Hold a stretch of a restored text.

    Attributes:
        source: how many characters of the remote's text it stands for.
        text: the restored text.
        new: the replacement whose raw value it is; empty for other text.
    """

    source: int
    text: str
    new: str = ""


def spell_pieces(pieces: Iterable[Piece]) -> str:
    """Return the text of pieces."""
    return "".join(piece.text for piece in pieces)


class Replacements:
    """Hold the raw value of each replacement, ready to be looked for in many texts.

    Each is looked for in every form in which a remote may write it (`proxy.restoring.forms`), and
    its value comes back in the same form. What two values share in one form, or what may be
    something else, is left where it stands.

    Args:
        raw_of: the raw value of each replacement; longer ones than 400 characters are left out.
        left: what is left where it stands, as it is written, with all that is in it.
        ordinary: words of the language. They are no replacements in other capitals than their
            own.
        in_any_form: whether to look for other forms than a replacement's own, also other capitals.

    Attributes:
        raw_of, left: see above, those that are not too long.
        ordinary: the ordinary words among all forms of the replacements.
    """

    def __init__(
        self,
        raw_of: Mapping[str, str],
        left: Iterable[str] = (),
        *,
        ordinary: Container[str] = (),
        in_any_form: bool = True,
    ) -> None:
        self.raw_of = {new: raw for new, raw in raw_of.items() if 0 < len(new) <= LONGEST}
        self.left = sorted(new for new in left if 0 < len(new) <= LONGEST)
        self.ordinary: set[str] = set()
        self._in_any_form = in_any_form
        self._left = {_flatten(new) for new in self.left}
        self._left_keys = {fold_case(new) for new in self._left}
        self._by_key: dict[str, list[Spelling]] = {}
        for new in self._left:
            self._by_key.setdefault(self._note(new, ordinary)[0], [])
        for new, raw in self.raw_of.items():
            spellings = spell(new, raw)
            for each in spellings if in_any_form else [next(spellings)]:
                shown = _flatten(each.shown)
                key, words = self._note(shown, ordinary)
                told = len(key) <= LONGEST and self._is_distinctive(each, key, words)
                if told or each.form is PLAIN:
                    own = each if shown == each.shown else each._replace(shown=shown)
                    self._by_key.setdefault(key, []).append(own)
        self._index()

    def _index(self) -> None:
        self._prefixes = Prefixes(self._by_key)
        self._heads = {key[:_HEAD] for key in self._by_key}
        self._brief = {key for key in self._by_key if len(key) < _HEAD}
        self._numbers = Numbers(self.raw_of if self._in_any_form else {})
        self._starts = self._compile_starts()

    def _note(self, shown: str, ordinary: Container[str]) -> tuple[str, list[str]]:
        """Return a form in small letters and its words, and note which of them are ordinary."""
        key = fold_case(shown)
        words = _LETTER_RUN.findall(key)
        self.ordinary.update(word for word in words if word in ordinary)
        return key, words

    def _is_ordinary(self, key: str) -> bool:
        """Tell if a form in small letters is made of ordinary words alone."""
        words = _LETTER_RUN.findall(key)
        return bool(words) and self.ordinary.issuperset(words) and not _DIGIT.search(key)

    def _is_distinctive(self, found: Spelling, key: str, words: list[str]) -> bool:
        """Tell if a form stands out from ordinary text."""
        if found.form.exact:
            return sum(map(len, words)) > 1
        if _DIGIT.search(key):
            return True
        words = [word for word in words if len(word) > 1]
        return sum(map(len, words)) > 2 and not self.ordinary.issuperset(words)

    def _compile_starts(self) -> re.Pattern[str] | None:
        """Return an expression that finds where a replacement may begin."""
        first = {key[0] for key in self._by_key} | set("0123456789" if self._numbers else "")
        if not first:
            return None
        first |= {c.upper() for c in first if len(c.upper()) == 1}
        border = rf"(?<![^\W_{_UNSPACED}])"
        if self._in_any_form:  # in camelCase, a word begins with its capital
            border = rf"(?:{border}|(?<=[a-z])(?=[A-Z])|(?=[<\]]))"
        return re.compile(rf"{border}[{''.join(map(re.escape, sorted(first)))}]")

    def find_starts(self, text: _Even, place: int, *, whole: bool) -> Iterator[int]:
        """Yield the places from one on at which a replacement may begin."""
        if self._starts is None:
            return
        folded, heads, brief = text.folded, self._heads, self._brief
        has_numbers = bool(self._numbers)
        for found in self._starts.finditer(text.shown, place):
            start = found.start()
            head = folded[start : start + _HEAD]
            if (
                head in heads
                or (brief and (head[:1] in brief or head[:2] in brief))
                or (len(head) < _HEAD and not whole)
                or (has_numbers and head[0].isdigit())
            ) and not _continues_number(folded, start):
                yield start

    def match(self, text: _Even, start: int, *, whole: bool) -> Match | None:
        """Find the longest replacement that begins at a place.

        Args:
            text: as far as it is known.
            whole: whether nothing follows it.

        Raises:
            _Undecided: it depends on what follows.
        """
        folded = text.folded
        may_continue = not whole and len(folded) - start < LONGEST
        if may_continue and self._prefixes.continues(folded[start:]):
            raise _Undecided
        return next(self.find_all(text, start, whole=whole), None)

    def find_all(self, text: _Even, start: int, *, whole: bool) -> Iterator[Match]:
        """Yield the replacements that begin at a place, the longest first. Raises `_Undecided`."""
        numbers: list[Number] = []
        if self._numbers and text.shown[start].isdigit():
            found = self._numbers.find(text.shown, start, whole=whole)
            if found is None:
                raise _Undecided
            numbers = found
        for key in self._prefixes.find(text.folded, start):
            while numbers and numbers[0].end - start > len(key):
                yield from self._check_number(text, start, numbers.pop(0), whole=whole)
            if match := self._resolve(key, text, start, whole=whole):
                yield match
        for number in numbers:
            yield from self._check_number(text, start, number, whole=whole)

    def _check_number(
        self, text: _Even, start: int, number: Number, *, whole: bool
    ) -> Iterator[Match]:
        if _find_border(text.shown, start, number.end, whole=whole) in (BORDER, JOINED):
            yield Match(start, number.end, number.new, number.raw)

    def _resolve(self, key: str, text: _Even, start: int, *, whole: bool) -> Match | None:
        """Return what a form stands for at a place; None if for nothing."""
        shown, end, spellings = text.shown, start + len(key), self._by_key[key]
        is_tagged = any(is_tag(each.new) for each in spellings)
        border = _find_border(shown, start, end, whole=whole, is_tagged=is_tagged)
        if border in (INSIDE, NUMBER) or (not is_tagged and self._is_apart(key, border)):
            return None
        written = shown[start:end]
        if written in self._left:
            return Match(start, end, written, None)
        own = [each for each in spellings if each.form is PLAIN and each.shown == written]
        if own:
            return Match(start, end, own[0].new, own[0].raw)
        ordinary = self._is_ordinary(key)
        if not self._in_any_form or (ordinary and key.isalpha() and written == key):
            return None  # a word like any other
        if not any(each.form is PLAIN for each in spellings) and key in self._left_keys:
            return Match(start, end, written, None)
        found: dict[str | None, Spelling] = {}
        for each in spellings:
            if each.year and not _stands_apart(text, start, end, whole=whole):
                continue
            value = recase(each, written[each.kept :], joined=border != BORDER)
            if value is not None:
                sure = each.form.certain and (not ordinary or each.form.exact)
                found.setdefault(value if sure else None, each)
        if not found:
            return None
        (value, each), *others = found.items()
        begin = start + each.kept
        if others or value is None:
            return Match(begin, end, each.new, None)
        return Match(begin, end, each.new, value) if value != shown[begin:end] else None

    def _is_apart(self, key: str, border: str) -> bool:
        """Tell if a form is none where it is a part of a longer name, such as `NAME_file`."""
        if border == BORDER:
            return False
        if not self._in_any_form:
            return True
        if border == TOUCHED and not key.isalpha():
            return True
        fewest = 6 if key.isdigit() else 4 if border == JOINED else 5
        return len(key) < fewest or self._is_ordinary(key)

    def leave(self, *texts: str) -> None:
        """Leave what also stands in texts that were released as they are, wherever it comes
        back."""
        written = {
            even.shown[start : match.end]
            for even in map(_Even, texts)
            for start in self.find_starts(even, 0, whole=True)
            for match in self.find_all(even, start, whole=True)
        }
        if not written:
            return
        gone = {new for new in self.raw_of if _flatten(new) in written}
        for new in gone:
            del self.raw_of[new]
        self.left = sorted({*self.left, *written})
        self._left |= written
        self._left_keys |= {fold_case(_flatten(new)) for new in gone}
        for key in {fold_case(each) for each in written}:
            self._by_key.setdefault(key, [])
        for key, spellings in self._by_key.items():
            if any(each.new in gone for each in spellings):
                self._by_key[key] = [each for each in spellings if each.new not in gone]
        self._index()


class _Even:
    """Hold a text with one blank for white space, also in small letters, and the place of each of
    its characters. More white space than may stand between two words becomes a line break, which
    no replacement has."""

    def __init__(self, text: str) -> None:
        self._flat = _flatten(text)
        self.shown = _GAP.sub(_close, self._flat)
        self.folded = fold_case(self.shown)

    @cached_property
    def places(self) -> Sequence[int]:
        if len(self.shown) == len(self._flat):
            return range(len(self.shown))
        places: list[int] = []
        end = 0
        for found in _GAP.finditer(self._flat):
            places += range(end, found.start() + 1)
            end = found.end()
        return [*places, *range(end, len(self._flat))]

    def find(self, place: int) -> int:
        """Return the first character at or after a place of the written text."""
        return place if isinstance(self.places, range) else bisect_left(self.places, place)


def _flatten(text: str) -> str:
    """Return a text with blanks for white space, and plain hyphens and apostrophes."""
    text = _BLANK.sub(" ", text)
    return text if text.isascii() else text.translate(_ALIKE)


def _close(gap: re.Match[str]) -> str:
    return " " if len(gap[0]) <= BLANKS else "\n"


class Match(NamedTuple):
    """Hold where a replacement stands, and its raw value; None for one that is left."""

    start: int
    end: int
    new: str
    raw: str | None


class _Undecided(Exception):
    """Report that the next characters decide."""


# How a part of a text meets what is around it: as words of its own, beside `_`, beside a capital
# in camelCase, inside a word, inside a number.
BORDER, JOINED, TOUCHED, INSIDE, NUMBER = "border", "joined", "touched", "inside", "number"


def _find_border(text: str, start: int, end: int, *, whole: bool, is_tagged: bool = False) -> str:
    """Tell how a part of a text meets what is around it. Raises `_Undecided`."""
    rest, last = text[end : end + 2], text[end - 1]
    if not rest and not whole:
        raise _Undecided
    if rest and rest[0] in ".," and last.isdigit() and not is_tagged:  # 57 is not in 57.5
        if len(rest) < 2 and not whole:
            raise _Undecided
        if rest[1:].isdigit():
            return NUMBER
    touched = start > 0 and bool(_WORD.match(text, start - 1) and _WORD.match(text, start))
    if rest and _WORD.match(rest) and last not in ">)":  # nothing goes on after a tag
        if not (rest[0].isupper() and (last.islower() or last.isdigit())):
            return INSIDE
        touched = True
    if touched:
        return TOUCHED
    return JOINED if rest[:1] == "_" or text[max(0, start - 1) : start] == "_" else BORDER


def _stands_apart(text: _Even, start: int, end: int, *, whole: bool) -> bool:
    """Tell if a year is no part of another date. Raises `_Undecided`."""
    rest = text.shown[end : end + 2]
    if rest[:1] in ("-", "/"):
        if len(rest) < 2 and not whole:
            raise _Undecided
        if rest[1:].isdigit():
            return False
    return _IN_DATE.search(text.folded[max(0, start - BEFORE // 2) : start]) is None


class TextRestorer:
    """Restore one text that comes in pieces.

    Replacements count as whole words, the longest first, in the case in which they were released,
    with any white space between their words. Nothing is restored inside an address (see
    `Addresses`), except a replacement that is itself one.

    Args:
        replacements: what to restore.
        strict: restore a number only by a number, as JSON outside of strings needs it.

    Attributes:
        restored, left: how many replacements were restored, and left where they stand.
    """

    def __init__(self, replacements: Replacements, *, strict: bool = False) -> None:
        self._replacements = replacements
        self._strict = strict
        self._addresses = Addresses()
        self._before = ""  # the last character that was passed on, which may belong to a word
        self._held = ""
        self.restored = self.left = 0

    def feed(self, text: str) -> list[Piece]:
        """Take the next piece of the text, and return what is certain now."""
        self._held += text
        return self._advance(whole=False)

    def finish(self) -> list[Piece]:
        """Return the rest. The restorer is then ready for another text."""
        pieces = self._advance(whole=True)
        self._addresses, self._before = Addresses(), ""
        return pieces

    def _advance(self, *, whole: bool) -> list[Piece]:
        text = self._before + self._held
        done = len(self._before)
        even = _Even(text)
        place = even.find(done)
        pieces: list[Piece] = []
        for start in self._replacements.find_starts(even, place, whole=whole):
            if start < place:
                continue
            try:
                match = self._replacements.match(even, start, whole=whole)
            except _Undecided:
                pieces += self._pass(text[done : even.places[start]])
                self._keep(text, even.places[start])
                return pieces
            if match is None:
                continue
            begin, end = even.places[match.start], even.places[match.end - 1] + 1
            written, following = text[begin:end], text[end : end + LOOK_AHEAD]
            pieces += self._pass(text[done : even.places[start]])
            done = even.places[start]
            allowed = self._admits(text[done:begin], match, following, whole=whole)
            if allowed is None:
                self._keep(text, done)
                return pieces
            pieces += self._pass(text[done:begin])
            pieces += self._replace(written, match, allowed=allowed)
            done, place = end, match.end
        pieces += self._pass(text[done:])
        self._keep(text, len(text))
        return pieces

    def _admits(self, before: str, match: Match, following: str, *, whole: bool) -> bool | None:
        """Tell if a value may be restored after a text that stays; None if it depends on what
        follows."""
        if match.raw is None:
            return False
        addresses = self._addresses
        if before:
            addresses = copy(addresses)
            addresses.read(before)
        return addresses.admits(match.new, match.raw, following, whole=whole)

    def _keep(self, text: str, end: int) -> None:
        """Hold back a text from a place on."""
        self._before, self._held = text[max(0, end - BEFORE) : end], text[end:]

    def _pass(self, text: str) -> list[Piece]:
        self._addresses.read(text)
        return [Piece(len(text), text)] if text else []

    def _replace(self, text: str, match: Match, *, allowed: bool) -> list[Piece]:
        raw = match.raw
        if raw is not None and self._strict and _is_number(text) and not _is_number(raw):
            allowed = False
        if raw is None or not allowed:
            self.left += 1
            return self._pass(text)
        self.restored += 1
        raw = _space(raw, text)
        self._addresses.read(raw)  # the reader's client sees this text
        return [Piece(len(text), raw, match.new)]


def _space(raw: str, text: str) -> str:
    """Return a raw value with the white space between the words of its replacement."""
    inner = raw.strip()
    words, gaps = inner.split(), _SPACE.findall(text)
    if len(words) != len(gaps) + 1:
        return raw
    spaced = "".join(chain.from_iterable(zip(words, [*gaps, ""], strict=True)))
    return raw.replace(inner, spaced) if inner else raw


_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _continues_number(text: str, start: int) -> bool:
    """Tell if a digit belongs to a number that began before it: 57 is not in 3.57."""
    before = text[max(0, start - 2) : start]
    return text[start].isdigit() and before[1:] in (".", ",") and before[0].isdigit()


DEEPEST = 4  # strings inside of each other that are read as JSON
_JSON = re.compile(r"\s{0,64}+[{\[]\s{0,64}+[\"{\[]")  # begins a text that is JSON
_MAY_BE_JSON = re.compile(r"\s{0,64}+(?:[{\[]\s{0,64}+)?\Z")
_STRING = re.compile(r'"(?P<content>(?>(?:[^"\\]|\\.)*))"?', re.DOTALL)
_PLAIN = re.compile(r'[^"\\]+')
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # one character, in two halves
    r"|\\u[0-9a-fA-F]{4}|\\[^u]",
    re.DOTALL,
)
_PARTS = re.compile(rf"{_PLAIN.pattern}|{_ESCAPE.pattern}|.", re.DOTALL)
_UNFINISHED = re.compile(
    r"\\(?:u[0-9a-fA-F]{0,3})?\Z"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z"
)
_HALF = re.compile("[\ud800-\udfff]")


class JsonRestorer:
    """Restore one JSON text that comes in pieces. JSON stays JSON, and what is not restored stays
    as it is written.

    The content of each string is restored as a text of its own, or as JSON if it begins as an
    object or a list, and what is restored is escaped. A string, or a key, that is as a whole a
    string of the request comes back as that string. Outside of strings, a number is restored by a
    number alone.

    Args:
        replacements: what to restore.
        wholes: the raw string of each whole string that left.
        inside: what to restore in strings that are no JSON; the same if it is left out.
        depth: how many strings this text is inside of.
    """

    def __init__(
        self,
        replacements: Replacements,
        wholes: Mapping[str, str],
        inside: Replacements | None = None,
        *,
        depth: int = 0,
    ) -> None:
        self._replacements, self._strings = replacements, inside or replacements
        self._outside = TextRestorer(replacements, strict=True)
        self._wholes = wholes
        self._order = sorted(wholes)
        self._depth = depth
        self._in_string = False
        self._held = ""  # the beginning of an escape
        self._inside: TextRestorer | JsonRestorer | None = None
        self._head = ""  # of the content, by which it is seen to be JSON
        self._written: deque[tuple[str, str]] = deque()  # what is inside, decoded and as written
        self._taken = 0  # characters of the first of them that were passed on
        # Of a string that may yet be a whole one: its pieces, their length, and which ones.
        self._start: list[str] | None = None
        self._size = 0
        self._possible = (0, len(self._order))
        self._restored = self._left = 0

    @property
    def restored(self) -> int:
        """Return how many replacements were restored."""
        inside = self._inside.restored if self._inside else 0
        return self._outside.restored + self._restored + inside

    @property
    def left(self) -> int:
        """Return how many replacements were left where they stand."""
        return self._outside.left + self._left + (self._inside.left if self._inside else 0)

    def feed(self, text: str) -> list[Piece]:
        """Take the next piece of the text, and return what is certain now."""
        text, self._held = self._held + text, ""
        out: list[Piece] = []
        place = 0
        while place < len(text):
            if not self._in_string:
                place = self._read_outside(text, place, out)
            elif text[place] == '"':
                out += [*self._close(), Piece(1, '"')]
                self._in_string = False
                place += 1
            elif found := _PLAIN.match(text, place):
                out += self._add(found[0], found[0])
                place = found.end()
            elif _UNFINISHED.match(text, place):
                self._held = text[place:]
                break
            else:
                found = _ESCAPE.match(text, place)
                written = found[0] if found else text[place]
                out += self._add(_decode(written), written)
                place += len(written)
        return out

    def finish(self) -> list[Piece]:
        """Return the rest of a text that broke off, or nothing."""
        rest, self._held = self._held, ""
        if self._in_string:
            return [*self._close(whole=False), *([Piece(len(rest), rest)] if rest else ())]
        return self._outside.finish()

    def _read_outside(self, text: str, place: int, out: list[Piece]) -> int:
        """Read up to the next string, and return the place after its opening quote."""
        end = text.find('"', place)
        out += self._outside.feed(text[place : end if end >= 0 else None])
        if end < 0:
            return len(text)
        out += [*self._outside.finish(), Piece(1, '"')]
        self._in_string, self._start, self._inside, self._head = True, [], None, ""
        self._size, self._possible = 0, (0, len(self._order))
        return end + 1

    def _add(self, text: str, written: str) -> list[Piece]:
        """Add a part of a string's content, and return what of it is certain, escaped."""
        self._written.append((text, written))
        if self._start is not None:
            self._start.append(text)
            if self._is_possible(text):
                return []
            text, self._start = "".join(self._start), None
        return self._escape_pieces(self._read_inside(text))

    def _is_possible(self, text: str) -> bool:
        """Tell if a whole string continues so."""
        begin, self._size = self._size, self._size + len(text)
        following = slice(begin, self._size)
        first, last = (
            find(self._order, text, *self._possible, key=lambda whole: whole[following])
            for find in (bisect_left, bisect_right)
        )
        self._possible = first, last
        return first < last

    def _read_inside(self, text: str, *, whole: bool = False) -> list[Piece]:
        """Restore the next part of a string's content."""
        if self._inside is None:
            text = self._head + text
            if _MAY_BE_JSON.match(text) and not whole:
                self._head = text
                return []
            if self._depth < DEEPEST and begins_json(text):
                self._inside = JsonRestorer(
                    self._replacements, self._wholes, self._strings, depth=self._depth + 1
                )
            else:
                self._inside = TextRestorer(self._strings)
        return self._inside.feed(text)

    def _close(self, *, whole: bool = True) -> list[Piece]:
        """Return the rest of a string's content, escaped."""
        start = "".join(self._start or ())
        if whole and self._start is not None and start in self._wholes:
            self._restored += 1
            source = sum(len(written) for _, written in self._written)
            self._written.clear()
            return [Piece(source, _escape(self._wholes[start]), start)]
        pieces = self._read_inside(start, whole=True)
        assert self._inside is not None
        pieces += self._inside.finish()
        self._restored += self._inside.restored
        self._left += self._inside.left
        self._inside = None
        return self._escape_pieces(pieces)

    def _escape_pieces(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Return pieces of a string's content as JSON writes them."""
        out = []
        for piece in pieces:
            written = self._take(piece.source)
            out.append(
                Piece(len(written), _escape(piece.text) if piece.new else written, piece.new)
            )
        return out

    def _take(self, size: int) -> str:
        """Return the next characters of a string's content as they are written."""
        out = []
        while size:
            text, written = self._written[0]
            rest = len(text) - self._taken
            if rest > size:  # nothing in it is escaped
                out.append(written[self._taken : self._taken + size])
                self._taken += size
                break
            out.append(written[self._taken :])
            size, self._taken = size - rest, 0
            self._written.popleft()
        return "".join(out)


def begins_json(text: str) -> bool:
    """Tell if a text is read as JSON."""
    return _JSON.match(text) is not None


def find_strings(
    text: str, places: Sequence[int] | None = None, depth: int = 1
) -> Iterator[tuple[int, int]]:
    r"""Yield where each string of a JSON text begins, in order, and how many strings its content
    is inside of, itself included. Strings that are JSON are read, too.

    Args:
        places: of the text's characters in the text that they are yielded for; theirs if None.
        depth: of these strings.

    >>> list(find_strings(r'["a", "[\"b\"]"]'))
    [(1, 1), (6, 1), (8, 2)]
    """
    for found in _STRING.finditer(text):
        yield places[found.start()] if places else found.start(), depth
        content = found["content"]
        if depth < DEEPEST and content.lstrip(" \\nrt")[:1] in ("{", "["):
            start = found.start("content")
            decoded: list[str] = []
            inner: list[int] = []
            for part in _PARTS.finditer(content):
                shown = _decode(part[0])
                at = range(start + part.start(), start + part.end())
                decoded.append(shown)
                inner += at if len(shown) == len(part[0]) else [at[0]] * len(shown)
            if begins_json(shown := "".join(decoded)):
                inner = [places[place] for place in inner] if places else inner
                yield from find_strings(shown, inner, depth + 1)


def decode_strings(text: str, depth: int) -> str | None:
    """Return what a part of a string's content means that many strings deep; None if it is no
    such part."""
    try:
        for _ in range(depth):
            text = json.loads(f'"{text}"', strict=False)
    except ValueError:
        return None
    return text


def _decode(escape: str) -> str:
    """Return the character of an escape; anything else as it is written."""
    try:
        return str(json.loads(f'"{escape}"', strict=False))
    except ValueError:
        return escape


def _escape(text: str) -> str:
    """Return a text as the content of a JSON string."""
    spelled = json.dumps(text, ensure_ascii=False)[1:-1]
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", spelled)


# The texts of a message. Reasoning is no field of OpenAI's, but others send it.
TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


class WayBack:
    """Restore the answers to one request, whole or streamed.

    Args:
        done: the answer of `POST /v1/privacy/sanitize`.

    Attributes:
        streamed: whether an event of a stream was restored.
    """

    def __init__(self, done: dict[str, Any]) -> None:
        self.streamed = False
        self._replacements = Replacements(
            done["replacements"],
            done.get("left", ()),
            ordinary=frozenset(done.get("ordinary", ())),
        )
        self._wholes: dict[str, str] = done["wholes"]
        form = (done["body"].get("response_format") or {}).get("type")
        self._writes_json = form in ("json_object", "json_schema")
        self._parts: dict[tuple[int, str, int], TextRestorer | JsonRestorer] = {}

    def restore_content(self, text: str) -> str:
        """Restore the text of a whole answer."""
        return self._restore(text, "content")

    def restore(self, value: Any, key: str = "") -> Any:
        """Restore every text of messages; names stay whole, and arguments of a call JSON."""
        if isinstance(value, str):
            return self._wholes.get(value, value) if key == "name" else self._restore(value, key)
        if isinstance(value, list):
            return [self.restore(item, key) for item in value]
        if isinstance(value, dict):
            return {
                name: self.restore(item, "" if name == "content" else name)
                for name, item in value.items()
            }
        return value

    def restore_choice(self, choice: dict[str, Any]) -> None:
        """Restore a choice of one event of a stream in place."""
        self.streamed = True
        index, delta = choice.get("index") or 0, choice.get("delta") or {}
        for name in TEXTS:
            if isinstance(delta.get(name), str):
                delta[name] = self._feed((index, name, 0), delta[name])
        for call in delta.get("tool_calls") or ():
            function = call.get("function") or {}
            if function.get("name") in self._wholes:
                function["name"] = self._wholes[function["name"]]
            if isinstance(function.get("arguments"), str):
                place = (index, "arguments", call.get("index") or 0)
                function["arguments"] = self._feed(place, function["arguments"])
        if choice.get("finish_reason"):
            choice["delta"] = self._finish(index, delta)

    def _finish(self, index: int, delta: dict[str, Any]) -> dict[str, Any]:
        """Return the last delta of a choice with the rests of its texts and calls."""
        for place in [place for place in self._parts if place[0] == index]:
            rest, (_, name, number) = spell_pieces(self._parts.pop(place).finish()), place
            if rest and name == "arguments":
                call = {"index": number, "function": {"arguments": rest}}
                delta["tool_calls"] = [*(delta.get("tool_calls") or ()), call]
            elif rest:
                delta[name] = (delta.get(name) or "") + rest
        return delta

    def _restore(self, text: str, name: str) -> str:
        restorer = self._start(name)
        return spell_pieces(restorer.feed(text)) + spell_pieces(restorer.finish())

    def _feed(self, place: tuple[int, str, int], text: str) -> str:
        if place not in self._parts:
            self._parts[place] = self._start(place[1])
        return spell_pieces(self._parts[place].feed(text))

    def _start(self, name: str) -> TextRestorer | JsonRestorer:
        if name == "arguments" or (name == "content" and self._writes_json):
            return JsonRestorer(self._replacements, self._wholes)
        return TextRestorer(self._replacements)


# End of the copy.
