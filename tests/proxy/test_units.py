"""The small parts: strict JSON, the field table, public spans, the memo, keys."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from perturb import EmbeddingTable, Perturber, get_mechanism
from proxy.cache import ENTRY_BYTES, Cache
from proxy.config_store import Store as StoreSettings
from proxy.errors import ApiError
from proxy.guard import words_of
from proxy.json_input import parse_object
from proxy.ledger import Ledger
from proxy.memo import Entry, Memo, Wanted
from proxy.messages import Part, assistant_key, local_messages, split_public, turn_key
from proxy.outgoing import _joined
from proxy.paragraphs import split
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
from proxy.schema import RELEASES
from proxy.store import Store, open_store


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
        assert _joined(["a:", "b", " c", "", "\nd"]) == "a: b c\nd"


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


class TestCache:
    def test_entries_expire_and_the_oldest_used_goes_first(self) -> None:
        now = 0.0
        cache: Cache[str] = Cache(size=2 * ENTRY_BYTES + 200, ttl=10, clock=lambda: now)

        def known(text: str) -> bool:
            found = cache.get(text.encode()) is not None
            if not found:
                cache.put(text.encode(), text, len(text))
            return found

        assert [known(text) for text in ("ab", "cd", "ab", "ef", "ab", "cd")] == [
            *(False, False, True, False, True, False)
        ]
        now = 9.0
        assert known("cd")
        now = 18.0
        assert known("cd")
        now = 29.0
        assert not known("cd")

    def test_the_newest_stays_however_large(self) -> None:
        cache: Cache[str] = Cache(size=10, ttl=10)
        cache.put(b"a", "x", 1000)
        assert cache.get(b"a") == "x"
        cache.put(b"b", "y", 1000)
        assert (cache.get(b"a"), cache.get(b"b")) == (None, "y")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(StoreSettings(folder=str(tmp_path / "memo"))) as opened:
        yield opened


class TestMemo:
    @pytest.fixture
    def memo(self, store: Store) -> Memo:
        return Memo(store, size=10**6, ttl=10)

    async def draw(
        self, memo: Memo, perturber: Perturber, tenant: str, text: str, scope: str = ""
    ) -> Entry:
        async def create() -> Any:
            await asyncio.sleep(0)
            return perturber.perturb(text)

        wanted = Wanted(perturber.mechanism.identity(), text, create)
        (entry,) = await memo.entries(tenant, scope, [wanted])
        return entry

    async def settle(self, memo: Memo, store: Store, tenant: str, *entries: Entry) -> list[bool]:
        async with store.writing() as connection:
            await Ledger(store, delta=1e-6).lock(connection, tenant)
            await memo.settle(connection, tenant, entries)
        memo.settled(entries)
        return [entry.fresh for entry in entries]

    async def test_a_text_is_drawn_once(self, memo: Memo, perturber: Perturber) -> None:
        text = "one two three four five six seven"
        first = [await self.draw(memo, perturber, "a", text) for _ in range(2)]
        at_once = await asyncio.gather(*(self.draw(memo, perturber, "b", text) for _ in range(10)))
        elsewhere = await self.draw(memo, perturber, "a", text, scope="conversation")
        assert len({entry.released.text for entry in first}) == 1
        assert len({entry.released.text for entry in at_once}) == 1
        assert len({e.released.text for e in (at_once[0], first[0], elsewhere)}) == 3

    async def test_the_first_to_settle_wins_and_all_send_its_draw(
        self, store: Store, perturber: Perturber
    ) -> None:
        text = "one two three four five six seven"
        memos = [Memo(store, size=10**6, ttl=10) for _ in range(3)]  # of three replicas
        entries = [await self.draw(memo, perturber, "t", text) for memo in memos]
        assert len({entry.released.text for entry in entries}) == 3
        winner = entries[1].released.text
        order = (1, 0, 2)
        fresh = [(await self.settle(memos[i], store, "t", entries[i]))[0] for i in order]
        assert fresh == [True, False, False]
        assert all(entry.released.text == winner for entry in entries)
        for memo in memos:
            assert (await self.draw(memo, perturber, "t", text)).released.text == winner

    async def test_nothing_is_written_before_it_is_settled(
        self, memo: Memo, store: Store, perturber: Perturber
    ) -> None:
        entry = await self.draw(memo, perturber, "t", "a few words")
        assert (await store.info())["releases"] == 0
        assert await self.settle(memo, store, "t", entry) == [True]
        assert (await store.info())["releases"] == 1

    async def test_a_release_comes_back_from_the_store_as_it_was(
        self, store: Store, table: EmbeddingTable
    ) -> None:
        text = "Mr. Bartholomew of 12 Elm Street, bartholomew@example.org\x00 \ud83d 😀"
        for name in ("rantext", "rantext_ldp", "santext", "selective"):
            sanitizer = Perturber(get_mechanism(name, table, epsilon=6))
            entry = await self.draw(Memo(store, size=10**6, ttl=10), sanitizer, "t", text)
            await self.settle(Memo(store, size=10**6, ttl=10), store, "t", entry)
            again = await self.draw(Memo(store, size=10**6, ttl=10), sanitizer, "t", text)
            ours, theirs = entry.released, again.released
            assert (ours.text, ours.words) == (theirs.text, theirs.words)
            assert ours.replaced == theirs.replaced
            told = replace(ours.receipt, statistics={})
            assert json.dumps(told.to_dict()) == json.dumps(theirs.receipt.to_dict())
            sanitizer.verify(text, again.released)

    async def test_how_a_text_was_drawn_is_not_stored(
        self, memo: Memo, store: Store, table: EmbeddingTable
    ) -> None:
        """A list's size, or whether a word came from the tail, tells more of the raw word than
        the word that left: the remote does not have it, and neither has the store."""
        for name in ("rantext", "rantext_ldp"):
            sanitizer = Perturber(get_mechanism(name, table, epsilon=6))
            entry = await self.draw(memo, sanitizer, "t", "Warsaw")
            assert entry.released.receipt.statistics
            await self.settle(memo, store, "t", entry)
        async with store.reading() as connection:
            values = (await connection.scalars(select(RELEASES.c.value))).all()
        assert [json.loads(value)["receipt"]["statistics"] for value in values] == [{}, {}]

    async def test_a_stored_release_holds_no_raw_word_but_those_that_leave(
        self, memo: Memo, store: Store, table: EmbeddingTable
    ) -> None:
        hidden = ("Bartholomew", "Zawadzki", "555-013-2479", "jane.doe", "CX-17")
        text = f"Mr. {hidden[0]} {hidden[1]}, {hidden[2]}, {hidden[3]}@example.org, {hidden[4]}"
        mechanism = get_mechanism("selective", table, epsilon=6, patterns={"CASE": "CX-[0-9]+"})
        entry = await self.draw(memo, Perturber(mechanism), "t", text)
        await self.settle(memo, store, "t", entry)
        async with store.reading() as connection:
            (row,) = (await connection.execute(select(RELEASES))).all()
        assert len(entry.released.replaced or ()) >= 4
        assert not [part for part in hidden if part.casefold() in repr(row).casefold()]
        words = set(re.findall(r"[A-Za-z]{4,}", text)) - set(
            re.findall(r"[A-Za-z]{4,}", entry.released.text)
        )
        assert words
        assert not [word for word in words if word in json.loads(row.value)["words"]]

    async def test_a_cancelled_request_does_not_cancel_the_draw(
        self, memo: Memo, perturber: Perturber
    ) -> None:
        gate, begun = asyncio.Event(), asyncio.Event()
        made = perturber.perturb("x")

        async def create() -> Any:
            begun.set()
            await gate.wait()
            return made

        wanted = [Wanted({}, "x", create)]
        first = asyncio.create_task(memo.entries("t", "", wanted))
        await begun.wait()
        second = asyncio.create_task(memo.entries("t", "", wanted))
        await asyncio.sleep(0)
        first.cancel()
        gate.set()
        (entry,) = await second
        assert entry.released is made

    async def test_a_failed_draw_is_tried_again(self, memo: Memo, perturber: Perturber) -> None:
        made = perturber.perturb("x")
        outcomes: list[Any] = [ValueError("x"), made]

        async def create() -> Any:
            outcome = outcomes.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        with pytest.raises(ValueError, match="x"):
            await memo.entries("t", "", [Wanted({}, "x", create)])
        (entry,) = await memo.entries("t", "", [Wanted({}, "x", create)])
        assert entry.released is made

    async def test_generations_belong_to_their_tenant_and_outlive_the_process(
        self, memo: Memo, store: Store
    ) -> None:
        generation = "generation \x00 \ud83d"
        await memo.remember_answer("a", "", "question", "answer", generation)
        for at in (memo, Memo(store, size=10**6, ttl=10)):
            assert await at.generation(at.answer("a", "", "question", "answer")) == generation
            assert await at.generation(at.answer("b", "", "question", "answer")) is None
            assert await at.generation(at.answer("a", "", "question", "answer ")) is None
            assert await at.generation(at.answer("a", "", "another", "answer")) is None

    async def test_an_equal_answer_keeps_its_first_generation(
        self, memo: Memo, store: Store
    ) -> None:
        other = Memo(store, size=10**6, ttl=10)
        await memo.remember_answer("a", "", "question", "answer", "first")
        await other.remember_answer("a", "", "question", "answer", "second")
        for at in (memo, other):
            assert await at.generation(at.answer("a", "", "question", "answer")) == "first"

    async def test_no_key_of_the_memo_is_text_or_its_plain_hash(
        self, memo: Memo, perturber: Perturber
    ) -> None:
        text = "a text with a few words"
        key = (await self.draw(memo, perturber, "t", text)).key
        assert text.encode() not in key
        assert key != hashlib.sha256(text.encode()).digest()
        assert memo.key("ab", "c") != memo.key("a", "bc")

    async def test_another_secret_finds_nothing(
        self, memo: Memo, store: Store, perturber: Perturber
    ) -> None:
        entry = await self.draw(memo, perturber, "t", "a few words of text")
        await self.settle(memo, store, "t", entry)
        store.secret = bytes(32)
        again = await self.draw(
            Memo(store, size=10**6, ttl=10), perturber, "t", "a few words of text"
        )
        assert again.key != entry.key


class TestParagraphs:
    text = st.lists(
        st.sampled_from(["one two three", "four", "five six seven eight", "", " ", "---", "\t"])
    ).map("\n".join)

    @given(text, st.integers(1, 8))
    def test_nothing_is_lost_and_units_have_their_words(self, text: str, least: int) -> None:
        pieces = split(text, least)
        assert "".join(pieces) == text
        units = [piece for piece in pieces if piece.strip()]
        assert all(unit == unit.strip() for unit in units)
        sizes = [len(words_of(unit)) for unit in units]
        assert len(units) <= 1 or min(sizes) >= least

    def units(self, paragraphs: list[str], least: int = 20) -> set[str]:
        return {p for p in split("\n\n".join(paragraphs), least) if p.strip()}

    @pytest.mark.parametrize("size", [3, 12, 30])
    @pytest.mark.parametrize("edit", ["change", "insert", "delete", "append"])
    def test_an_edit_moves_few_borders(self, size: int, edit: str) -> None:
        generator = random.Random(size)
        paragraphs = [
            " ".join(f"w{generator.randrange(10**6)}" for _ in range(size)) for _ in range(200)
        ]
        before = self.units(paragraphs)
        moved = []
        for place in range(10, 190, 9):
            after = list(paragraphs)
            if edit == "change":
                after[place] += " changed"
            elif edit == "insert":
                after.insert(place, "something quite new " * 5)
            elif edit == "delete":
                del after[place]
            else:
                after.append("something quite new " * 5)
            moved.append(len(self.units(after) - before))
        assert sum(moved) / len(moved) <= 3
        assert max(moved) <= 10 < len(before)

    def test_a_long_paragraph_alone_is_what_an_edit_redraws(self) -> None:
        paragraphs = [f"{i} " + "some words that make a paragraph " * 6 for i in range(10)]
        before = self.units(paragraphs)
        paragraphs[4] += "and more"
        assert len(self.units(paragraphs) - before) == 1

    def test_a_long_run_of_white_space_is_no_trouble(self) -> None:
        assert split(" " * 10**6 + "a\n" + "\n \t" * 10**5 + "b", 1)[1] == "a"
