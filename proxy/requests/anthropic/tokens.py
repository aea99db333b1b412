"""Estimate the tokens of a conversation on this machine; nothing is sent to count them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from perturb import Vocabulary
from perturb.vocabulary.vocabulary import encode_text
from proxy.requests.protocol import ChatRequest

__all__ = ["count_tokens"]

OF_A_MESSAGE = 4  # tokens of the chat format around a message, as OpenAI counts for its models
OF_A_TOOL = 8  # … and around a tool


def count_tokens(chat: ChatRequest, vocabulary: Vocabulary) -> int:
    """Estimate the input tokens of a chat in tokens of cl100k_base. The remote counts in its own.

    Args:
        chat: the raw conversation with its tools.
    """
    around = OF_A_MESSAGE * len(chat.messages) + OF_A_TOOL * len(chat.tools or ())
    return around + sum(len(encode_text(text, vocabulary.encoding)) for text in _list_texts(chat))


def _list_texts(chat: ChatRequest) -> Iterator[str]:
    for message in chat.messages:
        yield from message.texts
        for call in message.tool_calls or ():
            yield call.function.name
            yield call.function.arguments
    for tool in chat.tools or ():
        yield json.dumps(tool["function"], ensure_ascii=False)
    if chat.response_format is not None:
        yield json.dumps(chat.response_format, ensure_ascii=False)
