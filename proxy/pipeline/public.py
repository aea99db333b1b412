"""Search public text, which is sent as it is, for sensitive parts before anything is drawn.

The search uses the policy of the mechanism `selective` but counts only some of its marks: an
instruction names a language, a year or a number of words without revealing anybody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from perturb import DocumentTooLong, Vocabulary
from perturb.release import Span
from perturb.sanitizer import Marking
from perturb.selective.parts import Cover, Terms
from perturb.selective.patterns import NAME, Shape
from perturb.selective.policies import PatternPolicy, Policy, settle
from perturb.vocabulary.frequencies import common_words, plain_words, proper_words
from perturb.work import offload
from proxy.config.settings import Privacy
from proxy.errors import ApiError, bad_request, too_large

__all__ = ["INSTRUCTION", "PublicText"]

INSTRUCTION = "inferdpt.instruction"  # its name in errors
# Types that ordinary instructions are full of ("about 200 words", "by Monday", "in French").
ORDINARY = frozenset(
    (
        *("AGE", "DATE_TIME", "DURATION", "LOCATION", "MONEY", "NRP", "NUMBER", "PERCENTAGE"),
        *("PROFESSION", "QUANTITY", "TITLE", "ZIP_CODE"),
    )
)
ADDRESSES = ("PUBLIC_URL", "URL")  # not counted themselves; the parts inside them are
# Capitalised words that belong to nobody's name: languages and their speakers, formats, and names
# of things that instructions mention.
_CAPITALISED = """
    africa african america american arabic asia asian australia australian austrian bengali
    brazil brazilian britain british bulgarian canada canadian cantonese catalan chinese
    croatian czech danish dutch england english estonian europe european finnish french german
    germany greek hebrew hindi hungarian icelandic indian indonesian irish islamic israeli
    italian japan japanese jewish korean latin latvian lithuanian mandarin mexican norwegian
    persian polish portuguese punjabi romanian russian scottish serbian slovak slovenian
    spanish swahili swedish swiss tagalog taiwanese tamil thai turkish ukrainian urdu
    vietnamese welsh
    monday tuesday wednesday thursday friday saturday sunday christmas easter
    acm ai aka am ansi aoc apa api ascii asp aws backend bash bdd bibtex bluf bsd cbt ceo cfo
    chatgpt ci cli cpu crud css csv cto cv db dd devops django dns doc docker docs docx dsl
    emoji eu eur excel faq fastapi frontend gbp gdpr gif git github gmail google gpt gpu
    graphviz hello hipaa hr html http https ibm id ieee ielts imap ios iot ip iso it java
    javascript jira jpeg json jsx kpi kubernetes latex linkedin linux llm lstm markdown mba
    mermaid microsoft ml mla mm mvp mysql nda nlp node oauth ocr oop openai os pdf php png
    podcast powerpoint powershell pr python qa react reddit regex rest roi rss rtf rust seo
    slack smtp soap solidity sql ssh svg swot tdd tech the tiktok tl toefl toml tsv tv twitter
    typescript ui uk un uri url us usa usd utf uuid ux vpn vs web wikipedia windows word
    wordpress wpm xml yaml youtube yy yyyy
