"""Classify the fields that OpenRouter adds to OpenAI's API: only words and numbers of it pass."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.gateway.rules import Drop, Each, Fields, Flag, Numeral, OneOf, Rule, Word
from proxy.requests.fields import EFFORTS

__all__ = ["OPENROUTER", "PROVIDERS"]

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
FLAG, NUMERAL, NAMES = Flag(), Numeral(), Each(Word(PROVIDERS))
PROVIDER = Fields(
    {
        **dict.fromkeys(("order", "only", "ignore"), NAMES),
        **dict.fromkeys(("allow_fallbacks", "require_parameters", "zdr"), FLAG),
        "data_collection": Word(frozenset(("allow", "deny"))),
        "quantizations": Each(Word(PRECISIONS)),
        "sort": Word(frozenset(("latency", "price", "throughput"))),
        "max_price": Fields(dict.fromkeys(("prompt", "completion", "request", "image"), NUMERAL)),
    }
)
REASONING = Fields(
    {
        "effort": Word(frozenset(EFFORTS)),
        "max_tokens": NUMERAL,
        **dict.fromkeys(("enabled", "exclude"), FLAG),
    }
)
OPENROUTER: Mapping[str, Rule] = {
    "provider": OneOf(object=PROVIDER),
    "reasoning": OneOf(object=REASONING),
    "transforms": Each(Word(frozenset(("middle-out",)))),
    "usage": Fields({"include": FLAG}),
    **dict.fromkeys(("models", "route"), Drop()),  # the operator decides which models there are
}
