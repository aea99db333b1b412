"""The bundled model, dequantized: vLLM, transformers and llama.cpp compute the same."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from extraction.backends.openai_server import OpenAIServer
from extraction.bundled.dequantize import MODEL, write_hf
from extraction.prompts import Prompts, fill
from proxy.config.settings import load_config
from proxy.local import local_server
from tests.vllm.stack import serving

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

PREFIX = "The harbour was quiet when the council met to decide on the new bridge."
GENERATION = "Harbour members quiet voted for bridges, and the council paid the river toll."
PROMPTS = (
    fill(Prompts().remote_continuation, document=PREFIX),
    fill(Prompts().local_continuation, document=PREFIX, generation=GENERATION),
    "Write about the river Thames.",
)
TOKENS = 64


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "bundled"
    write_hf(MODEL, made)
    return made


@pytest.fixture(scope="module")
def model(folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder).eval()


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def vllm(folder: Path) -> AsyncIterator[OpenAIServer]:
    async with serving(folder, "--max-model-len", "1024") as server:
        yield server


@pytest.mark.parametrize("penalty", [1.0, 1.15])
@pytest.mark.parametrize("prompt", PROMPTS)
async def test_vllm_writes_the_greedy_text_of_transformers(
    vllm: OpenAIServer, model: Any, tokenizer: Any, prompt: str, penalty: float
) -> None:
    message = {"role": "user", "content": prompt}
    options = {"temperature": 0.0, "repetition_penalty": penalty, "max_tokens": TOKENS}
    served = await vllm.complete([message], options)
    ids = tokenizer.apply_chat_template(
        [message], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    made = await asyncio.to_thread(
        model.generate,
        **ids,
        do_sample=False,
        temperature=None,
        top_p=None,
        top_k=None,
        repetition_penalty=penalty,
        max_new_tokens=TOKENS,
    )
    length = ids["input_ids"].shape[1]
    expected = tokenizer.decode(made[0, length:], skip_special_tokens=True)
    assert served.message["content"] == expected
    assert len(expected.split()) > 8


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_llama_cpp_gives_the_probabilities_of_transformers(
    model: Any, tokenizer: Any, prompt: str
) -> None:
    """llama.cpp also rounds what goes into its matrices to eight bits: a few percent."""
    import torch

    message = {"role": "user", "content": prompt}
    async with local_server(load_config(None).local) as server:
        options = {"max_tokens": 1, "temperature": 0.0, "logprobs": True, "top_logprobs": 10}
        answer = await server.complete([message], options)
    assert answer.logprobs is not None
    found = answer.logprobs["content"][0]["top_logprobs"]
    ids = tokenizer.apply_chat_template(
        [message], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    with torch.inference_mode():
        expected = model(**ids).logits[0, -1].double().log_softmax(-1)
    by_text = {tokenizer.decode([i]): float(p) for i, p in enumerate(expected) if p > -12}
    compared = [(t["logprob"], by_text[t["token"]]) for t in found if t["token"] in by_text]
    assert len(compared) >= 8
    assert all(math.isclose(ours, theirs, abs_tol=0.25) for ours, theirs in compared)
