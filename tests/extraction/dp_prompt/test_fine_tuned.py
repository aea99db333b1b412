"""paraphraser: DP-Prompt's decoding with the prompt of a fine-tuned model."""

from __future__ import annotations

from typing import Any

import pytest

from extraction.dp_prompt.clip import Decoding
from extraction.dp_prompt.fine_tuned import FineTunedParaphraser, ParaphraserParameters
from extraction.dp_prompt.sanitizer import DPPrompt, PromptParameters
from perturb import ParameterError, Vocabulary
from perturb.vocabulary.vocabulary import load_encoding
from proxy.sanitizers import sanitizer_class, sanitizer_names
from tests.extraction.dp_prompt.test_dp_prompt import CLIP, TEXT, Fixed

TUNED = {"epsilon": 4.0, "clip": CLIP, "max_tokens": 20, "model": "tuned"}


def make(model: Any, **parameters: Any) -> FineTunedParaphraser:
    chosen = ParaphraserParameters(**{**TUNED, **parameters})
    return FineTunedParaphraser(model, chosen, Vocabulary(load_encoding()))


async def test_the_prompt_is_the_one_the_model_was_tuned_with() -> None:
    model = Fixed()
    await make(model, template="paraphrase: {text} </s>").release(TEXT)
    assert model.prompt == f"paraphrase: {TEXT} </s>"
    await make(model).release("a {text} b")
    assert model.prompt == "a {text} b >>>>"
    await make(model, mode="centred").release(TEXT)
    assert model.public == " >>>>"


async def test_guarantee_and_decoding_are_those_of_dp_prompt() -> None:
    tuned = make(Fixed())
    prompted = DPPrompt(
        Fixed(),
        PromptParameters(**TUNED, engine="transformers"),
        Vocabulary(load_encoding()),
    )
    assert tuned.guarantee == prompted.guarantee
    assert tuned.parameters.decoding == Decoding(temperature=10.0, bounds=CLIP)
    receipt = (await tuned.release(TEXT)).receipt
    assert (receipt.mechanism, receipt.unit) == ("paraphraser", "generated token")
    assert receipt.parameters["template"] == "{text} >>>>"
    assert "model" not in receipt.parameters
    assert receipt.epsilon_per_document == 80.0


def test_identity_tells_it_from_dp_prompt_and_templates_apart() -> None:
    found = [make(Fixed()).identity(), make(Fixed(), template="{text} =").identity()]
    assert found[0] != found[1]
    assert found[0]["mechanism"] == "paraphraser"


def test_it_is_registered() -> None:
    assert sanitizer_class("paraphraser") is FineTunedParaphraser
    assert {"dp_prompt", "paraphraser"} <= set(sanitizer_names())


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"template": "no place"}, "template must contain {text} exactly once"),
        ({"template": "{text} {text}"}, "template must contain {text} exactly once"),
        ({"template": 3}, "template must be a text, got int"),
        ({"model": None}, "model must be a folder or a name"),
        ({"clip": None}, "clip must be"),
    ],
)
def test_parameters_that_break_a_rule_are_refused_by_name(parameters, said) -> None:
    with pytest.raises(ParameterError, match=said):
        ParaphraserParameters(**{**TUNED, **parameters})
