"""The bundled model's third round: which answers are nearer to the truth, and what is learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tables import bundled_table

pytestmark = pytest.mark.vllm

PROMPT = "Extend the text."
TRUTH = "The ship sailed from the harbor at dawn, and the crew watched the coast disappear."
NEAR = "Sailors stood on the deck while the boat left port and the shore grew small."
FAR = "The committee has approved a new budget for schools and hospitals this year."


def test_a_text_on_the_same_topic_is_nearer_than_another() -> None:
    from bundled.nearness import Nearness

    near, far, same, empty = Nearness(bundled_table()).measure([NEAR, FAR, TRUTH, "…"], TRUTH)
    assert near > far + 0.1
    assert same == pytest.approx(1, abs=1e-5)
    assert empty == 0


def test_common_words_hardly_count() -> None:
    from bundled.nearness import Nearness

    wordier, renamed = Nearness(bundled_table()).measure(
        ["harbor and the of it was to that", "budget"], "harbor"
    )
    assert wordier > 0.9
    assert renamed < 0.6


def test_the_ends_of_the_order_are_paired_and_equals_are_not() -> None:
    from bundled.pairs import pair_best_and_worst

    near = np.array([0.5, 0.1, 0.9, 0.2, 0.6, 0.52], dtype=np.float32)
    assert pair_best_and_worst(near, 2) == [(2, 1), (4, 3)]
    assert pair_best_and_worst(near, 3) == [(2, 1), (4, 3)]  # .52 and .5: chance
    assert pair_best_and_worst(np.full(4, 0.3, dtype=np.float32), 2) == []


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from bundled.tokenizer import train_tokenizer

    return train_tokenizer([f"{PROMPT} {TRUTH} {NEAR} {FAR} " * 20], 600)


@pytest.mark.parametrize("ended", [True, False])
def test_of_an_answer_all_is_learnt_and_its_end_where_the_model_wrote_it(
    tokenizer: Any, ended: bool
) -> None:
    from bundled.packing import encode_answer
    from bundled.tokenizer import END, Turn

    prompt = [Turn("user", PROMPT), Turn("assistant", FAR), Turn("user", PROMPT, PROMPT)]
    encoded = encode_answer(tokenizer, prompt, NEAR, ended=ended)
    learnt = encoded.tokens[encoded.weights > 0]
    assert tokenizer.decode([int(i) for i in learnt]) == NEAR
    assert (int(learnt[-1]) == tokenizer.token_to_id(END)) is ended
    assert set(encoded.weights.tolist()) == {0.0, 1.0}


def test_the_gradient_is_that_of_the_published_loss() -> None:
    import torch
    from bundled.model import HALF, log_probabilities, weighted_loss
    from bundled.preference import Preferences, weigh_targets

    torch.manual_seed(7)
    pairs, length, settings = 4, 20, Preferences(prompts=1, beta=0.3, truth=0.2)
    hidden = torch.randn(3 * pairs, length, 16, requires_grad=True)
    embedding = torch.randn(30, 16, requires_grad=True)
    targets = torch.randint(30, (3 * pairs, length))
    weights = torch.randint(2, (3 * pairs, length)).float()
    before = torch.randn(pairs)

    found = log_probabilities(hidden, embedding, targets, weights > 0)
    delta = found[:pairs] - found[pairs : 2 * pairs] - before
    counted = weigh_targets(weights, delta, settings)
    ours = torch.autograd.grad(
        weighted_loss(hidden, embedding, targets, counted), (hidden, embedding)
    )

    each = torch.log_softmax(hidden @ embedding.T, dim=2).gather(2, targets[..., None])[..., 0]
    better, worse, truth = (each * weights).sum(dim=1).split(pairs)
    loss = -torch.nn.functional.logsigmoid(settings.beta * (better - worse - before)).mean()
    loss = loss - settings.truth * truth.sum() / weights[2 * pairs :].sum()
    theirs = torch.autograd.grad(loss, (hidden, embedding))
    tolerance = 1e-4 if HALF is torch.float32 else 3e-2
    for a, b in zip(ours, theirs, strict=True):
        assert (a - b).norm() / b.norm() < tolerance


@pytest.mark.parametrize("swapped", [False, True])
def test_a_pass_makes_the_better_answer_likelier_and_the_worse_less(
    tokenizer: Any, swapped: bool
) -> None:
    import torch
    from bundled.model import Architecture, Llama, log_probabilities
    from bundled.packing import encode_answer
    from bundled.pairs import Pair
    from bundled.preference import Preferences, prefer
    from bundled.tokenizer import Turn

    torch.manual_seed(8)
    small = Architecture(
        tokenizer.get_vocab_size(),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=1,
        num_attention_heads=1,
    )
    model, prompt = Llama(small), [Turn("user", PROMPT)]
    near, far, truth = (
        encode_answer(tokenizer, prompt, text, ended=True) for text in (NEAR, FAR, TRUTH)
    )
    pair = Pair(far, near, truth) if swapped else Pair(near, far, truth)

    def margin() -> float:
        likelihood = []
        for encoded in (near, far):
            tokens = torch.from_numpy(encoded.tokens.astype(np.int64))[None]
            hidden, chosen = model(tokens[:, :-1]), torch.from_numpy(encoded.weights)[None, 1:] > 0
            likelihood.append(log_probabilities(hidden, model.embedding, tokens[:, 1:], chosen))
        return float(likelihood[0] - likelihood[1])

    before = margin()
    losses = prefer(model, [pair] * 40, Preferences(prompts=1, rate=1e-3, truth=0.0))
    assert len(losses) == 5
    assert losses[0] == pytest.approx(np.log(2), rel=1e-3)  # nothing is preferred yet
    assert losses[-1] < losses[0] - 0.1
    assert (margin() < before - 1) if swapped else (margin() > before + 1)


def test_too_few_pairs_for_a_step_are_refused() -> None:
    from bundled.preference import Preferences, prefer

    with pytest.raises(ValueError, match="a step takes 8 pairs, got 0"):
        prefer(None, [], Preferences(prompts=1))  # type: ignore[arg-type]
