"""The parts of the bundled model's training: its loss, its optimizer, and what a token counts."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.vllm

PLAIN = ("the river and the town by the river and the old mill " * 40).strip()
RARE = " basalt viaduct"


def test_a_shared_word_of_content_counts_more_where_it_is_first_used() -> None:
    from bundled.packing import (
        SHARED_WEIGHT,
        encode_conversations,
        encode_plain,
        find_content_words,
    )
    from bundled.tokenizer import Turn, train_tokenizer

    # Words a tokenizer has whole; those before RARE fill the list of the commonest.
    filler = " ".join(f"w{chr(97 + i // 26)}{chr(97 + i % 26)}q" for i in range(300))
    plain = f"{filler} {filler} {PLAIN}{RARE} quarry"
    tokenizer = train_tokenizer([f"{plain} " * 20], 2000)
    content = find_content_words(tokenizer, encode_plain(tokenizer, [plain]), "Extend the quarry")
    turns = [
        Turn("user", f"Extend the quarry: a town of{RARE}", "a town of basalt viaduct"),
        Turn("assistant", " the basalt quarry, basalt river"),
    ]
    (encoded,) = encode_conversations(tokenizer, [turns], content)
    shown = [tokenizer.id_to_token(int(token)) for token in encoded.tokens]
    answer = shown.index("<|assistant|>") + 1
    weights = dict(enumerate(encoded.weights[answer:], answer))
    first, second = (i for i, token in enumerate(shown) if token == "Ġbasalt" and i >= answer)
    assert weights.pop(first) == SHARED_WEIGHT > 1
    assert weights.pop(second) == 1  # no reward for stammering
    # `the` is common, `quarry` the prompt's own, `river` new.
    assert set(weights.values()) == {1.0}
    assert not encoded.weights[:answer].max() > 1  # the prompt's prose counts once
    assert encoded.weights[0] == 0


@pytest.mark.parametrize("shape", [(48, 48), (32, 80), (80, 32)])
def test_updates_are_near_orthogonal(shape: tuple[int, int]) -> None:
    import torch
    from bundled.muon import orthogonalize

    torch.manual_seed(3)
    matrix = torch.randn(shape)
    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    update = orthogonalize(matrix)
    assert update.shape == matrix.shape
    values = torch.linalg.svdvals(update)
    assert values.max() < 1.3
    assert values.median() > 0.6
    # The same directions, and far from those of another matrix.
    assert torch.nn.functional.cosine_similarity(update.flatten(), (u @ v).flatten(), dim=0) > 0.9


def test_a_step_is_that_of_the_published_optimizer() -> None:
    import torch
    from bundled.muon import Muon

    torch.manual_seed(4)
    start, gradients = torch.randn(40, 24), torch.randn(3, 40, 24)
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    steps = (
        (ours, Muon([ours], lr=0.01, weight_decay=0.05)),
        (
            theirs,
            torch.optim.Muon([theirs], lr=0.01, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
        ),
    )
    for gradient in gradients:
        for parameter, optimizer in steps:
            parameter.grad = gradient.clone()
            optimizer.step()
    moved = (theirs - start).norm()
    assert moved > 0
    assert (ours - theirs).norm() / moved < 0.05  # it multiplies in bfloat16


def test_the_loss_and_its_gradients_are_those_of_weighted_cross_entropy() -> None:
    import torch
    from bundled.model import HALF, learnt_loss

    torch.manual_seed(5)
    hidden = torch.randn(2, 700, 16, requires_grad=True)  # more than a block
    embedding = torch.randn(50, 16, requires_grad=True)
    targets = torch.randint(50, (2, 700))
    weights = torch.randint(4, (2, 700)).float()
    loss = learnt_loss(hidden, embedding, targets, weights)
    found = torch.autograd.grad(loss, (hidden, embedding))

    losses = torch.nn.functional.cross_entropy(
        (hidden @ embedding.T).flatten(0, 1), targets.flatten(), reduction="none"
    )
    exact = (losses * weights.flatten()).sum() / weights.sum()
    expected = torch.autograd.grad(exact, (hidden, embedding))
    tolerance = 1e-5 if HALF is torch.float32 else 2e-2
    assert loss.item() == pytest.approx(exact.item(), rel=tolerance)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours - theirs).norm() / theirs.norm() < tolerance


def test_log_probabilities_are_summed_over_each_rows_chosen_targets() -> None:
    import torch
    from bundled.model import HALF, log_probabilities

    torch.manual_seed(6)
    hidden, embedding = torch.randn(3, 600, 16), torch.randn(50, 16)
    targets, chosen = torch.randint(50, (3, 600)), torch.rand(3, 600) < 0.9  # more than a block
    chosen[1] = False
    found = log_probabilities(hidden, embedding, targets, chosen)
    each = torch.log_softmax(hidden @ embedding.T, dim=2).gather(2, targets[..., None])[..., 0]
    exact = (each * chosen).sum(dim=1)
    assert found[1] == 0
    assert torch.allclose(found, exact, rtol=1e-5 if HALF is torch.float32 else 1e-2)


def test_rows_carry_the_weights_of_what_they_hold() -> None:
    from bundled.packing import Encoded, pack_rows

    plain = np.arange(100, 200, dtype=np.uint16)
    talk = Encoded(np.arange(10, dtype=np.uint16), np.linspace(0, 5, 10, dtype=np.float32))
    stream = pack_rows(
        31, iter(range(60)), plain, iter([talk] * 50), 1.0, np.random.default_rng(1)
    )
    row = next(stream)
    assert row.tokens.tolist()[:30] == [*range(10)] * 3
    assert np.array_equal(row.weights[:30], np.tile(talk.weights, 3))
    assert row.weights[30:].tolist() == [1.0, 1.0]  # plain text in the gap
    assert min(row.tokens[30:]) >= 100
