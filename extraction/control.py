"""Remove the control tokens of chat templates from untrusted text.

A local server treats them as ends of turns, wherever they stand. Tokens are found as a
tokenizer could read them: compatibility forms as plain characters (NFKD), without characters of
no width. None is left after removal, however they are nested.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["read_tokens", "remove_control_tokens"]

# Words in angle brackets, in any case: of Llama 2, Gemma, Mistral, Qwen, DeepSeek, Granite,
# Command, GLM, InternLM, MiniCPM, MiniMax, Seed, Nemotron, Reka, T5. They include the marks of
# reasoning and of tool calls, by which a template delimits an answer.
_ANGLED = "|".join(
    (
        "s|bos|eos|pad|unk|sep|sop|eop|sot|eot|eod|eoh|eoa|ai|用户",
        r"(?:start|end|begin|beginning)_of_\w{1,40}",
        "(?:bos|eos|pad|unk|sep|cls|mask|eop|image_soft)_token",
        r"(?:extra_id|special|reserved|tokens_unused)_\d{1,6}|unused\d{1,6}",
        r"seed:\w{1,40}|longcat_\w{1,40}|fim_(?:prefix|middle|suffix|pad)",
        "think(?:ing)?|tool_?(?:calls?|responses?|results?)|available_tools",
    )
)
# Words in square brackets: of Mistral and GLM. In lower case they are ordinary (`d[prefix]`).
_BRACKETED = (
    "INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|SYSTEM_PROMPT|MODEL_SETTINGS"
    "|ARGS|CALL_ID|THINK|PREFIX|MIDDLE|SUFFIX|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|TRANSCRIBE"
    r"|gMASK|sMASK|MASK|CLS|SEP|BOS|EOS|PAD|UNK|@BOS@|control_\d{1,4}"
)
_KNOWN = re.compile(
    r"<\|[^<>|]{1,64}\|>"  # ChatML, Llama 3 and 4, Phi, harmony, Cohere, DeepSeek, Granite, GLM
    r'|<\|[\w"]{1,64}>|<\w{1,64}\|>'  # Gemma 4
    r"|\[\|[^\[\]|]{1,64}\|\]"  # EXAONE
    rf"|</?(?i:{_ANGLED})>|\[/?(?:{_BRACKETED})\]"
    r"|<</?SYS>>"  # Llama 2
    r"|\]~!?b[\[\]]|\[e~\["  # MiniMax
)
_ENDS = frozenset(">][")
SHORT = 5  # characters of `]~!b[`
LONGEST = 72  # characters of a token; those of `_KNOWN` are shorter
MOST = 256  # tokens that a server may report

# Literals of that kind in a template; an index of one of its variables is not one.
_LITERAL = re.compile(
    r"<<?[^<>\s'\"]{1,64}>>?|\[[/|@A-Z][^\[\]\s'\"]{1,64}\]"
    r"|(?:#{1,4} ?)?\b(?i:user|human|assistant|ai|bot|system|instruction|input|response"
    r"|question|answer):"
)
_TAG = re.compile(r"</?[a-z]+\d?>")  # HTML's, which tokenizers add for brevity


def remove_control_tokens(text: str, own: Sequence[str] = ()) -> str:
    """Remove control tokens from a text. A text without any comes back unchanged.

    The running time is linear in the length of the text.

    Args:
        own: tokens of the local model beside the known ones, from `read_tokens`.
    """
    folded = text.translate(_FOLDED)
    if not _KNOWN.search(folded) and not any(token in folded for token in own):
        return text
    own, ends = tuple(own), _ENDS | {token[-1] for token in own}
    # A stack of the characters that are kept: the plain form of each, and its place together with
    # the characters of no width after it. The stack holds no token, so one can only end at the
    # character that was pushed last.
    forms: list[str] = []
    places: list[tuple[int, int]] = []
    lead = 0
    for i, character in enumerate(text):
        form = _FOLDED[ord(character)]
        if not form:
            if places and places[-1][1] == i:
                places[-1] = (places[-1][0], i + 1)
            elif lead == i:
                lead = i + 1
            continue
        forms.append(form)
        places.append((i, i + 1))
        if ends.isdisjoint(form):
            continue
        size = _measure_last_token("".join(forms[-LONGEST:]), len(form), own)
        while size > 0:
            size -= len(forms.pop())
            places.pop()
    return text[:lead] + "".join(text[start:end] for start, end in places)


def _measure_last_token(text: str, fresh: int, own: tuple[str, ...]) -> int:
    """Return the length of a token at the end of the text, with what follows it; 0 for none.

    Args:
        fresh: how many characters at the end are new; no token ends before them.
    """
    for end in range(len(text) - fresh + 1, len(text) + 1):
        head = text[:end]
        # A known token holds no second bracket that opens, unless it is a short one.
        opens = head.rfind("<" if head[-1] == ">" else "[", 0, end - 1)
        start = min(opens if opens >= 0 else end, end - SHORT) - 1
        if found := _KNOWN.search(head, max(0, start)):
            return len(text) - found.start()
        if head.endswith(own):
            return len(text) - end + max(len(token) for token in own if head.endswith(token))
    return 0


def read_tokens(answer: object) -> tuple[str, ...]:
    """Read a model's own control tokens from what its server reports: vLLM's `/tokenizer_info` or
    llama.cpp's `/props`. They are the tokens listed as special and those that the chat template
    writes, labels of turns (`USER:`, `### Instruction:`) among them.

    Tokens that are known anyway, and ordinary words, are left out.
    """
    if not isinstance(answer, dict):
        return ()
    written: list[str] = []
    listed: list[str] = []
    for key, value in answer.items():
        if key.startswith("chat_template"):
            for template in _iterate_strings(value):
                written += _LITERAL.findall(template.replace("\\n", "\n"))
        elif key.endswith(("_token", "_tokens", "_tokens_decoder")):
            listed += (token for token in _iterate_strings(value) if not _TAG.fullmatch(token))
    folded = (token.translate(_FOLDED).strip(" \t\r\n▁") for token in (*written, *listed))
    kept = dict.fromkeys(token for token in folded if _is_usable(token))
    return tuple(kept)[:MOST]


def _is_usable(token: str) -> bool:
    marked = not token[:1].isalnum() and not token[-1:].isalnum()
    label = _LITERAL.fullmatch(token) is not None
    return 3 <= len(token) <= LONGEST and (marked or label) and not _KNOWN.search(token)


def _iterate_strings(value: object) -> Iterator[str]:
    """Yield the tokens of an entry, which may be a text, a list or a mapping. Tokens marked as not
    special are left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        if "content" in value:
            yield from _iterate_strings(value["content"]) if value.get("special", True) else ()
        else:
            yield from _iterate_values(value.values())
    elif isinstance(value, list):
        yield from _iterate_values(value)


def _iterate_values(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        yield from _iterate_strings(value)


class _Folds(dict[int, str]):
    """Map each character, by its number, to its plain form; to an empty string if it has no
    width."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code))
        form = "".join(c for c in parts if not _has_no_width(c))
        if code < 0x10000:  # caching the rest would take too much memory
            self[code] = form
        return form


def _has_no_width(character: str) -> bool:
    """Return whether a character has no width: marks, controls, half surrogates, Hangul's
    fillers."""
    if character in "\t\n\r\u115f\u1160":
        return character > "\r"
    return unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc", "Cs")


_FOLDED: Any = _Folds()
