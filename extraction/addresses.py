"""Follow a text as it comes and tell where a restored value would become part of an address.

A client that shows an answer as Markdown or HTML loads addresses in it without a click, so a
remote could write one to learn a restored value. This is the one place that knows addresses, for
streamed and for whole texts.
"""

from __future__ import annotations

import re
from html import unescape

__all__ = ["LOOK_AHEAD", "Addresses"]

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
# The beginning of an element of XML with a prefix, `<dc:creator>`, or of an address in `<…>` of a
# scheme that no client fetches by itself. Both end with the `>`.
_PREFIX = re.compile(r"<[a-z_][\w-]{1,31}:\Z", re.IGNORECASE)
_FETCHED = re.compile(r"(?:https?|wss?|ftp|data|blob|javascript|vbscript|file):\Z", re.IGNORECASE)
_END_OF_LOCAL_NAME = re.compile(r"[^\w-]")
_BACKSLASHES = re.compile(r"(?<![\w:.\\/])[/\\]{2}\Z")  # a browser reads `\` as `/`: not C:\\
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # a backslash escape of Markdown
_TARGET = re.compile(r"(?:\]|(?<!\w)url)\(\Z", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?:href|src|srcset|poster|formaction|style)\s{0,3}=\Z", re.IGNORECASE)
_OF_LINK = re.compile(r"href\s{0,3}=\Z", re.IGNORECASE)
_DEFINING = re.compile(r"\]:[ \t]*+(?:\r?\n)?[ \t>]*+(?P<begun>(?!<)\S{1,128}+)?\Z")  # a reference
_NAME = re.compile(r"[A-Za-z0-9]*")
_END_OF_RUN = re.compile(r"[\s<]")
_END_OF_DESTINATION = re.compile(r"\s")
_END_OF_VALUE = re.compile(r"[\s>]")  # of an attribute without quotes
_END_OF_POINTY = re.compile(r"[>\n]")
_QUOTES = {quote: re.compile(quote) for quote in "\"'"}
_RUN_AND_BLANKS = re.compile(r"[^ \t\r\n]*[ \t]*")
_END_OF_STYLE = re.compile(r"</style", re.IGNORECASE)
_IN_TARGET = re.compile(r"[\\()>\"'\s]")
# What a link to write or to call may hold: nothing that names another receiver, or a host.
_CONTACTS = {
    "mailto:": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    "tel:": re.compile(r"\+?[0-9][0-9().-]{4,30}"),
    "tel:+": re.compile(r"[0-9][0-9().-]{4,30}"),
}
LONGEST_SCHEME = max(map(len, _CONTACTS))
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
        self._begun = ""  # the first characters of a link's target, or of a value in quotes
        self._is_link = False  # whether it is a link's, which loads nothing by itself
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
        target of Markdown, and an address of e-mail or a telephone number that is all of a link
        (`[…](mailto:…)`, `href="mailto:…"`): it is the value's own address, and nothing is loaded.

        Args:
            new, raw: the replacement and its value.
            following: the text after it, at least `LOOK_AHEAD` characters where there are as many.
            whole: whether nothing comes after `following`.

        Returns:
            None if more of the text is needed.
        """
        if self._is_contact(raw):
            ends = ")>" if self._state == "target" else self._quote
            return following[0] in ends if following else False if whole else None
        ended = self._state == "run" and self._step != "definition"  # by a tag
        if self.inside and not (ended and new[:1] == raw[:1] == "<"):
            return False
        if (new[:1], new[-1:]) in _WHOLE:  # a tag or a target that the user wrote
            return True
        if _OWN.search(new) or _OWN.search(raw):
            return bool(_HOST_ENDS.match(raw)) or self._ends(following, whole=whole)
        if self._opening:
            return False
        if self._state == "text" and _DEFINING.search(self._recent):
            return _cannot_define(raw, following, whole=whole)
        return True

    def _is_contact(self, raw: str) -> bool:
        """Tell if a value would be all that a link to write or to call has after its scheme."""
        is_whole = self._state == "target" or self._quote in ("'", '"')
        contact = _CONTACTS.get(self._begun.lower()) if self._is_link and is_whole else None
        return contact is not None and contact.fullmatch(raw) is not None

    def read(self, text: str) -> None:
        """Read the next piece of the text."""
        place = 0
        while place < len(text):
            place = getattr(self, f"_read_{self._state}")(text, place)

    def _enter(self, state: str, *, opening: bool = False) -> None:
        self._state, self._opening = state, opening
        self._recent = self._quote = self._step = self._begun = ""
        self._is_link = False

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
            opened = seen.rfind("[")
            known = opened > 0 or (opened == 0 and len(seen) < WINDOW)
            is_link = known and seen[-2] == "]" and seen[max(0, opened - 1)] != "!"
            self._enter("target", opening=True)
            self._depth, self._is_link = 1, is_link
        elif last == "=" and _ATTRIBUTE.search(seen[-16:]):
            self._enter("attribute", opening=True)
            self._is_link = _OF_LINK.search(seen[-16:]) is not None
        elif last in "/\\:.;" and _begins_run(seen):
            prefix = _PREFIX.search(seen[-40:]) and not _FETCHED.search(seen[-16:])
            self._enter("local_name" if prefix else "run")
            if _DEFINING.search(seen):  # its destination ends at no `<`
                self._enter("run")
                self._step = "definition"
        elif last in "/\\;" and _BACKSLASHES.search(unescape(seen)):
            self._enter("slashes")
            self._step = "definition" if _DEFINING.search(seen) else ""
        else:
            return False
        return True

    def _read_run(self, text: str, place: int) -> int:
        end = _END_OF_DESTINATION if self._step == "definition" else _END_OF_RUN
        return self._find_end(end, text, place)

    def _read_local_name(self, text: str, place: int) -> int:
        """Read what follows the prefix of an element: with a sign in it, it may be an address."""
        if self._step == "slash":  # <ns:a/>
            closed = text[place] == ">"
            self._enter("text" if closed else "run")
            return place + closed
        found = _END_OF_LOCAL_NAME.search(text, place)
        if found is None:
            return len(text)
        if found[0] == "/":
            self._step = "slash"
            return found.end()
        self._enter("text" if found[0] in "><" or found[0].isspace() else "run")
        return found.start() + (found[0] == ">")

    def _read_slashes(self, text: str, place: int) -> int:
        """Read what follows two backslashes: a host, or something else that is escaped twice."""
        first = text[place]
        if first in "/\\":
            return place + 1
        step = self._step
        self._enter("run" if first.isalnum() or first in "&[%" else "text")
        self._step = step if self._state == "run" else ""
        return place

    def _read_pointy(self, text: str, place: int) -> int:
        return self._find_end(_END_OF_POINTY, text, place)

    def _read_attribute(self, text: str, place: int) -> int:
        if self._opening:
            return self._open(text[place], place)
        end = _QUOTES[self._quote] if self._quote else _END_OF_VALUE
        self._begun += text[place : place + LONGEST_SCHEME + 1 - len(self._begun)]
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
        if self._is_link:
            told = text[place : found.end() if found else len(text)]
            self._begun = (self._begun + told)[: LONGEST_SCHEME + 1]
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
            self._tag, self._step, self._is_link = name, "start", name in ("a", "area")
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
                self._quote, self._step, self._begun = "", "before name", ""
            elif len(self._begun) <= LONGEST_SCHEME:
                told = text[place : end if end >= 0 else len(text)]
                self._begun += told[: LONGEST_SCHEME + 1 - len(self._begun)]
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
