"""DP-Prompt through a real vLLM: our logits processor draws, and a server without it is refused.

The distributions are those of the same model in transformers.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from openai import AsyncOpenAI

from extraction.backends.openai_server import OpenAIServer
from extraction.dp_prompt.clip import Decoding
from extraction.dp_prompt.paraphrase import build_prompt
from extraction.dp_prompt.paraphrase_server import ServerParaphraser
from extraction.dp_prompt.vllm_clip import ClipRequest, make_processor_class
from extraction.errors import ClippingNotProved, LocalModelRefused
from perturb import DocumentTooLong, seeded_generator
from perturb.testing.statistics import ALPHA, p_value
from proxy.app import build_app, build_runner
from proxy.config.settings import Config
from proxy.serve import start_runner
from tests.servers import fake_server
from tests.vllm.stack import ALIAS, GENERATION, Stack, serving
from tests.vllm.tiny_model import SENTENCES, save_tiny_model

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

PROMPT = build_prompt(SENTENCES[0])
DECODING = Decoding(temperature=1.0, bounds=(-1.0, 3.0))
UNIFORM = Decoding(bounds=(0.0, 0.0))
CONTEXT = 512


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "clipped")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(folder: Path) -> AsyncIterator[OpenAIServer]:
    limits = ("--max-model-len", str(CONTEXT), "--max-num-seqs", "64")
    async with serving(folder, *limits, clips=True) as found:
        yield found


MARK = 0.75


def arguments(decoding: Decoding) -> dict[str, Any]:
    return {
        "vllm_xargs": ClipRequest(decoding, MARK).to_arguments(),
        "logprobs": 0,
        "return_tokens_as_token_ids": True,
    }


async def ask(
    server: OpenAIServer, prompts: list[str], options: dict[str, Any]
) -> list[list[tuple[int, float]]]:
    """Each prompt's tokens, and their log probabilities."""
    found, _ = await server.continue_text(prompts, {"temperature": 0.0, **options})
    return [
        [(int(name.removeprefix("token_id:")), value) for name, value in answer.logprobs]
        for answer in found
    ]


