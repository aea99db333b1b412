"""Classify every position of a request, one table for each endpoint.

To serve another endpoint, add its table: texts, names and JSON are sanitized alike wherever they
stand.
"""

from __future__ import annotations

from collections.abc import Mapping

from proxy.gateway.rules import (
    DIALECTS,
    FORMATS,
    TYPES,
    Drop,
    Each,
    Fields,
    Flag,
    Free,
    Identifier,
    JsonText,
    Label,
    Mark,
    Name,
    OneOf,
    ProtocolNumber,
    ProtocolWord,
    Public,
    Refuse,
    Rule,
    Schema,
    Tagged,
    TextRule,
)
from proxy.requests.protocol import EFFORTS

__all__ = ["PROVIDERS", "WORDS", "chat_positions", "completion_positions"]

TEXT, NAME, JSON_TEXT, SCHEMA, FREE, LABEL = (
    TextRule(),
    Name(),
    JsonText(),
    Schema(),
    Free(),
    Label(),
)
WHOLE = TextRule(whole=True)
DROP, FLAG, NUMERAL, IDENTIFIER, MARK = Drop(), Flag(), ProtocolNumber(), Identifier(), Mark()
# Words that the protocol itself defines, wherever they stand.
WORDS = TYPES | FORMATS | DIALECTS


def _word(*words: str) -> ProtocolWord:
    return ProtocolWord(frozenset(words))


TOKEN_IDS = Refuse("token ids spell text, which cannot be read here")
# What OpenRouter adds to OpenAI's API: only words and numbers of it pass.
# A name that is not among them could be anything.
PROVIDERS = frozenset(
    (
        *("ai21", "alibaba", "amazon-bedrock", "anthropic", "azure", "baseten", "cerebras"),
        *("chutes", "cloudflare", "cohere", "deepinfra", "deepseek", "featherless", "fireworks"),
        *("friendli", "gmicloud", "google-ai-studio", "google-vertex", "groq", "hyperbolic"),
        *("inception", "lambda", "minimax", "mistral", "moonshotai", "nebius", "novita", "nvidia"),
        *("openai", "parasail", "perplexity", "phala", "sambanova", "siliconflow", "together"),
        *("venice", "wandb", "xai", "z-ai"),
    )
)
PRECISIONS = frozenset(
    ("bf16", "fp16", "fp32", "fp4", "fp6", "fp8", "int4", "int8", "unknown"),
)
NAMES = Each(ProtocolWord(PROVIDERS))
PROVIDER = Fields(
    {
        **dict.fromkeys(("order", "only", "ignore"), NAMES),
        **dict.fromkeys(("allow_fallbacks", "require_parameters", "zdr"), FLAG),
        "data_collection": ProtocolWord(frozenset(("allow", "deny"))),
        "quantizations": Each(ProtocolWord(PRECISIONS)),
        "sort": ProtocolWord(frozenset(("latency", "price", "throughput"))),
        "max_price": Fields(dict.fromkeys(("prompt", "completion", "request", "image"), NUMERAL)),
    }
)
REASONING = Fields(
    {
        "effort": ProtocolWord(frozenset(EFFORTS)),
        "max_tokens": NUMERAL,
        **dict.fromkeys(("enabled", "exclude"), FLAG),
    }
)
OPENROUTER: Mapping[str, Rule] = {
    "provider": OneOf(object=PROVIDER),
    "reasoning": OneOf(object=REASONING),
    "transforms": Each(ProtocolWord(frozenset(("middle-out",)))),
    "usage": Fields({"include": FLAG}),
    **dict.fromkeys(("models", "route"), Drop()),  # the operator decides which models there are
}
FUNCTION_CALL = Fields({"name": NAME, "arguments": JSON_TEXT, "parsed_arguments": DROP})
CALL = Fields(
    {
        "id": LABEL,
        "type": _word("function"),
        "function": FUNCTION_CALL,
        "index": DROP,
        "cache_control": MARK,
    }
)
FUNCTION = Fields(
    {"name": NAME, "description": TEXT, "parameters": OneOf(object=SCHEMA), "strict": FLAG}
)
TOOL = Fields({"type": _word("function"), "function": FUNCTION, "cache_control": MARK})
FUNCTION_NAME = Fields({"name": NAME})
ALLOWED = Fields({"type": _word("function"), "function": FUNCTION_NAME})
CHOICE = Tagged(
    "type",
    {
        "function": ALLOWED,
        "allowed_tools": Fields(
            {
                "type": _word("allowed_tools"),
                "allowed_tools": Fields(
                    {"mode": _word("auto", "required"), "tools": Each(ALLOWED)}
                ),
            }
        ),
    },
)
FORMAT = Tagged(
    "type",
    {
        "text": Fields({"type": _word("text")}),
        "json_object": Fields({"type": _word("json_object")}),
        "json_schema": Fields(
            {
                "type": _word("json_schema"),
                "json_schema": Fields(
                    {"name": NAME, "description": TEXT, "schema": SCHEMA, "strict": FLAG}
                ),
            }
        ),
    },
)
_PART_FIELDS: Mapping[str, Rule] = {
    "annotations": DROP,
    "cache_control": MARK,
    "prompt_cache_breakpoint": DROP,
}


