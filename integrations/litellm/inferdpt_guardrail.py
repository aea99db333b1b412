"""A guardrail for LiteLLM's proxy: chats leave sanitized by an InferDPT Proxy in gateway mode.

LiteLLM loads this file from the folder of its configuration. It refuses whatever it cannot have
sanitized: requests of other kinds than chats, unknown fields, and everything while the InferDPT
Proxy does not answer.
"""

from __future__ import annotations

import json
import re
import secrets
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from html import unescape
from itertools import chain
from typing import Any, NamedTuple

import aiohttp
from fastapi import HTTPException
from litellm import ModelResponse, ModelResponseStream
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.types.guardrails import GuardrailEventHooks
from litellm.types.utils import Delta, Message

SECONDS = 60.0
MOST = 10_000  # answers that are awaited at once
CHATS = ("completion", "acompletion")
# What LiteLLM's proxy adds to a request for itself, by its exact name, and does not send. All else
# is a field of the request, and the InferDPT Proxy refuses those it does not know.
OWN = (
    "litellm_call_id",
    "litellm_logging_obj",
    "litellm_trace_id",
    "metadata",
    "proxy_server_request",
    "secret_fields",
    "_litellm_strip_stream_usage",
)
AWAITED = "inferdpt_answer"  # in LiteLLM's metadata: it names an answer that is awaited


class InferDPTGuardrail(CustomGuardrail):
    """Sanitize each chat before the call, and restore the answer after it.

    Args:
        api_base: address of the InferDPT Proxy, with `/v1`.
        api_key: key that it issued.
        model: a model that it serves; it only names the request there.
        more: what LiteLLM passes to each guardrail. `mode` and `default_on` have no effect.
    """

    def __init__(
        self,
        api_base: str = "http://127.0.0.1:8100/v1",
        api_key: str = "none",
        model: str = "gpt-4o",
        guardrail_name: str | None = None,
        **more: Any,
    ) -> None:
        self._url = api_base.rstrip("/") + "/privacy/sanitize"
        self._headers = {"Authorization": f"Bearer {api_key}"}
        self._model = model
        self._awaited: OrderedDict[str, WayBack] = OrderedDict()
        super().__init__(guardrail_name=guardrail_name, default_on=True)

    def should_run_guardrail(self, data: Any, event_type: GuardrailEventHooks) -> bool:
        """Run for every request: neither a client nor a key can leave it out."""
        return event_type in (GuardrailEventHooks.pre_call, GuardrailEventHooks.post_call)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Return the request with its chat sanitized.

        Raises:
            HTTPException: it is no chat, or the InferDPT Proxy refused or failed. Nothing is sent.
        """
        if call_type not in CHATS:
            raise _refuse(400, "only chat completions can be sanitized; nothing was sent")
        chat = {key: value for key, value in data.items() if key not in OWN}
        done = await self._sanitize(chat)
        body = {key: value for key, value in done["body"].items() if key != "store"}
        name = secrets.token_hex(16)
        self._awaited[name] = WayBack(done)
        while len(self._awaited) > MOST:
            self._awaited.popitem(last=False)
        own = {key: data[key] for key in OWN if key in data}
        sent = {**own, **body, "model": data["model"], "metadata": _clear(data, name)}
        if "proxy_server_request" in own:  # LiteLLM's loggers read it
            sent["proxy_server_request"] = {**own["proxy_server_request"], "body": body}
        return sent

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        """Restore a whole answer."""
        back = self._take(data)
        if back is None or not isinstance(response, ModelResponse):
            return response
        for choice in response.choices:
            plain = choice.message.model_dump()
            if isinstance(plain.get("content"), str):
                plain["content"] = back.restore_content(plain["content"])
            for key in ("reasoning_content", "refusal", "tool_calls"):
                if plain.get(key):
                    plain[key] = back.restore(plain[key])
            choice.message = Message(**plain)
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Restore an answer while it streams."""
        back = self._take(request_data)
        async for chunk in response:
            for choice in chunk.choices if back and isinstance(chunk, ModelResponseStream) else ():
                plain = choice.model_dump()
                back.restore_choice(plain)
                choice.delta = Delta(**plain["delta"])
            yield chunk

    async def async_post_call_failure_hook(
        self, request_data: dict[str, Any], *_: Any, **__: Any
    ) -> None:
        """Forget the request."""
        self._take(request_data)

    def _take(self, data: dict[str, Any]) -> WayBack | None:
        return self._awaited.pop((data.get("metadata") or {}).get(AWAITED), None)

    async def _sanitize(self, chat: dict[str, Any]) -> dict[str, Any]:
        how = {
            "json": {**chat, "model": self._model},
            "headers": self._headers,
            "allow_redirects": False,
        }
        # Raw text goes here: the environment's HTTP proxies must not see it.
        session = aiohttp.ClientSession(trust_env=False, timeout=aiohttp.ClientTimeout(SECONDS))
        try:
            async with session, session.post(self._url, **how) as answer:
                found: dict[str, Any] = await answer.json()
        except (aiohttp.ClientError, TimeoutError, TypeError, ValueError):
            raise _refuse(503, "the InferDPT Proxy cannot be reached; nothing was sent") from None
        if answer.status != 200 or found.get("object") != "privacy.sanitization":
            told = (found.get("error") or {}).get("message") or f"status {answer.status}"
            raise _refuse(400 if answer.status == 400 else 503, told)
        return found


