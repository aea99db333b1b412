"""Tasks, public spans, system turns and the other options of a request."""

from __future__ import annotations

from typing import Any

from tests.absence import find_leaks
from tests.proxy.chats import ANSWER, TEXT, user
from tests.proxy.conftest import MODEL, Proxy


class TestTasks:
    async def test_public_spans_leave_verbatim_and_without_tags(self, proxy: Proxy) -> None:
        text = "<public>Summarise in one line:</public> " + TEXT
        await proxy.client().chat.completions.create(model=MODEL, messages=user(text))
        sent = proxy.sent()[0]["content"]
        assert sent.startswith("Summarise in one line: ")
        assert "public>" not in sent
        assert (
            "Summarise in one line: " + TEXT in proxy.local.bodies[-1]["messages"][-1]["content"]
        )

    async def test_an_unclosed_tag_makes_nothing_public(self, proxy: Proxy) -> None:
        await proxy.client().chat.completions.create(
            model=MODEL, messages=user("<public>Zanzibar " + TEXT)
        )
        assert find_leaks(["Zanzibar"], proxy.sent()[0]["content"]) == []

    async def test_a_public_span_does_not_reach_into_the_next_part(self, proxy: Proxy) -> None:
        parts = [
            {"type": "text", "text": text}
            for text in ("<public>Zanzibar one", "Zanzibar two</public>", "<public>Three</public>")
        ]
        await proxy.client().chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": parts}]
        )
        assert find_leaks(["Zanzibar"], proxy.sent()[0]["content"]) == []
        assert proxy.sent()[0]["content"].endswith("Three")

    async def test_system_turns_are_local_by_default(self, proxy: Proxy) -> None:
        turns = [{"role": "system", "content": "You work for Zanzibar Ltd."}, *user()]
        await proxy.client().chat.completions.create(model=MODEL, messages=turns)
        assert len(proxy.sent()) == 1
        assert proxy.local.bodies[-1]["messages"][0] == {
            "role": "system",
            "content": "You work for Zanzibar Ltd.",
        }

    async def test_continuation_uses_the_labelled_blocks(self, proxy: Proxy) -> None:
        await proxy.client().chat.completions.create(
            model=MODEL, messages=user(), extra_body={"inferdpt": {"task": "continuation"}}
        )
        local = proxy.local.bodies[-1]["messages"][-1]["content"]
        assert f"Prefix Text:\n{TEXT}\n\nPerturbed Generation:\n{ANSWER}\n\n" in local
        assert "Prefix Text:" in proxy.sent()[0]["content"]

    async def test_instruct_sends_the_public_instruction_and_the_last_turn(
        self, proxy: Proxy
    ) -> None:
        turns = [*user("Earlier"), {"role": "assistant", "content": "Yes"}, *user()]
        await proxy.client().chat.completions.create(
            model=MODEL,
            messages=turns,
            extra_body={"inferdpt": {"task": "instruct", "instruction": "List the names."}},
        )
        assert len(proxy.sent()) == 1
        assert proxy.sent()[0]["content"].startswith("List the names.\n\n")

    async def test_local_only_never_calls_the_remote(self, proxy: Proxy) -> None:
        done = await proxy.client().chat.completions.create(
            model=MODEL, messages=user(), extra_body={"inferdpt": {"local_only": True}}
        )
        assert proxy.remote.received == []
        assert done.choices[0].message.content == ANSWER
        receipt = done.model_extra["inferdpt"]
        assert "not called" in receipt["remote"][0]
        assert (receipt["mechanism"], receipt["released"], receipt["epsilon"]) == ("none", 0, None)
        assert receipt["statement"].startswith("nothing left this machine")
        assert receipt["reveals"] == []

    async def test_mechanism_and_epsilon_of_a_request(self, proxy: Proxy) -> None:
        done = await proxy.client().chat.completions.create(
            model=MODEL,
            messages=user(),
            extra_body={"inferdpt": {"mechanism": "rantext_ldp", "epsilon": 8, "receipt": "full"}},
        )
        receipt = done.model_extra["inferdpt"]
        assert receipt["guarantee"] == "ldp"
        found = {"nominal": 8.0, "per_token": 8.0, "all_tokens": 8.0 * 13, "delta": 1e-9}
        assert receipt["epsilon"] == found
        assert receipt["exchanges"][0]["sent"] == proxy.sent()
        assert receipt["exchanges"][0]["generation"] == ANSWER

    async def test_no_receipt_when_none_is_wanted(self, proxy: Proxy) -> None:
        done = await proxy.client().chat.completions.create(
            model=MODEL, messages=user(), extra_body={"inferdpt": {"receipt": "none"}}
        )
        assert "inferdpt" not in (done.model_extra or {})

    async def test_the_preview_is_what_is_sent_later(self, proxy: Proxy) -> None:
        client = proxy.client()
        preview: Any = await client.post(
            "/privacy/perturb", cast_to=object, body={"text": TEXT, "epsilon": 6}
        )
        assert proxy.remote.received == []
        await client.chat.completions.create(model=MODEL, messages=user())
        assert proxy.sent()[0]["content"] == preview["text"]
        assert preview["receipt"]["released"] == 13
