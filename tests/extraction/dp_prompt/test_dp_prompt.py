"""DP-Prompt as a sanitizer: its promises, refusals and checks."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from extraction.dp_prompt.clip import Decoding
from extraction.dp_prompt.paraphrase import Paraphrase, build_prompt
from extraction.dp_prompt.sanitizer import DPPrompt, PromptParameters
from perturb import DocumentTooLong, ParameterError, ReleaseError, Vocabulary
from perturb.vocabulary.vocabulary import load_encoding

CLIP = (-10.0, 10.0)
TEXT = "Maria Schmidt earns 81,000 euros and lives in the green house near the old harbour bridge."
DECODING = Decoding(temperature=10.0, bounds=CLIP)


@dataclass
class Fixed:
    """A model that answers with one text."""

    text: str = "Someone earns money"
    tokens: int = 4
    vocabulary_size: int = 32_000
    prompt: str = ""
    public: str | None = None

    def identity(self) -> dict[str, Any]:
        return {"engine": "fixed", "model": "m"}

    async def generate(
        self,
        prompt: str,
        decoding: Decoding,
        max_tokens: int,
        rng: Any = None,
        *,
        public: str | None = None,
    ) -> Paraphrase:
        self.prompt, self.public = prompt, public
        return Paraphrase(self.text, self.tokens)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(load_encoding())


@pytest.fixture
def make(vocabulary: Vocabulary) -> Callable[..., DPPrompt]:
    def made(model: Any = None, **parameters: Any) -> DPPrompt:
        limit = parameters.pop("document_tokens", None)
        if name := parameters.pop("model_name", None):
            parameters["model"] = name
        defaults = {} if parameters.get("mode") == "topk" else {"clip": CLIP}
        chosen = PromptParameters(**{"epsilon": 4.0, "max_tokens": 20, **defaults, **parameters})
        return DPPrompt(model or Fixed(), chosen, vocabulary, document_tokens=limit)

    return made


# -- parameters -----------------------------------------------------------------------------


def test_epsilon_sets_the_temperature():
    decoding = PromptParameters(epsilon=4.0, clip=CLIP).decoding
    assert decoding == Decoding(temperature=10.0, bounds=CLIP)
    assert decoding.epsilon == 4.0
    quasi = PromptParameters(epsilon=4.0, clip=CLIP, mode="quasi").decoding
    assert quasi == Decoding(temperature=10.0)
    assert PromptParameters(mode="topk", top_k=5).decoding == Decoding(top_k=5)
    centred = PromptParameters(
        epsilon=4.0, clip=CLIP, mode="centred", engine="transformers", model="m"
    )
    assert centred.decoding == Decoding(temperature=10.0, bounds=CLIP, centred=True)
    assert centred.decoding.epsilon == 4.0
    assert not centred.server_clips


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "inferdpt privacy clip-bounds"),
        ({"mode": "quasi"}, "clip"),
        ({"clip": (1.0, 1.0)}, "b1 < b2"),
        ({"clip": [1.0]}, "clip"),
        ({"clip": ["a", "b"]}, "clip"),
        ({"clip": [-math.inf, 1]}, "clip"),
        ({"clip": CLIP, "top_k": 50}, "depends on the document"),
        ({"mode": "topk"}, "top_k"),
        ({"mode": "topk", "top_k": 0}, "top_k"),
        ({"mode": "topk", "top_k": True}, "top_k"),
        ({"mode": "topk", "top_k": 5, "clip": CLIP}, "clip"),
        ({"mode": "other", "clip": CLIP}, "dp, centred, quasi, topk"),
        ({"mode": "centred"}, "clip must be .-C, C. in mode centred"),
        ({"mode": "centred", "clip": CLIP}, "engine must be transformers in mode centred"),
        ({"mode": "centred", "clip": CLIP, "top_k": 5}, "depends on the document"),
        ({"clip": CLIP, "max_tokens": 0}, "max_tokens"),
        ({"clip": CLIP, "engine": "llama"}, "server, transformers"),
        ({"clip": CLIP, "engine": "transformers"}, "model"),
        ({"clip": CLIP, "model": "x"}, "model"),
        ({"clip": CLIP, "epsilon": 0}, "epsilon"),
    ],
)
def test_parameters_that_break_a_rule_are_refused_by_name(parameters, words):
    with pytest.raises(ParameterError, match=words):
        PromptParameters(**parameters)


@pytest.mark.parametrize(
    "name", ["top_p", "min_p", "repetition_penalty", "logit_bias", "stop", "seed", "temperature"]
)
def test_nothing_else_may_act_on_the_logits(name):
    with pytest.raises(TypeError, match=name):
        PromptParameters(clip=CLIP, **{name: 1})


# -- release --------------------------------------------------------------------------------


def test_prompt_is_the_papers():
    assert build_prompt("a {text} b") == "Document : a {text} b\nParaphrase of the document :"


async def test_what_leaves_and_its_receipt(make):
    model = Fixed()
    sanitizer = make(model)
    done = await sanitizer.release(TEXT)
    assert (done.text, done.words) == (model.text, ())
    assert model.prompt == build_prompt(TEXT)
    receipt = done.receipt
    assert (receipt.mechanism, receipt.guarantee, receipt.released) == ("dp_prompt", "ldp", 4)
    assert (receipt.epsilon_per_token, receipt.epsilon_per_document) == (4.0, 80.0)
    assert receipt.unit == "generated token"
    assert receipt.parameters["temperature"] == 10.0
    assert receipt.parameters["max_tokens"] == 20
    assert receipt.tokens["word"] > 5
    assert json.dumps(receipt.to_dict())
    assert "Maria" not in json.dumps(receipt.to_dict())
    sanitizer.verify(TEXT, done)


async def test_centred_mode_sends_the_prompt_without_the_document_along(make):
    model = Fixed()
    sanitizer = make(
        model, mode="centred", clip=(-2.0, 2.0), engine="transformers", model_name="m"
    )
    done = await sanitizer.release(TEXT)
    assert (model.prompt, model.public) == (build_prompt(TEXT), build_prompt(""))
    assert (done.receipt.guarantee, done.receipt.epsilon_per_document) == ("ldp", 80.0)
    assert done.receipt.parameters["temperature"] == 2.0
    await make(model).release(TEXT)
    assert model.public is None


def test_perturb_gives_the_same_outside_of_a_loop(make):
    assert make().perturb(TEXT) == asyncio.run(make().release(TEXT))


def test_guarantee_says_what_is_proved(make):
    proved = make().guarantee
    assert (proved.kind, proved.epsilon) == ("ldp", 4.0)
    assert "at most 20" in proved.statement
    assert "80-LDP" in proved.statement
    for sanitizer in (make(mode="quasi"), make(mode="topk", top_k=5)):
        assert sanitizer.guarantee.kind == "none"
        assert sanitizer.guarantee.epsilon == math.inf
        assert "No guarantee" in sanitizer.guarantee.statement


def test_identity_tells_channels_apart(make):
    variants = [
        make(),
        make(epsilon=5.0),
        make(max_tokens=21),
        make(clip=(-10.0, 11.0)),
        make(mode="quasi"),
        make(mode="topk", top_k=5),
        make(mode="centred", engine="transformers", model_name="m"),
    ]
    found = [json.dumps(sanitizer.identity(), sort_keys=True) for sanitizer in variants]
    assert len(set(found)) == len(found)
    assert found[0] == json.dumps(make().identity(), sort_keys=True)


async def test_longer_documents_are_refused(make):
    with pytest.raises(DocumentTooLong, match="<= 5 tokens"):
        await make(document_tokens=5).release(TEXT)


# -- the last check -------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 8.0])
async def test_an_engine_that_echoes_the_document_is_refused(make, epsilon):
    words = len(TEXT.split())
    sanitizer = make(Fixed(TEXT, 2 * words), epsilon=epsilon, max_tokens=100)
    with pytest.raises(ReleaseError, match="repeats"):
        sanitizer.verify(TEXT, await sanitizer.release(TEXT))


async def test_an_echo_in_the_middle_is_found(make):
    middle = " ".join(TEXT.split()[3:13])
    sanitizer = make(Fixed(f"Well now, {middle} indeed so", 40), epsilon=1.0, max_tokens=100)
    with pytest.raises(ReleaseError, match="repeats"):
        sanitizer.verify(TEXT, await sanitizer.release(TEXT))


async def test_an_echo_that_chance_explains_passes(make):
    # At ε = 60 a model may well repeat its document; one word in common proves nothing.
    loud = make(Fixed(TEXT, 40), epsilon=60.0, max_tokens=100)
    loud.verify(TEXT, await loud.release(TEXT))
    quiet = make(Fixed("The bridge", 4), epsilon=1.0)
    quiet.verify(TEXT, await quiet.release(TEXT))
    unclipped = make(Fixed(TEXT, 40), mode="quasi", max_tokens=100)
    unclipped.verify(TEXT, await unclipped.release(TEXT))
    # Public logits may make any text likely, whatever the document is.
    around = {"mode": "centred", "engine": "transformers", "model_name": "m"}
    centred = make(Fixed(TEXT, 40), max_tokens=100, **around)
    centred.verify(TEXT, await centred.release(TEXT))


async def test_longest_run_is_what_the_channel_explains(make):
    """The bound is worked out here once more, word by word."""
    sanitizer = make(Fixed(), epsilon=4.0, max_tokens=100)
    raw = TEXT.split()
    spread = math.exp(-2.0)
    for size in range(1, len(raw) + 1):
        text = " ".join(raw[:size])
        shares = [(len(word) + 1) / 32_000 for word in raw[:size]]
        chance = math.prod(1 / (1 + (1 / share - 1) * spread) for share in shares)
        refused = chance * len(raw) * size < 1e-9
        done = replace(await sanitizer.release(TEXT), text=text)
        done = replace(done, receipt=replace(done.receipt, released=size))
        if refused:
            with pytest.raises(ReleaseError):
                sanitizer.verify(TEXT, done)
        else:
            sanitizer.verify(TEXT, done)


@pytest.mark.parametrize(("text", "tokens"), [("one two three", 2), ("one", 21)])
async def test_more_words_or_tokens_than_may_be_drawn_are_refused(make, text, tokens):
    sanitizer = make(Fixed(text, tokens))
    with pytest.raises(ReleaseError, match="more words or tokens"):
        sanitizer.verify(TEXT, await sanitizer.release(TEXT))


@pytest.mark.parametrize(("raw", "text"), [("", ""), ("", "one"), (TEXT, "")])
async def test_empty_texts_pass(make, raw, text):
    sanitizer = make(Fixed(text, 2))
    sanitizer.verify(raw, await sanitizer.release(raw))
