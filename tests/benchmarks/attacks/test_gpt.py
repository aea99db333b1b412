"""GPT inference: what is asked, what counts as an answer, what counts as a hit."""

from __future__ import annotations

import asyncio
import json

import pytest

from benchmarks.attacks.gpt import GptInference, guess_originals, parse
from benchmarks.harness.datasets import DataError
from benchmarks.harness.suite import Endpoint
from tests.benchmarks.attacks.small import small_context
from tests.servers import completion, fake_server, status, web


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('["a", "b"]', ["a", "b"]),
        (' \n["a", "b"]\n', ["a", "b"]),
        ('["a"]', None),
        ('["a", "b", "c"]', None),
        ('["a", 1]', None),
        ('{"0": "a", "1": "b"}', None),
        ('Sure: ["a", "b"]', None),
        ("", None),
        (None, None),
    ],
)
def test_an_answer_is_an_array_of_as_many_strings(answer, found):
    assert parse(answer, 2) == found


def listed(body):
    """The words that a request asks about."""
    [message] = body["messages"]
    return json.loads(message["content"].splitlines()[-1])


async def measure(context, behave):
    """The one case's figures, and what was asked."""
    async with fake_server(behaviour=behave) as server:
        endpoint = Endpoint(base_url=server.base_url, model="some-model")
        context.suite = context.suite.model_copy(update={"attacker": endpoint})
        experiment = GptInference()
        [case] = experiment.cases(context)
        assert case["model"] == "some-model"
        found = await asyncio.to_thread(experiment.measure, case, context)
    return found.values, [listed(body) for body in server.bodies]


def spelled(context, places):
    return [context.table.vocabulary.words[place] for place in places]


async def test_the_model_sees_released_words_alone_and_is_right_up_to_case(tmp_path):
    context = small_context(tmp_path)
    releases = context.releases("rantext_ldp", 6.0, "demo")
    raw = {json.dumps(spelled(context, r.released)): spelled(context, r.raw) for r in releases}

    async def behave(server, request, body):
        words = listed(body)
        originals = raw.get(json.dumps(words), words)
        return web.json_response(completion(json.dumps([w.upper() for w in originals])))

    values, asked = await measure(context, behave)
    count = sum(len(words) for words in raw.values())
    assert values["success"].value == 1.0
    assert values["success"].n == count
    assert values["prior"].value == 0.0
    assert values["failed"].value == 0.0
    shown = {json.dumps(words) for words in asked}
    assert shown == raw.keys() | {json.dumps(["?"] * len(words)) for words in raw.values()}


async def test_an_answer_out_of_form_is_a_miss_for_every_word_and_is_counted(tmp_path):
    context = small_context(tmp_path)
    releases = context.releases("rantext_ldp", 6.0, "demo")
    right = json.dumps(spelled(context, releases[0].raw))
    first = spelled(context, releases[0].released)

    async def behave(server, request, body):
        good = right if listed(body) == first else right[:-1]
        return web.json_response(completion(good))

    values, _ = await measure(context, behave)
    assert values["failed"].value == pytest.approx(5 / 6)
    hits = values["success"].value * values["success"].n
    assert round(hits) == len(releases[0].raw)


async def test_a_server_that_refuses_ends_the_run(tmp_path):
    async with fake_server(behaviour=status(401)) as server:
        endpoint = Endpoint(base_url=server.base_url, model="x")
        with pytest.raises(DataError, match="attacker's server failed") as caught:
            await asyncio.to_thread(guess_originals, endpoint, [["a"]])
    assert "upstream-secret" not in str(caught.value)


def test_without_an_attacker_there_is_nothing_to_measure(tmp_path):
    assert list(GptInference().cases(small_context(tmp_path))) == []