class Reference:
    """The same model in transformers."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.model = AutoModelForCausalLM.from_pretrained(folder).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)

    def rows(self, tokens: list[int]) -> Any:
        """Logits before each of the tokens that follow the prompt, (n, m)."""
        import torch

        prompt = self.tokenizer(PROMPT).input_ids
        with torch.inference_mode():
            out = self.model(torch.tensor([prompt + tokens])).logits[0]
        return out[len(prompt) - 1 : -1].float().numpy()


def uniform_p_value(
    reference: Reference, answers: list[list[int]], decoding: Decoding, cells: int = 20
) -> float:
    """Chi-square of the randomised probability integral transform of every token, at all places
    of all answers: uniform if each was drawn from its own clipped distribution."""
    rng = seeded_generator(3)
    counts = np.zeros(cells)
    for tokens in answers:
        for token, row in zip(tokens, reference.rows(tokens), strict=True):
            weights = decoding.weights(row).astype(float)
            order = np.argsort(-row, kind="stable")
            place = int(np.flatnonzero(order == token)[0])
            below = weights[order[:place]].sum() + rng.random() * weights[token]
            counts[min(int(cells * below / weights.sum()), cells - 1)] += 1
    return p_value(counts, np.full(cells, counts.sum() / cells))


async def test_every_token_of_a_mixed_batch_follows_its_own_bounds(
    server: OpenAIServer, folder: Path
) -> None:
    greedy = {"temperature": 0.0, "max_tokens": 24, "logprobs": 0}
    body = {**greedy, "return_tokens_as_token_ids": True}
    alone = await ask(server, [PROMPT], body)
    narrow = Decoding(temperature=0.5, bounds=(0.0, 1.0))
    # Requests of many lengths: rows of the batch come, go and change places all the time.
    jobs: list[tuple[str, dict[str, Any]]] = []
    for i in range(240):
        jobs.append(("clipped", {**arguments(DECODING), "max_tokens": 1 + i % 13}))
        jobs.append(("narrow", {**arguments(narrow), "max_tokens": 1 + i % 7}))
        if i % 5 == 0:
            jobs.append(("greedy", {**body, "max_tokens": 8 + i % 16}))
            jobs.append(("uniform", {**arguments(UNIFORM), "max_tokens": 20}))
    answers = await asyncio.gather(*(ask(server, [PROMPT], options) for _, options in jobs))
    by_kind: dict[str, list[list[int]]] = {}
    for (kind, options), [answer] in zip(jobs, answers, strict=True):
        by_kind.setdefault(kind, []).append([token for token, _ in answer])
        if kind == "greedy":
            expected = [token for token, _ in alone[0]][: options["max_tokens"]]
            assert [token for token, _ in answer] == expected
        else:
            assert [value for _, value in answer] == pytest.approx(
                [math.log(MARK)] * len(answer), abs=1e-6
            )
    reference = Reference(folder)
    for kind, decoding in (("clipped", DECODING), ("narrow", narrow), ("uniform", UNIFORM)):
        assert uniform_p_value(reference, by_kind[kind], decoding) > ALPHA, kind
    # The same test tells them apart.
    unclipped = Decoding(temperature=DECODING.temperature)
    assert uniform_p_value(reference, by_kind["clipped"], unclipped) < ALPHA
    assert uniform_p_value(reference, by_kind["narrow"], DECODING) < ALPHA
    assert uniform_p_value(reference, by_kind["uniform"], DECODING) < ALPHA


async def test_warpers_a_request_adds_do_not_move_the_draw(
    server: OpenAIServer, folder: Path
) -> None:
    warped = {
        **arguments(DECODING),
        "max_tokens": 8,
        "temperature": 0.01,
        "top_k": 1,
        "top_p": 0.01,
        "min_p": 0.9,
    }
    answers = await asyncio.gather(*(ask(server, [PROMPT], warped) for _ in range(120)))
    tokens = [[token for token, _ in answer] for [answer] in answers]
    assert uniform_p_value(Reference(folder), tokens, DECODING) > ALPHA


async def test_rows_of_other_requests_are_left_alone() -> None:
    import torch

    processor = make_processor_class()(None, None, False)
    requests = {1: ClipRequest(DECODING, MARK), 2: ClipRequest(UNIFORM, MARK)}
    added = [
        (i, SimpleNamespace(extra_args=r.to_arguments()), None, []) for i, r in requests.items()
    ]
    processor.update_state(SimpleNamespace(removed=[], added=added, moved=[]))
    logits = torch.randn(4, 50)
    logits[2, 7] = math.nan
    before = logits.clone()
    found = processor.apply(logits)
    assert not processor.is_argmax_invariant()
    assert torch.equal(found[[0, 3]], before[[0, 3]])
    assert torch.isfinite(found[1]).sum() == 2
    assert found[1].log_softmax(0).max().item() == pytest.approx(math.log(MARK))
    # A row that is broken ends no other request, and does not look drawn.
    assert found[2].log_softmax(0).max().item() == pytest.approx(-math.log(50))


async def test_paraphraser_takes_the_proof_and_stays_within_the_cap(server: OpenAIServer) -> None:
    paraphraser = ServerParaphraser(server)
    made = await asyncio.gather(*(paraphraser.generate(PROMPT, DECODING, 12) for _ in range(16)))
    assert 256 < paraphraser.vocabulary_size <= 512
    assert all(1 <= paraphrase.tokens <= 12 for paraphrase in made)
    assert len({paraphrase.text for paraphrase in made}) > 1
    assert not [p for p in made if "<s>" in p.text or "</s>" in p.text]


async def test_the_end_token_is_counted(server: OpenAIServer) -> None:
    options = {**arguments(UNIFORM), "temperature": 0.0, "max_tokens": 200}
    found = await asyncio.gather(*(server.continue_text([PROMPT], options) for _ in range(24)))
    ended = [(answer, usage) for [answer], usage in found if answer.finish_reason == "stop"]
    assert ended, "no answer of 200 uniform tokens ended by itself, which 99.98 % of 24 do"
    for answer, usage in ended:
        assert usage.completion_tokens == len(answer.logprobs)
        assert answer.logprobs[-1][0] == "token_id:1"  # </s>


async def test_without_bounds_the_server_samples_itself(server: OpenAIServer) -> None:
    made = await ServerParaphraser(server).generate(PROMPT, Decoding(top_k=1), 8)
    again = await ServerParaphraser(server).generate(PROMPT, Decoding(top_k=1), 8)
    assert made == again


async def test_a_server_without_the_processor_is_refused(stack: Stack) -> None:
    plain = OpenAIServer(f"{stack.vllm.root}/v1")
    try:
        with pytest.raises(ClippingNotProved, match="--logits-processors"):
            await ServerParaphraser(plain).generate(PROMPT, DECODING, 8)
    finally:
        await plain.aclose()


@pytest.mark.parametrize(
    "wrong", ["x", [1.0], [1, 0, 1, 0.7], [0, 1, 0, 0.7], ["a", 1, 1, 0.7], [0, 1, 1, 0.5]]
)
async def test_bounds_that_make_no_sense_are_refused(server: OpenAIServer, wrong: Any) -> None:
    with pytest.raises(LocalModelRefused) as info:
        await server.continue_text([PROMPT], {"vllm_xargs": {"inferdpt_clip": wrong}})
    assert info.value.status == 400


@pytest.mark.parametrize("words", [CONTEXT, 20])
async def test_a_document_that_leaves_no_room_is_refused(server: OpenAIServer, words: int) -> None:
    prompt = build_prompt("lighthouse " * words)
    with pytest.raises(DocumentTooLong):
        await ServerParaphraser(server).generate(prompt, DECODING, CONTEXT - 8)


async def test_the_proxy_sends_the_paraphrase(server: OpenAIServer) -> None:
    async with fake_server(text=GENERATION) as remote:
        config = Config.model_validate(
            {
                "server": {"port": 0, "drain_seconds": 5},
                "remote": {
                    "base_url": remote.base_url,
                    "api_key": "remote-key",
                    "models": {ALIAS: "remote-model"},
                },
                "local": {
                    "mode": "external",
                    "base_url": server.base_url,
                    "default_max_tokens": 16,
                },
                "privacy": {
                    "mechanism": "dp_prompt",
                    "epsilon": 3.0,
                    "parameters": {"clip": [-1.0, 3.0], "max_tokens": 20},
                },
            }
        )
        run = build_runner(build_app(config))
        try:
            url = await start_runner(run, config)
            async with AsyncOpenAI(base_url=url, api_key="any", max_retries=0) as client:
                answer = await client.chat.completions.create(
                    model=ALIAS,
                    messages=[{"role": "user", "content": SENTENCES[0]}],
                    extra_body={"inferdpt": {"receipt": "full"}},
                )
        finally:
            await run.cleanup()
    [body] = remote.bodies
    sent = body["messages"][0]["content"]
    assert SENTENCES[0] not in sent
    receipt = answer.to_dict()["inferdpt"]
    [text] = receipt["texts"]
    assert (receipt["mechanism"], receipt["guarantee"]) == ("dp_prompt", "ldp")
    assert text["epsilon_per_document"] == 60.0
    assert 1 <= text["released"] <= 20
