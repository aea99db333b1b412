"""The knowing remote, asked by the official client."""

from __future__ import annotations

import json

import openai
import pytest
from openai import AsyncOpenAI

from benchmarks.harness.datasets import DataError
from benchmarks.harness.knowing_remote import (
    MODEL,
    follow_nearest,
    main,
    run_knowing_remote,
    say_nearest,
)
from extraction.prompts import Prompts, fill
from perturb.whole.encoder import load_static
from tests.benchmarks.whole.toy import make_codebook

RIVER = "Boats broke loose on the river because the water rose after days of rain."
STORY = (
    "The river rose after the rain and boats broke loose. " * 7
    + "In the end the bridge was closed and people walked home. " * 6
)


async def ask(endpoint, prompt, **more):
    client = AsyncOpenAI(base_url=endpoint.base_url, api_key="any", max_retries=0)
    async with client:
        chat = await client.chat.completions.create(
            model=endpoint.model, messages=[{"role": "user", "content": prompt}], **more
        )
    return chat.choices[0].message.content


async def test_it_answers_with_the_nearest_passage(tmp_path):
    book = make_codebook(tmp_path)
    async with run_knowing_remote(say_nearest(book)) as endpoint:
        for prompt in (RIVER, fill(Prompts().remote_continuation, document=RIVER)):
            said = await ask(endpoint, prompt)
            assert said.startswith("The river rose")
            assert book.find(said) is not None
        own = book.passage(5)
        assert await ask(endpoint, own) == own
        assert len((await ask(endpoint, RIVER, max_tokens=3)).split()) <= 3


async def test_it_answers_with_what_follows():
    knowledge = follow_nearest([STORY, "One passage."], load_static())
    async with run_knowing_remote(knowledge) as endpoint:
        assert "bridge was closed" in await ask(endpoint, RIVER)
    with pytest.raises(DataError, match="two passages"):
        follow_nearest(["One passage."], load_static())


async def test_it_names_itself_and_refuses_what_it_does_not_serve(tmp_path):
    async with (
        run_knowing_remote(say_nearest(make_codebook(tmp_path))) as endpoint,
        AsyncOpenAI(base_url=endpoint.base_url, api_key="x", max_retries=0) as client,
    ):
        assert [model.id async for model in client.models.list()] == [MODEL]
        with pytest.raises(openai.BadRequestError, match="stream must be false"):
            await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "x"}], stream=True
            )
        with pytest.raises(openai.BadRequestError, match="messages must end"):
            await client.chat.completions.create(model=MODEL, messages=[])


def test_bad_files_are_refused(tmp_path, capsys):
    texts = tmp_path / "texts.jsonl"
    for content in ("not json\n", json.dumps({"title": "x"}), json.dumps({"text": "short"})):
        texts.write_text(content)
        assert main(["--texts", str(texts)]) == 2
        assert main(["--codebook", str(texts)]) == 2
    assert main(["--texts", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.count("knowing_remote: ") == 7
