"""A part marked in one text of a request leaves in none of the later ones."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from perturb import DocumentOptions, EmbeddingTable, Perturber, get_mechanism
from perturb.release import EMPTY, Known
from perturb.selective.parts import KnownParts
from perturb.work import Findings, remember_texts
from proxy.errors import GuardRefused
from proxy.pipeline.drafting import find
from proxy.release import Release
from proxy.remote.guard import Clearance, check
from proxy.requests.messages import spell_turn
from tests.absence import find_leaks
from tests.perturb.marking import WORDS, selective
from tests.proxy.conftest import MODEL, Proxy, running_proxy, sanitizing

NAMED = "My patient is Mr. Bartholomew."


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"privacy": {"mechanism": "selective", "parameters": WORDS, "epsilon": 6}}


async def ask(proxy: Proxy, *messages: dict[str, Any], **more: Any) -> list[str]:
    """Send messages; what the remote saw of them."""
    turns: Any = list(messages)
    await proxy.client().chat.completions.create(model=MODEL, messages=turns, **more)
    return [message["content"] for message in proxy.sent()]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


async def test_in_later_turns_of_the_conversation(proxy: Proxy) -> None:
    before = await ask(proxy, user("Bartholomew is a name."))
    assert before == ["Bartholomew is a name."]  # nothing marks it where it opens a sentence
    first, noted, then = await ask(
        proxy, user(NAMED), assistant("bartholomew, noted."), user("Bartholomew has epilepsy.")
    )
    name = first.removesuffix(".").split()[-1]  # the title is replaced, too
    assert noted.endswith(", noted.")
    assert find_leaks(["Bartholomew"], noted) == []
    assert then == f"{name} has epilepsy."
    # a release from before it was found does not change
    resent, *_ = await ask(
        proxy, user("Bartholomew is a name."), assistant("Yes."), user("So is Mr. Bartholomew.")
    )
    assert resent == before[0]


async def test_in_earlier_turns_that_are_new(proxy: Proxy) -> None:
    """Whatever a later turn of the request marks leaves in none of the turns that come with it;
    so it stays when they are sent again, with more that is marked by then."""
    turns = [
        user("Bartholomew is a name. Zebedee is a name."),
        assistant("Bartholomew, noted."),
        user("So is Mr. Bartholomew."),
    ]
    sent = await ask(proxy, *turns)
    assert find_leaks(["Bartholomew"], *sent) == []
    assert "Zebedee" in sent[0]
    longer = await ask(proxy, *turns, assistant("Yes."), user("And Mr. Zebedee has come."))
    assert longer[:3] == sent
    assert find_leaks(["Zebedee"], longer[-1]) == []
    assert await ask(proxy, *turns) == sent


@pytest.mark.parametrize("spelling", ["Xyl\u200bander", "Xyl\u00adander", "Xyl&#97;nder"])
@pytest.mark.parametrize("later", [False, True])
async def test_however_it_is_written(proxy: Proxy, spelling: str, later: bool) -> None:
    turns = [user("please tell xylander to come"), user(f"Dr. {spelling} is very ill")]
    sent = await ask(proxy, *(turns if later else turns[::-1]))
    assert find_leaks(["Xylander"], *sent) == []


async def test_in_all_private_parts_of_one_turn(proxy: Proxy) -> None:
    (sent,) = await ask(
        proxy,
        user(
            "Kowalewski lied. <public>Summarise.</public> I wrote to Mr. Kowalewski. kowalewski!"
        ),
    )
    assert "Summarise." in sent
    assert find_leaks(["Kowalewski"], sent) == []


@pytest.mark.parametrize("task", ["chat", "instruct"])
async def test_after_texts_that_stay_here(proxy: Proxy, task: str) -> None:
    earlier: dict[str, list[dict[str, Any]]] = {
        "chat": [{"role": "system", "content": NAMED}],
        "instruct": [user(NAMED), assistant("I see.")],
    }
    more = {"extra_body": {"inferdpt": {"task": task}}}
    (sent,) = await ask(proxy, *earlier[task], user("Bartholomew has epilepsy."), **more)
    assert sent.endswith(" has epilepsy.")
    assert find_leaks(["Bartholomew"], sent) == []


async def test_in_later_prompts_of_one_request(proxy: Proxy) -> None:
    prompts = [NAMED, "Bartholomew has epilepsy."]
    await proxy.client().completions.create(model=MODEL, prompt=prompts)
    assert len(proxy.remote.bodies) == 2
    assert find_leaks(["Bartholomew"], *proxy.remote.received) == []


async def test_in_tool_calls_and_results(proxy: Proxy) -> None:
    arguments = {"to": "Łukasz Wójcik", "body": "Dear all,\nKowalewski left.\tKowalewski!"}
    call = {"name": "mail", "arguments": json.dumps(arguments, ensure_ascii=False)}
    sent = await ask(
        proxy,
        user("Write that Mr. Kowalewski left."),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "1", "content": '"Łukasz Wójcik\\nKowalewski"'},
        user("Thanks"),
    )
    assert find_leaks(["Wójcik", "Kowalewski"], *sent) == []
    assert "u0141" not in "".join(sent)


def test_a_tool_call_is_read_as_it_is_written() -> None:
    assert spell_turn("", [("mail", "Łukasz")]) == '["mail", "Łukasz"]'


async def test_a_sanitizer_that_forgets_what_came_before_sends_nothing(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    class Forgets(Perturber):
        def known_in(self, text: str, known: Any) -> Any:
            return EMPTY

    async with running_proxy(table, settings, sanitizing(Forgets)) as proxy:
        with pytest.raises(openai.InternalServerError) as info:
            await ask(proxy, user(NAMED), assistant("ok"), user("bartholomew has epilepsy."))
        assert info.value.code == "guard_refused"
        assert proxy.remote.received == []


def test_the_guard_reads_segments_in_order(table: EmbeddingTable) -> None:
    sanitizer = Perturber(get_mechanism("selective", table, epsilon=6, **WORDS), DocumentOptions())
    texts = (NAMED, "Bartholomew is a name.")
    pieces = tuple(Release(text, sanitizer.perturb(text), sanitizer, b"") for text in texts)

    def body(order: tuple[Release, ...]) -> bytes:
        return json.dumps({"messages": [{"content": p.sanitized.text} for p in order]}).encode()

    check(body(pieces[::-1]), Clearance(pieces[::-1], (), ()))
    with pytest.raises(GuardRefused, match="a private segment holds a sensitive part"):
        check(body(pieces), Clearance(pieces, (), ()))


async def test_white_space_between_public_parts_leaves_as_it_would_in_a_text(
    proxy: Proxy,
) -> None:
    texts = (
        "<public>A</public> \n<public>B</public>",
        "<public>A</public>\u2003<public>B</public>",
    )
    assert await ask(proxy, user(texts[0])) == ["A \nB"]
    assert await ask(proxy, user(texts[1])) == ["A\u2003B"]  # it is not marked
    drawn = {"extra_body": {"inferdpt": {"mechanism": "rantext_ldp"}}}
    assert await ask(proxy, user(texts[0]), **drawn) == ["A \nB"]
    assert await ask(proxy, user(texts[1]), **drawn) == ["A B"]  # it is dropped


def test_turns_that_find_nothing_new_share_one_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is sensitive in a conversation is indexed once for each turn that adds to it."""
    indexed: list[int] = []

    def index_known(known: Known) -> Known:
        indexed.append(len(known))
        return known

    perturber = selective(entities=("EMAIL_ADDRESS",))
    monkeypatch.setattr(perturber, "index_known", index_known)
    turns = [["write to anna@lindenhof.example"], *([f"turn {i}"] for i in range(20))]
    turns.append(["and to bert@lindenhof.example"])
    found = find(perturber, turns)
    for number, (text,) in enumerate(turns):
        found.channels(text, number)
    assert indexed == [1, 2]


