"""DP-Prompt on models small enough that every paraphrase can be enumerated.

Logits are computed by the model over whole sequences, the sampler computes them step by step
with its cache: the two only share the model.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from extraction.dp_prompt.clip import Decoding
from extraction.dp_prompt.paraphrase import build_prompt
from extraction.dp_prompt.paraphrase_transformers import TransformersParaphraser, load_model
from extraction.dp_prompt.sanitizer import DPPrompt, PromptParameters
from extraction.errors import LocalModelUnavailable
from perturb import DocumentTooLong, Vocabulary, seeded_generator
from perturb.testing.statistics import ALPHA, p_value
from perturb.vocabulary.vocabulary import load_encoding
from tests.proxy.conftest import MODEL, running_proxy
from tests.tables import bundled_table
from tests.vllm.small_paraphrasers import (
    BOUNDS,
    CAP,
    CENTRED,
    CLIPPED,
    CONTEXT,
    PAIRS,
    SIZE,
    SPECIAL,
    WORDS,
    engine,
    law,
    logits,
    save,
    worst,
)

__all__ = ["engine"]

pytestmark = pytest.mark.vllm


@pytest.mark.parametrize("pair", PAIRS, ids=range(len(PAIRS)))
def test_no_token_tells_two_documents_apart_by_more_than_its_epsilon(engine, pair):
    first, second = (logits(engine, document) for document in pair)
    assert len(first) == sum((SIZE - 1) ** n for n in range(CAP))
    measured = worst(CLIPPED, first, second)
    assert measured <= CLIPPED.epsilon * (1 + 1e-12) == 2.0 * (1 + 1e-12)
    assert measured > 0.1, "the documents look alike to this model: nothing is tested"


def test_what_is_not_clipped_goes_beyond_it(engine):
    pairs = [[logits(engine, document) for document in pair] for pair in PAIRS]
    quasi, topk = Decoding(temperature=2.0), Decoding(top_k=3)
    assert max(worst(quasi, *pair) for pair in pairs) > CLIPPED.epsilon
    assert max(worst(topk, *pair) for pair in pairs) == math.inf


def test_a_document_is_within_the_cap_times_epsilon(engine):
    one, other = (law(CLIPPED, logits(engine, document)) for document in PAIRS[0])
    assert sum(one.values()) == sum(other.values()) == 1
    bound = Fraction(math.exp(CAP * CLIPPED.epsilon))
    assert all(one[z] <= bound * other[z] and other[z] <= bound * one[z] for z in one)
    # The number of tokens drawn is no bound of the document's ε if the cap is left out: a longer
    # paraphrase than any one seen is always possible.
    assert {len(z) for z in one} == set(range(1, CAP + 1))


@pytest.mark.parametrize("pair", PAIRS, ids=range(len(PAIRS)))
def test_centred_clipping_keeps_its_epsilon_around_the_public_prompt(engine, pair):
    first, second, public = (logits(engine, document) for document in (*pair, ""))
    assert CENTRED.epsilon == 2.0
    assert 0.1 < worst(CENTRED, first, second, public) <= 2.0 * (1 + 1e-12)


def test_centred_on_the_documents_themselves_it_goes_beyond(engine):
    """Broken: each document has its own centre."""
    beyond = []
    for pair in PAIRS:
        first, second, public = (logits(engine, document) for document in (*pair, ""))
        for z in public:
            one, other = (CENTRED.weights(public[z], centre[z]) for centre in (first, second))
            drawn = (one > 0) & (other > 0)
            ratio = np.log(one[drawn] / one.sum()) - np.log(other[drawn] / other.sum())
            beyond.append(np.abs(ratio).max())
    assert max(beyond) > CENTRED.epsilon


def outcomes(engine: TransformersParaphraser, decoding: Decoding, n: int) -> Counter[Any]:
    rng = seeded_generator(5)
    public = build_prompt("") if decoding.centred else None

    async def draw() -> Counter[Any]:
        prompt = build_prompt(PAIRS[0][0])
        made = [await engine.generate(prompt, decoding, CAP, rng, public=public) for _ in range(n)]
        return Counter((paraphrase.text, paraphrase.tokens) for paraphrase in made)

    return asyncio.run(draw())


def fit(engine: TransformersParaphraser, seen: Counter[Any], decoding: Decoding) -> float:
    """p-value of paraphrases against the enumerated law: texts with their numbers of tokens."""
    expected: Counter[Any] = Counter()
    public = logits(engine, "") if decoding.centred else None
    for path, mass in law(decoding, logits(engine, PAIRS[0][0]), public).items():
        text = engine._tokenizer.decode(path, skip_special_tokens=True).strip()
        expected[text, len(path)] += float(mass)
    assert set(seen) <= set(expected)
    order = [key for key, _ in expected.most_common()]
    total = sum(seen.values())
    return p_value(
        np.array([seen[key] for key in order]), np.array([expected[key] * total for key in order])
    )


def test_sampler_matches_the_enumerated_law_and_an_unclipped_one_is_caught(engine):
    n = 1500
    seen = outcomes(engine, CLIPPED, n)
    assert fit(engine, seen, CLIPPED) > ALPHA
    unclipped = Decoding(temperature=CLIPPED.temperature)
    assert fit(engine, seen, unclipped) < ALPHA
    broken = outcomes(engine, unclipped, n)
    assert fit(engine, broken, unclipped) > ALPHA
    assert fit(engine, broken, CLIPPED) < ALPHA


def test_centred_sampler_matches_the_enumerated_law_and_others_are_caught(engine):
    n = 1500
    seen = outcomes(engine, CENTRED, n)
    assert fit(engine, seen, CENTRED) > ALPHA
    assert fit(engine, seen, CLIPPED) < ALPHA
    doubled = Decoding(temperature=2.0, bounds=(-4.0, 4.0), centred=True)
    assert fit(engine, outcomes(engine, doubled, n), CENTRED) < ALPHA


def test_the_public_pass_is_the_same_whatever_the_document_is(engine):
    """With an empty interval nothing but the public prompt decides."""
    public = Decoding(temperature=8.0, bounds=(0.0, 0.0), centred=True)

    async def draw(document: str) -> list[str]:
        rng = seeded_generator(3)
        prompt, empty = build_prompt(document), build_prompt("")
        made = [await engine.generate(prompt, public, 12, rng, public=empty) for _ in range(20)]
        return [paraphrase.text for paraphrase in made]

    first, second = (asyncio.run(draw(document)) for document in PAIRS[0])
    assert first == second
    assert len(set(first)) > 1


def test_centred_decoding_without_a_public_prompt_is_refused(engine):
    with pytest.raises(LocalModelUnavailable, match="failed"):
        asyncio.run(engine.generate(build_prompt("alpha"), CENTRED, CAP))


def test_top_k_draws_only_from_the_top_k(engine):
    seen = outcomes(engine, Decoding(top_k=1), 20)
    assert len(seen) == 1


def test_unseeded_paraphrases_differ(engine):
    async def draw() -> set[str]:
        made = [await engine.generate("alpha", CLIPPED, 12) for _ in range(8)]
        return {paraphrase.text for paraphrase in made}

    assert len(asyncio.run(draw())) > 1


def test_control_tokens_do_not_leave(engine):
    seen = outcomes(engine, Decoding(bounds=(0.0, 0.0)), 200)  # uniform: it draws them often
    assert not [text for text, _ in seen if any(token in text for token in SPECIAL)]


def test_a_document_that_leaves_no_room_is_refused_and_not_cut(engine):
    long = "alpha " * CONTEXT
    with pytest.raises(DocumentTooLong, match="of the paraphrasing model"):
        asyncio.run(engine.generate(build_prompt(long), CLIPPED, CAP))


async def test_a_model_that_breaks_down_is_mapped(tmp_path):
    import torch

    model, tokenizer = load_model(save(tmp_path, "causal"))
    with torch.no_grad():
        model.lm_head.weight.fill_(math.nan)
    broken = TransformersParaphraser("broken", model, tokenizer)
    for decoding in (CLIPPED, Decoding()):
        with pytest.raises(LocalModelUnavailable, match="failed"):
            await broken.generate(build_prompt("alpha"), decoding, CAP)


def test_document_in_paraphrase_and_receipt_out(engine):
    parameters = PromptParameters(
        epsilon=2.0, clip=BOUNDS, max_tokens=CAP, engine="transformers", model="tiny"
    )
    sanitizer = DPPrompt(engine, parameters, Vocabulary(load_encoding()))
    done = sanitizer.perturb("alpha beta", seeded_generator(1))
    assert done.receipt.epsilon_per_document == 6.0
    assert 1 <= done.receipt.released <= CAP
    assert set(done.text.split()) <= set(WORDS)
    sanitizer.verify("alpha beta", done)


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [("dp_prompt", {}), ("dp_prompt", {"mode": "centred"}), ("paraphraser", {})],
)
async def test_the_proxy_sends_a_paraphrase_made_in_its_own_process(tmp_path, mechanism, more):
    parameters = {
        "clip": list(BOUNDS),
        "max_tokens": 12,
        "engine": "transformers",
        "model": save(tmp_path, "causal"),
        **more,
    }
    settings = {"privacy": {"mechanism": mechanism, "epsilon": 2.0, "parameters": parameters}}
    async with running_proxy(bundled_table(), settings) as proxy:
        for i in range(40):  # a paraphrase may be empty, and then nothing leaves
            content = "salary alpha beta gamma delta" + " alpha" * (i % 8) + " beta" * (i // 8)
            answer = await proxy.client().chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": content}]
            )
            receipt = answer.to_dict()["inferdpt"]
            if receipt["epsilon"] is not None:
                break
    found = {"nominal": 2.0, "per_token": 2.0, "all_tokens": 24.0, "delta": 1e-9}
    assert receipt["epsilon"] == found
    assert set(proxy.sent()[0]["content"].split()) <= set(WORDS)