def _parts(text: Rule) -> Rule:
    """Return the rule of a text, or of a list of its parts."""
    part = Fields({"type": _word("text"), "text": text, **_PART_FIELDS})
    return OneOf(text, list=Each(Tagged("type", {"text": part, "refusal": DROP})))


SAMPLING: Mapping[str, Rule] = {
    **dict.fromkeys(("model", "inferdpt", "stream", "stream_options", "n", "seed"), DROP),
    **dict.fromkeys(("temperature", "top_p", "presence_penalty", "frequency_penalty"), NUMERAL),
    **dict.fromkeys(("max_tokens", "top_k", "min_p", "repetition_penalty", "min_tokens"), NUMERAL),
    **dict.fromkeys(("skip_special_tokens", "include_stop_str_in_output", "ignore_eos"), FLAG),
    **dict.fromkeys(("user", "safety_identifier", "prompt_cache_key"), IDENTIFIER),
    **dict.fromkeys(("logit_bias", "stop_token_ids"), TOKEN_IDS),
    "stop": OneOf(WHOLE, list=Each(WHOLE)),
    "guided_json": OneOf(JSON_TEXT, object=SCHEMA),
    "guided_regex": TEXT,
    "guided_choice": Each(WHOLE),
    "guided_grammar": TEXT,
    "structured_outputs": Refuse("send 'response_format', or guided_json and its like"),
    "chat_template_kwargs": FREE,
    **dict.fromkeys(("metadata", "store", "service_tier", "background_options"), DROP),
    **dict.fromkeys(("client_metadata", "moderation", "prompt_cache_options"), DROP),
    "prompt_cache_retention": DROP,
    **OPENROUTER,
}
MESSAGE_FIELDS: Mapping[str, Rule] = {
    "role": _word("system", "developer", "user", "assistant", "tool", "function"),
    "name": NAME,
    "tool_call_id": LABEL,
    "tool_calls": Each(CALL),
    "function_call": OneOf(object=FUNCTION_CALL),
    "cache_control": MARK,
    **dict.fromkeys(("refusal", "annotations", "audio", "id", "parsed", "type"), DROP),
    **dict.fromkeys(("provider_specific_fields", "reasoning", "reasoning_content"), DROP),
    **dict.fromkeys(("reasoning_details", "thinking_blocks"), DROP),
}


def chat_positions(*, public_system: bool) -> Fields:
    """Return the positions of a chat request.

    Args:
        public_system: whether the operator made the texts of system messages public.
    """
    message = Fields({**MESSAGE_FIELDS, "content": _parts(TEXT)})
    system = Fields({**MESSAGE_FIELDS, "content": _parts(Public() if public_system else TEXT)})
    roles = dict.fromkeys(("user", "assistant", "tool", "function"), message)
    roles |= dict.fromkeys(("system", "developer"), system)
    return Fields(
        {
            **SAMPLING,
            "messages": Each(Tagged("role", roles), turns=True),
            "max_completion_tokens": NUMERAL,
            "reasoning_effort": _word(*EFFORTS),
            "cache_control": MARK,
            "logprobs": FLAG,
            "top_logprobs": NUMERAL,
            "response_format": OneOf(object=FORMAT),
            "tools": Each(TOOL),
            "tool_choice": OneOf(_word("none", "auto", "required"), object=CHOICE),
            "parallel_tool_calls": FLAG,
            "functions": Each(FUNCTION),
            "function_call": OneOf(_word("none", "auto"), object=FUNCTION_NAME),
            "verbosity": _word("low", "medium", "high"),
            "prediction": OneOf(
                TEXT, object=Fields({"type": _word("content"), "content": _parts(TEXT)})
            ),
            **dict.fromkeys(("modalities", "web_search_options"), DROP),
        }
    )


def completion_positions() -> Fields:
    """Return the positions of a completion request with one prompt, a text."""
    return Fields(
        {
            **SAMPLING,
            **dict.fromkeys(("prompt", "suffix"), TEXT),
            "logprobs": NUMERAL,
            **dict.fromkeys(("echo", "best_of"), DROP),
        }
    )