def test_what_is_known_of_earlier_turns_changes_no_channel() -> None:
    perturber, findings = selective(policy="regex"), Findings()
    turns = [
        ["xylander wutke, and ylva cold"],
        ["Ask Mr. Xylander Wutke."],
        ["wutke is ill"],
        ["Ask Mrs. Ylva Cold, Mr. Xylander Wutke."],
        ["the cold xylander"],
        ["xylander wutke, and ylva cold"],
        ["Ask Mr. Bertram Ill."],
    ]

    def read(turns: list[list[str]]) -> list[tuple[tuple[str, ...], Known]]:
        found = find(perturber, turns)
        return [found.channels(text, number) for number, (text,) in enumerate(turns)]

    seen = set()
    for order in (turns, turns[::-1], turns[2:] + turns[:2]):
        for end in range(len(order) + 1):
            alone = read(order[:end])
            seen.update(len(channels) for channels, _ in alone)
            with remember_texts(findings, "alice"):
                assert read(order[:end]) == alone
                assert read(order[:end]) == alone
    assert seen == {1, 2, 3}


def test_what_is_known_in_a_text_is_looked_for_once_while_nothing_new_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    find_parts = KnownParts.find

    def find_and_note(parts: KnownParts, text: str) -> dict[str, str]:
        looked.append(text)
        return find_parts(parts, text)

    monkeypatch.setattr(KnownParts, "find", find_and_note)
    perturber, findings = selective(policy="regex"), Findings()
    turns = [["Ask Mr. Xylander Wutke."], ["wutke is ill"], ["Is it cold?"]]

    def read(turns: list[list[str]]) -> list[tuple[tuple[str, ...], Known]]:
        with remember_texts(findings, "alice"):
            found = find(perturber, turns)
            return [found.channels(text, number) for number, (text,) in enumerate(turns)]

    first = read(turns)
    assert len(looked) == 3
    assert first[1][1]
    assert read(turns) == first
    assert read([*turns, ["And warm?"]])[:3] == first
    assert looked[3:] == ["And warm?"]
    read([["Ask Mrs. Ylva Cold."], *turns])
    assert {*looked[4:]} == {"Ask Mrs. Ylva Cold.", *(text for (text,) in turns)}