"""
_NO_NAMES = frozenset(_CAPITALISED.split())
_WORD = re.compile(r"[^\W\d_]+")
# A key or token: sixteen letters and digits in one run, mixed.
_KEY = Shape(
    "API_KEY", re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}+")
)
_NUMBERED = re.compile(r"\d{6}|(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{9}")
_RANGE = re.compile(r"[1-9]\d{0,3}0 ?- ?[1-9]\d{0,4}0")  # 1000-1500 words, no telephone number


class PublicText:
    """Inspect a request's public text.

    Args:
        privacy: the setting `public_findings`.
        marking: the marking of the operator's mechanism, if it has one; its policies are used.
        vocabulary: the vocabulary, which tells names from other words.
        at_most: the most tokens in all public text of a request.
    """

    def __init__(
        self,
        privacy: Privacy,
        marking: Marking | None,
        vocabulary: Vocabulary,
        *,
        at_most: int | None = None,
    ) -> None:
        self._action = privacy.public_findings
        self._marking = marking
        self._vocabulary = vocabulary
        self._at_most = at_most
        self._own = marking.own if marking else frozenset[str]()
        self._allowed = Terms(marking.allow if marking else ())

    @cached_property  # on first use: the words take megabytes
    def _policies(self) -> list[Policy]:
        policies: list[Policy] = [PatternPolicy((_KEY,))]
        if self._marking is not None:
            policies += self._marking.policies
        if self._marking is None or not self._marking.names:
            policies.append(PatternPolicy.shipped(proper=proper_words(self._vocabulary)))
        return policies

    async def check_size(self, places: Sequence[tuple[str, str]]) -> None:
        """Check the public texts of a request, together, against the limit of tokens.

        Args:
            places: the name of the place and the text of each, as often as it is sent.

        Raises:
            ApiError: 413, they exceed it.
        """
        if self._at_most is None:
            return
        # A token is a byte or more: most texts need no count.
        if sum(len(text.encode("utf-8", "surrogatepass")) for _, text in places) > self._at_most:
            await offload(False, self._count, places, self._at_most)

    def _count(self, places: Sequence[tuple[str, str]], at_most: int) -> None:
        left = at_most
        for place, text in places:
            try:
                left -= len(self._vocabulary.encode(text, at_most=left))
            except DocumentTooLong:
                raise too_large(
                    f"The public text of a request must have <= {at_most} tokens in all.",
                    param=place,
                ) from None

    async def inspect(
        self,
        places: Sequence[tuple[str, str]],
        lines: Mapping[str, Sequence[int]] = MappingProxyType({}),
    ) -> dict[str, int]:
        """Return the number of sensitive parts of each type in public texts.

        Args:
            places: the name of the place and the text of each.
            lines: for errors, the number of each line of a text by its place, where the text is
                only a part of what stands there.

        Raises:
            ApiError: 400, one of them holds some and `public_findings` is `refuse`.
        """
        places = [(place, text) for place, text in places if text.strip()]
        if not places or self._action == "allow":
            return {}
        found = await offload(False, self._find_each, {text for _, text in places})
        for place, text in places:
            if found[text] and self._action == "refuse":
                firsts = await offload(False, self._find_lines, text)
                own = lines.get(place)
                raise _sensitive(
                    place, {type_: own[i] if own else i + 1 for type_, i in firsts.items()}
                )
        counts: Counter[str] = Counter()
        for _, text in places:
            counts += found[text]
        return dict(sorted(counts.items()))

    def _find_each(self, texts: Iterable[str]) -> dict[str, Counter[str]]:
        return {text: self.find(text) for text in texts}

    def find(self, text: str) -> Counter[str]:
        """Count the sensitive parts of a text by type."""
        return Counter(span.type for span in self._find_spans(text))

    def _find_lines(self, text: str) -> dict[str, int]:
        """Return the line of the first sensitive part of each type, from 0."""
        lines: dict[str, int] = {}
        for span in sorted(self._find_spans(text)):
            lines.setdefault(span.type, text.count("\n", 0, span.start))
        return lines

    def _find_spans(self, text: str) -> list[Span]:
        groups: dict[str, list[Span]] = {}  # so that none hides in a longer ordinary one
        for policy in self._policies:
            for span in policy.find(text):
                groups.setdefault(self._group(span.type), []).append(span)
        groups.pop("address", None)
        common = common_words(self._vocabulary) if groups else ()
        allowed = Cover(self._allowed.find(text) if groups else ())
        return [
            span
            for spans in groups.values()
            for span in settle(text, spans, common=common)
            if self._counts(span.type, text[span.start : span.end])
            and (span.type in self._own or not allowed.holds(span.start, span.end))
        ]

    def _group(self, type_: str) -> str:
        if type_ in self._own:
            return "own"
        if type_ in ADDRESSES:
            return "address"
        return NAME if type_ == NAME else "rest"

    def _counts(self, type_: str, part: str) -> bool:
        if type_ in self._own:
            return True
        if type_ == NAME:
            return self._is_full_name(part)
        if type_ == "ID":
            return _NUMBERED.search(part) is not None
        if type_ == "PHONE_NUMBER" and _RANGE.fullmatch(part):
            return False
        return type_ not in ORDINARY

    def _is_full_name(self, part: str) -> bool:
        """Tell if capitalised words are the name of a person or a firm: two or more, at least one
        of them not an ordinary word, unlike in headings."""
        words = [word.casefold() for word in _WORD.findall(part) if word[0].isupper()]
        words = [word for word in words if word not in _NO_NAMES]
        plain = plain_words(self._vocabulary)
        return len(words) > 1 and any(len(word) > 1 and word not in plain for word in words)


def _sensitive(place: str, lines: Mapping[str, int]) -> ApiError:
    types = ", ".join(f"{type_} (line {line})" for type_, line in sorted(lines.items()))
    return bad_request(
        f"Public text is sent as it is, and '{place}' seems to hold sensitive parts: {types}. "
        "Nothing was sent. Leave it private or reword it; the operator's privacy.public_findings "
        "decides.",
        param=place,
        code="sensitive_public_text",
    )
