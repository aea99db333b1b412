"""Handle "Try it": what a text becomes, what that costs, and what attackers read of it.

The page grows while an answer is written; a browser needs no script for it. What attackers read is
looked up in `figures.json`, which `python -m benchmarks.pages.console_figures` makes.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import Any

from aiohttp import web
from markupsafe import escape

from extraction.backends.base import Delta
from perturb.work import SHORT, offload
from proxy.api.app_keys import CONFIG, PIPELINE, PLAN, POLICY, REMOTES, TENANT
from proxy.api.handlers import send_page
from proxy.api.middleware import CONSOLE_PATH
from proxy.api.render import Receipt, Renderer
from proxy.console.door import make_token, read_form
from proxy.console.forms import SettingInput
from proxy.console.pages import page, render
from proxy.console.replaced import ReplacedPart, list_parts
from proxy.errors import ApiError
from proxy.pipeline.plan import NOTHING_LEFT, Answer, Plan, Preview
from proxy.requests.protocol import ChatRequest

__all__ = [
    "MOST",
    "SAMPLE",
    "PageRenderer",
    "Shown",
    "WordDiff",
    "compare_words",
    "find_figures",
    "show",
    "show_settings",
    "stream",
]


class PageRenderer(Renderer):
    """Render one answer between the beginning and the end of its page."""

    ping = b"<!-- -->"

    def __init__(
        self, request: web.Request, token: str, form: Mapping[str, str], plan: Plan
    ) -> None:
        self._request = request
        self._token = token
        self._form = form
        self._plan = plan
        self._begun = False

    def body(self, answers: Sequence[Answer], receipt: Receipt) -> dict[str, Any]:
        raise NotImplementedError("a page is always streamed")

    def start(self, receipt: Receipt) -> bytes:
        self._begun = True
        return self._page(receipt)[0]

    def step(self, index: int, step: Delta, receipt: Receipt = None) -> bytes:
        return str(escape(step.message.get("content") or "")).encode("utf-8", "replace")

    def end(self, receipt: Receipt) -> bytes:
        return b"" if not self._begun else self._page(receipt)[1]

    def fail(self, error: ApiError) -> bytes:
        top, bottom = self._page(None, error)
        return bottom if self._begun else top + bottom

    def _page(self, receipt: Receipt, error: ApiError | None = None) -> tuple[bytes, bytes]:
        """Return what stands before the answer, and what stands after it."""
        here = secrets.token_hex(32)  # drawn after every text of the page, so that none holds it
        text = render(
            self._request,
            "sent.html",
            token=self._token,
            form=self._form,
            answer=here,
            receipt=receipt,
            error=error,
            sent_to=self._plan.sent_to,
        )
        top, _, bottom = text.partition(here)
        return top.encode("utf-8", "replace"), bottom.encode("utf-8", "replace")


MOST = 3_000  # words of a text that are compared: the time grows with the product of both
MOST_PAIRS = 500_000  # of equal words, each of which may be looked at; ordinary text has a tenth
_WORD = re.compile(r"\s*(?:</?public>|[^\s<]+|<)|\s+")  # tags stand alone
# White space that is not marked.
_LINE = re.compile(r"(^\s++|(?<!\s)[^\S\n]*+\n\s*+)")


@dataclass(frozen=True)
class WordDiff:
    """Hold a stretch of a text, and whether the other text lacks it."""

    text: str
    changed: bool


def compare_words(one: str, other: str) -> tuple[list[WordDiff], list[WordDiff]] | None:
    """Cut two texts into pieces that both have and pieces that only one has; None if a text has
    more than `MOST` words, or the two more than `MOST_PAIRS` pairs of equal words.

    >>> one, other = compare_words("Ann met us", "Eve met us")
    >>> [piece.text for piece in other if piece.changed]
    ['Eve']
    """
    words: list[list[str]] = [_WORD.findall(text) for text in (one, other)]
    if max(map(len, words)) > MOST:
        return None
    bare = [[word.strip() for word in some] for some in words]
    counts = Counter(bare[0])
    if sum(counts[word] for word in bare[1]) > MOST_PAIRS:
        return None
    matcher = SequenceMatcher(None, bare[0], bare[1], autojunk=False)
    cut: tuple[list[WordDiff], list[WordDiff]] = ([], [])
    for kind, *places in matcher.get_opcodes():
        for side, (start, end) in enumerate((places[:2], places[2:])):
            text = "".join(words[side][start:end])
            cut[side].extend(
                WordDiff(part, kind != "equal" and not part.isspace())
                for part in _LINE.split(text)
                if part
            )
    return cut


def find_figures(mechanism: str, epsilon: float) -> list[dict[str, Any]]:
    """Return the figures of a mechanism at ε, or else at the measured values next to it; none if
    the mechanism was not measured. Each states its own ε."""
    known = [each for each in _load() if each["mechanism"] == mechanism]
    same = [each for each in known if each["epsilon"] == epsilon]
    below = [each for each in known if each["epsilon"] < epsilon][-1:]
    above = [each for each in known if each["epsilon"] > epsilon][:1]
    return same or [*below, *above]


@cache
def _load() -> list[dict[str, Any]]:
    text = (files("proxy.console") / "figures.json").read_text("utf-8")
    figures: list[dict[str, Any]] = json.loads(text)["figures"]
    return figures


SAMPLE = (
    "<public>Summarise this in two sentences:</public>\n\n"
    "Mary Ellis (mary.ellis@example.com) asked on 12 May to move her appointment at the clinic "
    "in Leeds. She can be reached on 020 7946 0123."
)


@dataclass(frozen=True)
class Shown:
    """Hold a previewed setting for its page.

    Attributes:
        receipt: without outcomes; None if nothing would be sent.
        raw, released: both texts in pieces; None if they are too long to compare.
        parts: the replaced parts, where a policy marks them.
        figures: what attackers were measured to read, see `find_figures`.
    """

    setting: SettingInput
    statement: str
    preview: Preview | None = None
    receipt: dict[str, Any] | None = None
    raw: list[WordDiff] | None = None
    released: list[WordDiff] | None = None
    parts: tuple[ReplacedPart, ...] = ()
    figures: tuple[dict[str, Any], ...] = ()

    @property
    def body(self) -> str:
        """Return the body for the remote, as it is sent."""
        sent = None if self.preview is None else self.preview.body
        return "" if sent is None else sent.decode("utf-8")


async def show(request: web.Request) -> web.Response:
    """Show the empty page; auditors begin with budgets."""
    if request[TENANT].role == "auditor":
        return web.Response(status=303, headers={"Location": f"{CONSOLE_PATH}/budgets"})
    return _show(request, {"text": SAMPLE}, [])


async def show_settings(request: web.Request) -> web.Response:
    """Show what one setting releases, or two; nothing is sent or charged."""
    form = read_form(request)
    compared = "compare" in form and form.get("mode") != "local"
    settings = [SettingInput.read(form, number) for number in ((1, 2) if compared else (1,))]
    chats = [setting.write_chat(form) for setting in settings]
    found = [await _preview(request, *pair) for pair in zip(settings, chats, strict=True)]
    return _show(request, form, found)


async def stream(request: web.Request) -> web.StreamResponse:
    """Send a text, and stream the page of its answer."""
    form = read_form(request)
    setting = SettingInput.read(form, 1)
    chat = setting.write_chat(form)
    plan = await request.app[PIPELINE].plan_chat(chat, request[TENANT])
    request[PLAN] = plan
    renderer = PageRenderer(request, make_token(request), form, plan)
    return await send_page(request, plan, renderer)


async def _preview(request: web.Request, setting: SettingInput, chat: ChatRequest) -> Shown:
    """Preview a chat; raise `ApiError`."""
    if chat.inferdpt.local_only:
        return Shown(setting, NOTHING_LEFT)
    preview = await request.app[PIPELINE].show(chat, request[TENANT])
    receipt = preview.make_receipt()
    text = chat.messages[0].text
    cut = await offload(len(text) <= SHORT, compare_words, text, preview.text)
    raw, released = (None, None) if cut is None else cut
    parts = await offload(len(text) <= SHORT, list_parts, preview)
    sanitizer = preview.sanitizer
    figures = find_figures(sanitizer.name, sanitizer.guarantee.nominal)
    return Shown(
        setting, receipt["statement"], preview, receipt, raw, released, parts, tuple(figures)
    )


def _show(request: web.Request, form: Mapping[str, str], found: list[Shown]) -> web.Response:
    client, privacy = request[TENANT], request.app[CONFIG].privacy
    return page(
        request,
        "try.html",
        make_token(request),
        form=form,
        settings=[SettingInput.read(form, number) for number in (1, 2)],
        found=found,
        models=[name for name in request.app[REMOTES].models if client.serves(name)],
        mechanisms=request.app[POLICY].list_offered(client.grant),
        default={"mechanism": privacy.mechanism, "epsilon": privacy.epsilon},
    )
