"""Refusals before anything leaves: bad fields, media, and requests over a limit."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from proxy.api.app_keys import STORE
from proxy.pipeline.public import INSTRUCTION
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy

BLANKS = "\t \u00a0\u2003 " * 30  # white space of many tokens
BAD: list[tuple[dict[str, Any], int, str, str | None]] = [
    ({"model": "nope"}, 404, "model_not_found", "model"),
    ({"temperature": 9}, 400, "invalid_value", "temperature"),
    ({"temperature": "hot"}, 400, "invalid_value", "temperature"),
    ({"n": 0}, 400, "invalid_value", "n"),
    ({"n": 17}, 400, None, "n"),
    ({"messages": []}, 400, "invalid_value", "messages"),
    ({"messages": [{"role": "nobody", "content": "x"}]}, 400, "invalid_value", "messages[0].role"),
    (
        {"messages": [{"role": "user", "content": "x", "bogus": 1}]},
        400,
        "unknown_parameter",
        "messages[0].bogus",
    ),
    ({"bogus": 1}, 400, "unknown_parameter", "bogus"),
    ({"previous_response_id": "x"}, 400, "unsupported_parameter", "previous_response_id"),
    ({"inferdpt": {"epsilon": -1}}, 400, "invalid_value", "inferdpt.epsilon"),
    ({"inferdpt": {"epsilon": 100, "mechanism": "rantext_ldp"}}, 400, "invalid_value", "inferdpt"),
    ({"inferdpt": {"mechanism": "rot13"}}, 400, "invalid_value", "inferdpt"),
    ({"inferdpt": {"seed": 1}}, 400, "unknown_parameter", "inferdpt.seed"),
    ({"inferdpt": {"task": "poem"}}, 400, "invalid_value", "inferdpt.task"),
]


@pytest.mark.parametrize(("change", "code", "name", "param"), BAD)
async def test_bad_fields_are_named(
    proxy: Proxy, change: dict[str, Any], code: int, name: str | None, param: str | None
) -> None:
    body = {"model": MODEL, "messages": user(), **change}
    with pytest.raises(openai.APIStatusError) as info:
        await proxy.client(max_retries=2).post("/chat/completions", cast_to=object, body=body)
    assert info.value.status_code == code
    error: Any = info.value.body
    assert error.keys() == {"message", "type", "param", "code"}
    assert name is None or error["code"] == name
    assert param is None or error["param"] == param
    assert info.value.response.headers["x-should-retry"] == "false"
    assert info.value.response.headers["x-request-id"]
    assert proxy.remote.received == []


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file"])
async def test_media_parts_are_refused(proxy: Proxy, kind: str) -> None:
    part = {"type": kind, kind: {"url": "https://example.org/x"}}
    with pytest.raises(openai.BadRequestError) as info:
        await proxy.client().chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": [{"type": "text", "text": "x"}, part]}],
        )
    assert info.value.code == "unsupported_content"
    assert info.value.param == "messages[0].content[1]"


class TestLimits:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {
            "limits": {
                "body_bytes": 4000,
                "document_tokens": 50,
                "messages": 3,
                "prompts": 2,
                "epsilon_max": 7,
                "mechanisms": ["rantext"],
                "json_depth": 8,
            }
        }

    async def refused(self, proxy: Proxy, **change: Any) -> Any:
        body = {"model": MODEL, "messages": user(), **change}
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().post("/chat/completions", cast_to=object, body=body)
        assert proxy.remote.received == []
        assert info.value.response.headers["x-should-retry"] == "false"
        return info.value

    async def test_a_body_too_large_is_413(self, proxy: Proxy) -> None:
        assert (await self.refused(proxy, messages=user("x" * 5000))).status_code == 413

    async def test_a_document_too_long_is_413(self, proxy: Proxy) -> None:
        assert (await self.refused(proxy, messages=user("word " * 51))).status_code == 413

    async def test_public_text_too_long_is_413_wherever_it_stands(self, proxy: Proxy) -> None:
        """Its places count together, blanks too, and an instruction as often as it leaves."""
        word, many = "the house is red ", "word " * 30
        instruction = {"inferdpt": {"instruction": many}}
        span = user(f"<public>{word * 20}</public> my cat")
        blank = user(f"my <public>{BLANKS}</public> cat")
        twice = [*user(f"<public>{many}</public> my cat"), *user(f"<public>{many}</public> dog")]
        for body, param in (
            ({"messages": span}, "messages[0].content"),
            ({"messages": blank}, "messages[0].content"),
            ({"messages": twice}, "messages[1].content"),
            ({"messages": user(f"<public>{many}</public> cat"), **instruction}, INSTRUCTION),
            ({"inferdpt": {"instruction": word * 20}}, INSTRUCTION),
        ):
            error = await self.refused(proxy, **body)
            assert (error.status_code, error.param) == (413, param)
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().completions.create(
                model=MODEL, prompt=["my cat", "my dog"], extra_body=instruction
            )
        assert (info.value.status_code, info.value.param) == (413, INSTRUCTION)
        assert (await proxy.app[STORE].info())["releases"] == 0
        await proxy.client().chat.completions.create(
            model=MODEL, messages=user(f"<public>{'word ' * 48}</public> my cat")
        )

    async def test_too_many_messages_are_413(self, proxy: Proxy) -> None:
        assert (await self.refused(proxy, messages=user() * 4)).status_code == 413

    async def test_too_deep_is_400(self, proxy: Proxy) -> None:
        deep: Any = {}
        for _ in range(10):
            deep = {"a": deep}
        error = await self.refused(proxy, metadata=deep)
        assert (error.status_code, error.code) == (400, "invalid_json")

    async def test_too_large_an_epsilon_is_403(self, proxy: Proxy) -> None:
        error = await self.refused(proxy, inferdpt={"epsilon": 8})
        assert (error.status_code, error.code) == (403, "not_permitted")

    async def test_a_mechanism_not_allowed_is_403(self, proxy: Proxy) -> None:
        error = await self.refused(proxy, inferdpt={"mechanism": "rantext_ldp"})
        assert (error.status_code, error.code) == (403, "not_permitted")

    async def test_too_many_prompts_are_413(self, proxy: Proxy) -> None:
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().completions.create(model=MODEL, prompt=["a", "b", "c"])
        assert info.value.status_code == 413