def _clear(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return LiteLLM's metadata of a request without what the client wrote into it."""
    metadata = dict(data.get("metadata") or {})
    theirs = metadata.pop("requester_metadata", None) or {}
    kept = {key: value for key, value in metadata.items() if key not in (*theirs, "user_id")}
    return {**kept, AWAITED: name}


def _refuse(status: int, told: str) -> HTTPException:
    return HTTPException(status, detail={"error": f"InferDPT: {told}"})


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

        A replacement that is an address itself may, as the user wrote it, if the remote added
        nothing to its host.

        Args:
            new, raw: the replacement and its value.
            following: the text after it, at least `LOOK_AHEAD` characters where there are as many.
            whole: whether nothing comes after `following`.

        Returns:
            None if more of the text is needed.
        """
        if self.inside:
            return False
        if _OWN.search(new):
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


LONGEST = 400  # characters of a replacement that is looked for: bounds what is held back
BLANKS = 16  # of white space between two of its words
_BLANK = re.compile(r"[^\S ]")
_RUN = re.compile(r" {2,}")
# Scripts without blanks between words: a replacement may touch their characters.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[^\W{_UNSPACED}]")


class Piece(NamedTuple):
    """Hold a stretch of a restored text.

    Attributes:
        source: how many characters of the remote's text it stands for.
        text: the restored text.
        restored: whether it is a raw value.
    """

    source: int
    text: str
    restored: bool = False


def spell_pieces(pieces: Iterable[Piece]) -> str:
    """Return the text of pieces."""
    return "".join(piece.text for piece in pieces)


class Replacements:
    """Hold the raw value of each replacement, ready to be looked for in many texts.

    Args:
        raw_of: the raw value of each replacement; longer ones than 400 characters are left out.
        left: replacements that are left where they stand, with all that is in them.
    """

    def __init__(self, raw_of: Mapping[str, str], left: Iterable[str] = ()) -> None:
        self.raw_of = {new: raw for new, raw in raw_of.items() if 0 < len(new) <= LONGEST}
        self.left = sorted(new for new in left if 0 < len(new) <= LONGEST)
        pairs: dict[str, str | None] = {**dict.fromkeys(self.left), **self.raw_of}
        self._by_form = {_BLANK.sub(" ", new): (new, raw) for new, raw in pairs.items()}
        self._prefixes = Prefixes(self._by_form)
        first = "".join(map(re.escape, sorted({form[0] for form in self._by_form})))
        self.starts = re.compile(rf"(?<![^\W{_UNSPACED}])[{first}]") if first else None

    def match(self, text: str, start: int, *, whole: bool) -> _Match | None:
        """Find the longest replacement that begins at a place as a whole word.

        Args:
            text: the text as far as it is known, with even blanks (`_even`).
            whole: whether nothing follows it.

        Raises:
            _Undecided: it depends on what follows.
        """
        if not whole and len(text) - start < LONGEST and self._prefixes.continues(text[start:]):
            raise _Undecided
        for form in self._prefixes.find(text, start):
            end = start + len(form)
            if _ends_word(text, end - 1, whole=whole):
                return _Match(end, *self._by_form[form])
        return None


def _even(text: str) -> tuple[str, Sequence[int]]:
    """Return a text with one blank for white space, and the place of each of its characters. More
    white space than may stand between two words becomes a line break, which no replacement has."""
    text = _BLANK.sub(" ", text)
    if "  " not in text:  # most texts
        return text, range(len(text))
    shown: list[str] = []
    places: list[int] = []
    end = 0
    for found in _RUN.finditer(text):
        shown += text[end : found.start()], " " if len(found[0]) <= BLANKS else "\n"
        places += range(end, found.start() + 1)
        end = found.end()
    return "".join([*shown, text[end:]]), [*places, *range(end, len(text))]


class _Match(NamedTuple):
    """Hold where a replacement ends, and its raw value; None for one that is left."""

    end: int
    new: str
    raw: str | None


class _Undecided(Exception):
    """Report that the next characters decide."""


def _ends_word(text: str, last: int, *, whole: bool) -> bool:
    """Tell if no word, and no number, goes on after a character. Raises `_Undecided`."""
    rest = text[last + 1 : last + 3]
    if not rest and not whole:
        raise _Undecided
    if rest and _WORD.match(rest):
        return False
    if rest and rest[0] in ".," and text[last].isdigit():  # 57 is not in 57.5
        if len(rest) < 2 and not whole:
            raise _Undecided
        return not rest[1:].isdigit()
    return True


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
        starts = self._replacements.starts
        text = self._before + self._held
        shown, places = _even(text)
        done = len(self._before)
        place = done if shown is text else bisect_left(places, done)
        pieces: list[Piece] = []
        while starts and (found := starts.search(shown, place)):
            start = found.start()
            if _continues_number(shown, start):
                place = start + 1
                continue
            try:
                match = self._replacements.match(shown, start, whole=whole)
            except _Undecided:
                pieces += self._pass(text[done : places[start]])
                self._keep(text, places[start])
                return pieces
            place = start + 1
            if match is None:
                continue
            begin, end = places[start], places[match.end - 1] + 1
            pieces += self._pass(text[done:begin])
            done, following = begin, text[end : end + LOOK_AHEAD]
            if match.raw is None:
                allowed: bool | None = False
            else:
                allowed = self._addresses.admits(match.new, match.raw, following, whole=whole)
            if allowed is None:
                self._keep(text, begin)
                return pieces
            pieces += self._replace(text[begin:end], match, allowed=allowed)
            place, done = match.end, end
        pieces += self._pass(text[done:])
        self._keep(text, len(text))
        return pieces

    def _keep(self, text: str, end: int) -> None:
        """Hold back a text from a place on."""
        self._before, self._held = text[max(0, end - 2) : end], text[end:]

    def _pass(self, text: str) -> list[Piece]:
        self._addresses.read(text)
        return [Piece(len(text), text)] if text else []

    def _replace(self, text: str, match: _Match, *, allowed: bool) -> list[Piece]:
        raw = match.raw
        if raw is not None and self._strict and _is_number(match.new) and not _is_number(raw):
            allowed = False
        if raw is None or not allowed:
            self.left += 1
            return self._pass(text)
        self.restored += 1
        raw = _space(raw, text)
        self._addresses.read(raw)  # the reader's client sees this text
        return [Piece(len(text), raw, restored=True)]


def _space(raw: str, text: str) -> str:
    """Return a raw value with the white space between the words of its replacement."""
    words, gaps = raw.split(), _SPACE.findall(text)
    if len(words) != len(gaps) + 1:
        return raw
    return "".join(chain.from_iterable(zip(words, [*gaps, ""], strict=True)))


_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _continues_number(text: str, start: int) -> bool:
    """Tell if a digit belongs to a number that began before it: 57 is not in 3.57."""
    before = text[max(0, start - 2) : start]
    return text[start].isdigit() and before[1:] in (".", ",") and before[0].isdigit()


_PLAIN = re.compile(r'[^"\\]+')
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # one character, in two halves
    r"|\\u[0-9a-fA-F]{4}|\\[^u]",
    re.DOTALL,
)
_UNFINISHED = re.compile(
    r"\\(?:u[0-9a-fA-F]{0,3})?\Z"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z"
)
_HALF = re.compile("[\ud800-\udfff]")


class JsonRestorer:
    """Restore one JSON text that comes in pieces. JSON stays JSON.

    The content of each string is restored as a text of its own and escaped again. A string, or a
    key, that is as a whole a string of the request comes back as that string. Outside of
    strings, a number is restored by a number alone.

    Args:
        replacements: what to restore.
        wholes: the raw string of each whole string that left.
    """

    def __init__(self, replacements: Replacements, wholes: Mapping[str, str]) -> None:
        self._outside = TextRestorer(replacements, strict=True)
        self._inside = TextRestorer(replacements)
        self._wholes = wholes
        self._order = sorted(wholes)
        self._in_string = False
        self._held = ""  # the beginning of an escape
        # Of a string that may yet be a whole one: its pieces, their length, and which ones.
        self._start: list[str] | None = None
        self._size = 0
        self._possible = (0, len(self._order))
        self._restored = 0

    @property
    def restored(self) -> int:
        """Return how many replacements were restored."""
        return self._outside.restored + self._inside.restored + self._restored

    @property
    def left(self) -> int:
        """Return how many replacements were left where they stand."""
        return self._outside.left + self._inside.left

    def feed(self, text: str) -> str:
        """Take the next piece of the text, and return what is certain now."""
        text, self._held = self._held + text, ""
        out: list[str] = []
        place = 0
        while place < len(text):
            if not self._in_string:
                place = self._read_outside(text, place, out)
            elif text[place] == '"':
                out += [self._close(), '"']
                self._in_string = False
                place += 1
            elif found := _PLAIN.match(text, place):
                out.append(self._add(found[0]))
                place = found.end()
            elif _UNFINISHED.match(text, place):
                self._held = text[place:]
                break
            else:
                found = _ESCAPE.match(text, place)
                shown = found[0] if found else text[place]
                out.append(self._add(_decode(shown)))
                place += len(shown)
        return "".join(out)

    def finish(self) -> str:
        """Return the rest of a text that broke off, or nothing."""
        rest, self._held = self._held, ""
        if self._in_string:
            return self._close(whole=False) + rest
        return spell_pieces(self._outside.finish())

    def _read_outside(self, text: str, place: int, out: list[str]) -> int:
        """Read up to the next string, and return the place after its opening quote."""
        end = text.find('"', place)
        out.append(spell_pieces(self._outside.feed(text[place : end if end >= 0 else None])))
        if end < 0:
            return len(text)
        out += [spell_pieces(self._outside.finish()), '"']
        self._in_string, self._start = True, []
        self._size, self._possible = 0, (0, len(self._order))
        return end + 1

    def _add(self, text: str) -> str:
        """Add a part of a string's content, and return what of it is certain, escaped."""
        if self._start is not None:
            self._start.append(text)
            if self._is_possible(text):
                return ""
            text, self._start = "".join(self._start), None
        return _escape(spell_pieces(self._inside.feed(text)))

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

    def _close(self, *, whole: bool = True) -> str:
        """Return the rest of a string's content, escaped."""
        pieces_so_far, self._start = self._start, None
        start = "".join(pieces_so_far or ())
        if whole and pieces_so_far is not None and start in self._wholes:
            self._restored += 1
            return _escape(self._wholes[start])
        pieces = self._inside.feed(start)
        return _escape(spell_pieces([*pieces, *self._inside.finish()]))


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
        self._replacements = Replacements(done["replacements"], done.get("left", ()))
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
            rest, (_, name, number) = _spell(self._parts.pop(place).finish()), place
            if rest and name == "arguments":
                call = {"index": number, "function": {"arguments": rest}}
                delta["tool_calls"] = [*(delta.get("tool_calls") or ()), call]
            elif rest:
                delta[name] = (delta.get(name) or "") + rest
        return delta

    def _restore(self, text: str, name: str) -> str:
        restorer = self._start(name)
        return _spell(restorer.feed(text)) + _spell(restorer.finish())

    def _feed(self, place: tuple[int, str, int], text: str) -> str:
        if place not in self._parts:
            self._parts[place] = self._start(place[1])
        return _spell(self._parts[place].feed(text))

    def _start(self, name: str) -> TextRestorer | JsonRestorer:
        if name == "arguments" or (name == "content" and self._writes_json):
            return JsonRestorer(self._replacements, self._wholes)
        return TextRestorer(self._replacements)


def _spell(found: str | list[Piece]) -> str:
    return found if isinstance(found, str) else spell_pieces(found)


# End of the copy.
