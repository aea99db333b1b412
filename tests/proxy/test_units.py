"""The small parts: strict JSON, the field table, public spans, the memo, keys."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb import EmbeddingTable, Perturber, get_mechanism
from proxy.auth import ANONYMOUS, new_key, tenant_of
from proxy.config import ClientKey
from proxy.errors import ApiError
from proxy.json_input import parse_object
from proxy.memo import ENTRY_BYTES, Memo
from proxy.messages import Part, assistant_key, local_messages, split_public, turn_key
from proxy.pipeline import _join
from proxy.plan import Answer
from proxy.protocol import (
    ChatRequest,
    CompletionRequest,
    Message,
    PerturbRequest,
    Treatment,
    local_fields,
    treatment_of,
    validate,
)


class TestJson:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b'"x"',
            b"null",
            b'{"a": 1, "a": 2}',
            b'{"a": {"b": 1, "b": 2}}',
            b'{"a": NaN}',
            b'{"a": -Infinity}',
            b'{"a": 1e999}',
            b'{"a": "\xff"}',
            b'{"a": 1} x',
            b'{"a": ' + b"9" * 5000 + b"}",
            b'{"a": ' * 10 + b"1" + b"}" * 10,
            b"[" * 100_000,
        ],
    )
    def test_what_a_lenient_parser_takes_is_refused(self, body: bytes) -> None:
        with pytest.raises(ApiError) as info:
            parse_object(body, max_depth=8)
        assert (info.value.status, info.value.code) == (400, "invalid_json")

    def test_brackets_in_strings_are_no_nesting(self) -> None:
        text = '[{"' * 50 + "\\"
        assert parse_object(json.dumps({"a": text}).encode(), max_depth=2) == {"a": text}

    def test_lone_surrogates_become_replacement_characters(self) -> None:
        found = parse_object(b'{"a": ["\\ud800x", "\\uD83D\\uDE00"]}', max_depth=5)
        assert found == {"a": ["\ufffdx", "😀"]}

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=20,
        )
    )
    def test_ordinary_json_is_read_as_json(self, value: Any) -> None:
        data = json.dumps({"a": value}).encode()
        assert parse_object(data, max_depth=50) == {"a": value}


class TestFields:
    @pytest.mark.parametrize("kind", [ChatRequest, CompletionRequest, PerturbRequest])
    def test_every_field_has_one_treatment(self, kind: Any) -> None:
        assert set(treatment_of(kind)) == set(kind.model_fields)

    def test_only_numbers_and_enumerated_words_are_remote(self) -> None:
        for kind in (ChatRequest, CompletionRequest):
            remote = {n for n, t in treatment_of(kind).items() if t is Treatment.REMOTE}
            assert remote <= {
                "temperature",
                "top_p",
                "max_tokens",
                "max_completion_tokens",
                "reasoning_effort",
            }

    def test_dropped_fields_reach_nobody(self) -> None:
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "user": "u"}
        request = validate(ChatRequest, {**body, "store": True, "stop": "s", "seed": 3})
        assert local_fields(request) == {"stop": "s", "seed": 3}

    def test_what_sdks_send_back_of_an_answer_is_accepted_and_goes_nowhere(self) -> None:
        function = {"name": "f", "arguments": "{}", "parsed_arguments": {"secret": 1}}
        returned = {
            "role": "assistant",
            "content": [{"type": "text", "text": "yes", "cache_control": {"secret": 1}}],
            "tool_calls": [{"id": "1", "type": "function", "function": function, "index": 0}],
            **dict.fromkeys(
                (
                    "annotations",
                    "id",
                    "parsed",
                    "provider_specific_fields",
                    "reasoning",
                    "reasoning_content",
                    "reasoning_details",
                    "refusal",
                    "thinking_blocks",
                    "type",
                ),
                "secret",
            ),
        }
        nulls = dict.fromkeys(
            ("audio", "suffix", "previous_response_id", "conversation", "background", "inferdpt")
        )
        usage = {"include_usage": None, "continuous_usage_stats": True}
        body = {"model": "m", "messages": [returned], "stream_options": usage, "top_p": 0, **nulls}
        request = validate(ChatRequest, body)
        assert not request.include_usage
        assert "secret" not in json.dumps(local_messages(request, public_tags=True))
        assert request.inferdpt.receipt == "summary"

    @pytest.mark.parametrize("value", [2**31, 10**300, 0, True, "5"])
    def test_token_limits_are_numbers_of_a_reasonable_size(self, value: Any) -> None:
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        with pytest.raises(ApiError):
            validate(ChatRequest, {**body, "max_tokens": value})

    def test_the_names_of_unknown_fields_are_not_repeated_but_near_ones_are_suggested(
        self,
    ) -> None:
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        with pytest.raises(ApiError) as info:
            validate(ChatRequest, {**body, "temprature": 1})
        assert "'temperature'" in info.value.message
        assert "temprature" not in info.value.message


class TestPublicSpans:
    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("", [("", False)]),
            ("abc", [("abc", False)]),
            ("<public>a</public>", [("a", True)]),
            ("<public>a</public> b", [("a", True), (" b", False)]),
            ("x<public>a</public>y", [("x", False), ("a", True), ("y", False)]),
            ("<public>a", [("<public>a", False)]),
            ("a</public>", [("a</public>", False)]),
            ("<public>a<public>b</public>c", [("<public>a", False), ("b", True), ("c", False)]),
            ("<public>a</public></public>", [("a", True), ("</public>", False)]),
            ("<PUBLIC>a</PUBLIC>", [("<PUBLIC>a</PUBLIC>", False)]),
        ],
    )
    def test_split(self, text: str, parts: list[tuple[str, bool]]) -> None:
        assert [(p.text, p.public) for p in split_public(text, tags=True)] == parts

    def test_operators_can_turn_tags_off(self) -> None:
        text = "<public>a</public>"
        assert split_public(text, tags=False) == (Part(text),)

    @given(st.lists(st.sampled_from(["<public>", "</public>", "a", " ", "\n"])))
    def test_nothing_is_lost_but_tags(self, pieces: list[str]) -> None:
        text = "".join(pieces)
        joined = "".join(part.text for part in split_public(text, tags=True))
        assert joined.replace("<public>", "").replace("</public>", "") == text.replace(
            "<public>", ""
        ).replace("</public>", "")

    def test_pieces_are_never_glued_into_a_word(self) -> None:
        assert _join(["a:", "b", " c", "", "\nd"]) == "a: b c\nd"


class TestTurnKeys:
    def test_an_answer_and_its_copy_in_the_history_have_one_key(self) -> None:
        call = {"name": "f", "arguments": '{"a": 1}'}
        message = Message(
            role="assistant",
            content=" text ",
            tool_calls=[{"id": "1", "type": "function", "function": call}],  # type: ignore[list-item]
        )
        answer = Answer({"content": " text", "tool_calls": [{"function": call}]})
        assert answer.key == assistant_key(message) == turn_key("text", [("f", '{"a": 1}')])


@pytest.fixture(scope="module")
def perturber(table: EmbeddingTable) -> Perturber:
    return Perturber(get_mechanism("rantext_ldp", table, epsilon=6))


class TestMemo:
    async def draw(self, memo: Memo, perturber: Perturber, tenant: str, text: str) -> Any:
        async def create() -> Any:
            await asyncio.sleep(0)
            return perturber.perturb(text)

        return await memo.perturbation(tenant, perturber.mechanism.identity(), text, create)

    async def test_a_text_is_drawn_once(self, perturber: Perturber) -> None:
        memo = Memo(size=10**6, ttl=10)
        text = "one two three four five six seven"
        first = [await self.draw(memo, perturber, "a", text) for _ in range(2)]
        at_once = await asyncio.gather(*(self.draw(memo, perturber, "b", text) for _ in range(10)))
        assert [fresh for _, fresh in first] == [True, False]
        assert len({done.text for done, _ in first}) == 1
        assert len({done.text for done, _ in at_once}) == 1
        assert sum(fresh for _, fresh in at_once) == 1
        assert at_once[0][0].text != first[0][0].text

    async def test_entries_expire_and_the_oldest_used_goes_first(
        self, perturber: Perturber
    ) -> None:
        now = 0.0
        memo = Memo(size=2 * ENTRY_BYTES + 200, ttl=10, clock=lambda: now)
        fresh = []
        for text in ("a b", "c d", "a b", "e f", "a b", "c d"):
            fresh.append((await self.draw(memo, perturber, "t", text))[1])
        assert fresh == [True, True, False, True, False, True]
        now = 9.0
        assert not (await self.draw(memo, perturber, "t", "c d"))[1]
        now = 18.0
        assert not (await self.draw(memo, perturber, "t", "c d"))[1]
        now = 29.0
        assert (await self.draw(memo, perturber, "t", "c d"))[1]

    async def test_a_cancelled_request_does_not_cancel_the_draw(
        self, perturber: Perturber
    ) -> None:
        memo = Memo(size=10**6, ttl=10)
        gate = asyncio.Event()

        made = perturber.perturb("x")

        async def create() -> Any:
            await gate.wait()
            return made

        first = asyncio.create_task(memo.perturbation("t", {}, "x", create))
        second = asyncio.create_task(memo.perturbation("t", {}, "x", create))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        gate.set()
        assert await second == (made, False)

    async def test_a_failed_draw_is_tried_again(self, perturber: Perturber) -> None:
        memo = Memo(size=10**6, ttl=10)
        made = perturber.perturb("x")
        outcomes: list[Any] = [ValueError("x"), made]

        async def create() -> Any:
            outcome = outcomes.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        with pytest.raises(ValueError, match="x"):
            await memo.perturbation("t", {}, "x", create)
        assert await memo.perturbation("t", {}, "x", create) == (made, True)

    async def test_generations_belong_to_their_tenant(self) -> None:
        memo = Memo(size=10**6, ttl=10)
        memo.remember_answer("a", "question", "answer", "generation")
        assert memo.generation("a", "question", "answer") == "generation"
        assert memo.generation("b", "question", "answer") is None
        assert memo.generation("a", "question", "answer ") is None
        assert memo.generation("a", "another", "answer") is None

    async def test_replaced_parts_take_room(self, table: EmbeddingTable) -> None:
        marking = Perturber(get_mechanism("selective", table, epsilon=6, policy="digits"))
        memo = Memo(size=2 * ENTRY_BYTES + 200, ttl=10)
        texts = ("1 2 3 4 5 6 7 8 9", "1 2")
        fresh = [(await self.draw(memo, marking, "t", text))[1] for text in texts * 2]
        assert fresh == [True, True, True, True]

    async def test_a_text_larger_than_the_memo_is_still_drawn_once(
        self, perturber: Perturber
    ) -> None:
        memo = Memo(size=10, ttl=10)
        text = "a text that takes more than there is room for"
        fresh = [(await self.draw(memo, perturber, "t", text))[1] for _ in range(3)]
        assert fresh == [True, False, False]

    async def test_no_key_of_the_memo_is_text_or_its_plain_hash(
        self, perturber: Perturber
    ) -> None:
        memo = Memo(size=10**6, ttl=10)
        text = "a text with a few words"
        await self.draw(memo, perturber, "t", text)
        (key,) = memo._texts._items
        assert text.encode() not in key
        assert key != hashlib.sha256(text.encode()).digest()
        assert memo._key("ab", "c") != memo._key("a", "bc")


class TestAuth:
    def test_a_key_finds_its_tenant(self) -> None:
        (a, hash_a), (b, hash_b) = new_key(), new_key()
        keys = [ClientKey(tenant="a", sha256=hash_a), ClientKey(tenant="b", sha256=hash_b)]
        assert tenant_of(f"Bearer {a}", keys) == "a"
        assert tenant_of(f"bearer {b}", keys) == "b"
        for wrong in (None, "", "Bearer ", f"Basic {a}", a, f"Bearer {a}x", f"Bearer {hash_a}"):
            with pytest.raises(ApiError) as info:
                tenant_of(wrong, keys)
            assert info.value.status == 401

    def test_without_keys_everybody_is_one_tenant(self) -> None:
        assert tenant_of("Bearer whatever", []) == tenant_of(None, []) == ANONYMOUS
