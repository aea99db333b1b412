"""Handle "Try it": what a text becomes, what that costs, and what attackers read of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from perturb.work import SHORT, offload
from proxy.api.app_keys import CONFIG, PIPELINE, PLAN, POLICY, REMOTES, TENANT
from proxy.api.handlers import send_page
from proxy.api.middleware import CONSOLE_PATH
from proxy.console.door import make_token, read_form
from proxy.console.figures import find_figures
from proxy.console.forms import SettingInput
from proxy.console.pages import page
from proxy.console.replaced import ReplacedPart, list_parts
from proxy.console.streaming import PageRenderer
from proxy.console.words import WordDiff, compare_words
from proxy.pipeline.plan import NOTHING_LEFT, Preview
from proxy.requests.protocol import ChatRequest

__all__ = ["SAMPLE", "Shown", "show", "show_settings", "stream"]

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
