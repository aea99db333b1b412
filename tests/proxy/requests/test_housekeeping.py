"""Housekeeping prompts of chat clients are answered locally, and ordinary text is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import openai
import pytest

from perturb.errors import ExpressionTimeout
from proxy.config.settings import Local, load_config
from proxy.config.upstreams.local import SHIPPED
from proxy.errors import ConfigError
from proxy.requests.messages import BEGINNING, ENDING, Housekeeping
from proxy.requests.protocol import ChatRequest
from proxy.requests.validation import validate
from tests.catastrophe import CATASTROPHIC, ENDLESS
from tests.proxy.conftest import MODEL, Proxy
from tests.servers import WORDS

TEXT = "The board met on Monday to discuss the merger with our largest competitor."
HISTORY = f"\n### Chat History:\n<chat_history>\nUSER: {TEXT}\n</chat_history>"
# How the clients' default prompts begin.
CHORES = [
    "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
    "### Task:\nGenerate a concise title summarizing the chat history.\n### Guidelines:\n- The",
    "### Task:\nPredict 3-5 useful messages this user might naturally send next to advance",
    "### Task:\nSummarize the conversation history that will be compacted out of the active",
    "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history, along",
    "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might ask",
    "### Task:\nYou are an autocompletion system. Continue the text in `<text>` based on the",
    "### Task:\nAnalyze the chat history to determine the necessity of generating search queries",
    "### Task:\nGenerate a detailed prompt for am image generation task based on the given",
    "Your task is to reflect the speaker's likely facial expression through a fitting emoji. In",
    "Please generate a concise, 5-word-or-less title for the conversation, using its same",
    "Provide a concise, 5-word-or-less title for the conversation, using title case",
    "Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A",
    "Detect user language and write in the same language an extremely concise title for this",
    "Please generate a concise title (max 40 characters) for a conversation that starts with:",
    "In this environment you have access to a set of tools you can use to generate the con",
    "Summarize the conversation by integrating new lines into the current summary.\n\nEXAMPLE:",
]
ORDINARY = [
    TEXT,
    "",
    "### Task:\nRespond to the user query using the provided context, incorporating citations",
    "### Task:\nWrite a letter to the landlord.",
    "### Task:\n",
    f"Here is a prompt I found:\n{CHORES[0]}",
    "Generate a concise, 3-5 word title for my paper",
    "Please generate a concise summary of the contract below.",
    "Analyze this conversation and provide advice",
    "x" * BEGINNING + CHORES[0],
    " " * BEGINNING + CHORES[0],
]


def chat(*turns: tuple[str, str]) -> ChatRequest:
    messages = [{"role": role, "content": text} for role, text in turns]
    return validate(ChatRequest, {"model": MODEL, "messages": messages})


class TestPatterns:
    @pytest.mark.parametrize("text", CHORES)
    def test_the_clients_prompts_are_recognised(self, text: str) -> None:
        shipped = Housekeeping(SHIPPED)
        assert shipped.recognises(chat(("user", text + HISTORY)))
        assert shipped.recognises(chat(("user", "\n  " + text)))
        assert shipped.recognises(chat(("system", text), ("user", TEXT)))
        assert shipped.recognises(chat(("system", "Be kind."), ("user", TEXT), ("user", text)))

    def test_each_prompt_has_one_pattern_and_each_pattern_a_prompt(self) -> None:
        whole, *worded = SHIPPED
        one = {
            text: [p for p in worded if Housekeeping([p]).recognises(chat(("user", text)))]
            for text in CHORES
        }
        assert all(len(found) == 1 for found in one.values()), one
        assert {found[0] for found in one.values()} == set(worded)
        assert not any(Housekeeping([whole]).recognises(chat(("user", text))) for text in CHORES)

    @pytest.mark.parametrize("words", [5, 150, 160, 170, 180, 200, 100_000])
    def test_a_task_in_new_words_is_known_by_the_conversation_at_its_end(self, words: int) -> None:
        """Also where the end of the text falls into the window of its beginning."""
        task = "### Task:\nDescribe in a word what this talk is about.\n### Chat History:\n"
        for blanks in range(ENDING // 10):
            talk = "USER: " + "word " * words + " " * blanks
            text = f"{task}<chat_history>\n{talk}\n</chat_history>\n"
            assert Housekeeping(SHIPPED).recognises(chat(("user", text)))
            assert not Housekeeping(SHIPPED).recognises(chat(("user", text + "What is this?")))

    @pytest.mark.parametrize("text", ORDINARY)
    def test_ordinary_text_is_not(self, text: str) -> None:
        assert not Housekeeping(SHIPPED).recognises(chat(("user", text)))

    def test_only_the_last_user_turn_counts(self) -> None:
        turns = chat(("user", CHORES[0]), ("assistant", "A title"), ("user", TEXT))
        assert not Housekeeping(SHIPPED).recognises(turns)
        quoted = chat(("user", TEXT), ("assistant", CHORES[0]))
        assert not Housekeeping(SHIPPED).recognises(quoted)

    def test_the_shipped_patterns_repeat_nothing_inside_a_repetition(self) -> None:
        for pattern in SHIPPED:
            assert not re.search(r"\)[*+?{]", pattern), pattern

    def test_only_the_beginning_of_hostile_text_is_looked_at(self) -> None:
        for start in ("### Task:", "Analyze this conversation and provide:"):
            text = start + "\n \t" * 1_000_000
            assert not Housekeeping(SHIPPED).recognises(chat(("user", text)))
        # quadratic: over the whole of this text it would not come back
        assert not Housekeeping([r"\S+x\S+!"]).recognises(chat(("user", "x" * 1_000_000)))

    def test_a_pattern_that_takes_too_long_decides_nothing(self) -> None:
        slow = Housekeeping([CATASTROPHIC])
        assert slow.recognises(chat(("user", "aaa")))
        with pytest.raises(ExpressionTimeout, match="local.housekeeping.0"):
            slow.recognises(chat(("user", ENDLESS)))

    def test_no_patterns_recognise_nothing(self) -> None:
        assert not any(Housekeeping(()).recognises(chat(("user", text))) for text in CHORES)


class TestConfiguration:
    def test_the_shipped_patterns_are_the_default(self) -> None:
        assert Local().housekeeping == SHIPPED

    def test_a_bad_pattern_is_named_by_its_place(self, tmp_path: Path) -> None:
        path = tmp_path / "config.yaml"
        path.write_text("local: {housekeeping: [fine, 'also ', '(', '[']}")
        with pytest.raises(ConfigError) as info:
            load_config(path)
        first, second = str(info.value).splitlines()
        assert "local.housekeeping.2: is not a regular expression" in first
        assert "local.housekeeping.3: is not a regular expression" in second


class TestRequests:
    @pytest.mark.parametrize("streamed", [False, True])
    async def test_a_chore_is_answered_locally_and_spends_nothing(
        self, proxy: Proxy, streamed: bool
    ) -> None:
        client = proxy.client()
        turns: Any = [{"role": "user", "content": CHORES[0] + HISTORY}]
        if streamed:
            stream = await client.chat.completions.create(model=MODEL, messages=turns, stream=True)
            chunks = [c async for c in stream]
            text = "".join(c.choices[0].delta.content or "" for c in chunks)
            extra: Any = chunks[0].model_extra
        else:
            done = await client.chat.completions.create(model=MODEL, messages=turns)
            text, extra = done.choices[0].message.content or "", done.model_extra
        assert text == "".join(WORDS)
        assert proxy.remote.received == []
        assert proxy.local.bodies[-1]["messages"] == turns
        receipt = extra["inferdpt"]
        assert "housekeeping" in receipt["remote"][0]
        assert (receipt["released"], receipt["epsilon"]) == (0, None)
        assert receipt["statement"].startswith("nothing left this machine")
        (line,) = [json.loads(x) for x in proxy.log if '"request_id"' in x]
        assert (line["remote"], line["released"]) == (["housekeeping"], 0)

    async def test_so_it_is_through_responses(self, proxy: Proxy) -> None:
        done = await proxy.client().responses.create(model=MODEL, input=CHORES[1] + HISTORY)
        assert proxy.remote.received == []
        assert done.model_extra is not None
        assert "housekeeping" in done.model_extra["inferdpt"]["remote"][0]

    async def test_the_conversation_itself_goes_on_with_the_remote(self, proxy: Proxy) -> None:
        client = proxy.client()
        turns: list[Any] = [{"role": "user", "content": TEXT}]
        first = await client.chat.completions.create(model=MODEL, messages=turns)
        await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": CHORES[0] + HISTORY}]
        )
        turns += [first.choices[0].message.model_dump(), *turns]
        await client.chat.completions.create(model=MODEL, messages=turns)
        assert len(proxy.remote.bodies) == 2
        assert proxy.sent(1)[0] == proxy.sent(0)[0]


class TestSlow:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"local": {"housekeeping": [CATASTROPHIC]}}

    @pytest.mark.parametrize("stream", [False, True])
    async def test_a_pattern_that_takes_too_long_refuses_the_request(
        self, proxy: Proxy, stream: bool
    ) -> None:
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": ENDLESS}], stream=stream
            )
        assert info.value.code == "expression_timeout"
        assert "local.housekeeping.0 ran out of time" in info.value.message
        assert proxy.remote.received == proxy.local.received == []


class TestTurnedOff:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"local": {"housekeeping": []}}

    async def test_the_prompt_goes_out_perturbed_as_any_other(self, proxy: Proxy) -> None:
        await proxy.client().chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": CHORES[0] + HISTORY}]
        )
        assert len(proxy.remote.bodies) == 1
