"""Tools that are no functions: refused by their type, or left out of the request."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from proxy.errors import ApiError
from proxy.requests.validation import HOSTED, keep_functions
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy

FLAT = {"type": "function", "name": "f"}
NESTED = {"type": "function", "function": {"name": "f"}}
CANARY = "https://canary.example"


def ignoring(**body: Any) -> dict[str, Any]:
    return keep_functions(body, ignore=True)


class TestRefused:
    @pytest.mark.parametrize("kind", sorted(HOSTED))
    def test_a_hosted_tool_is_named(self, kind: str) -> None:
        with pytest.raises(ApiError) as info:
            keep_functions({"tools": [FLAT, {"type": kind, "name": "x"}]}, ignore=False)
        assert (info.value.status, info.value.param) == (400, "tools[1].type")
        assert f"'{kind}'" in info.value.message

    @pytest.mark.parametrize("kind", ["canary", "", None, 3, ["canary"], {"canary": 1}])
    def test_a_type_that_nobody_knows_is_not_repeated(self, kind: Any) -> None:
        for body in ({"tools": [{"type": kind}]}, {"tool_choice": {"type": kind}}):
            with pytest.raises(ApiError) as info:
                keep_functions(body, ignore=False)
            assert "canary" not in info.value.message

    def test_functions_pass_as_they_are(self) -> None:
        for body in (
            {"tools": [FLAT], "tool_choice": FLAT},
            {"tools": [NESTED], "tool_choice": "required"},
            {"tools": [], "tool_choice": None},
            {"tools": "malformed", "tool_choice": ["malformed"]},
            {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [FLAT]}},
        ):
            assert keep_functions(body, ignore=False) == body
            assert keep_functions(body, ignore=True) == body


class TestIgnored:
    def test_the_functions_stay(self) -> None:
        found = ignoring(tools=[{"type": "web_search"}, FLAT, {"type": "mcp"}], tool_choice="auto")
        assert found == {"tools": [FLAT], "tool_choice": "auto"}

    @pytest.mark.parametrize("choice", ["auto", "none", "required", {"type": "web_search"}, None])
    def test_without_functions_there_is_no_choice(self, choice: Any) -> None:
        found = ignoring(tools=[{"type": "web_search"}], tool_choice=choice, model="m")
        assert found == {"model": "m"}

    @pytest.mark.parametrize(
        "choice",
        [
            {"type": "web_search"},
            {"type": "mcp", "server_label": "x"},
            {"type": "custom", "custom": {"name": "x"}},
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "mcp"}]},
            {"type": "allowed_tools", "allowed_tools": {"tools": [{"type": "custom"}]}},
        ],
    )
    def test_the_choice_of_a_tool_that_is_left_out_becomes_auto(self, choice: Any) -> None:
        assert ignoring(tools=[FLAT], tool_choice=choice)["tool_choice"] == "auto"

    def test_the_functions_among_the_allowed_tools_stay(self) -> None:
        mixed = [{"type": "mcp"}, FLAT]
        flat = {"type": "allowed_tools", "mode": "auto", "tools": mixed}
        assert ignoring(tools=[FLAT], tool_choice=flat)["tool_choice"]["tools"] == [FLAT]
        nested = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": mixed}}
        found = ignoring(tools=[FLAT], tool_choice=nested)["tool_choice"]
        assert found == {**nested, "allowed_tools": {"mode": "auto", "tools": [FLAT]}}


async def ask(proxy: Proxy, path: str, tools: Any, **body: Any) -> None:
    given = user("Good day") if path == "chat/completions" else "Good day"
    name = "messages" if path == "chat/completions" else "input"
    await proxy.client().post(
        f"/{path}", cast_to=object, body={"model": MODEL, name: given, "tools": tools, **body}
    )


PATHS = pytest.mark.parametrize("path", ["chat/completions", "responses"])
TOOLS = [{"type": "mcp", "server_url": CANARY}, {"type": "web_search", "filters": CANARY}]


@PATHS
async def test_hosted_tools_are_refused_by_name(proxy: Proxy, path: str) -> None:
    with pytest.raises(openai.BadRequestError, match="'mcp'") as info:
        await ask(proxy, path, TOOLS)
    assert (info.value.code, info.value.param) == ("unsupported_parameter", "tools[0].type")
    assert not proxy.remote.received


class TestSetting:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"ignore_unsupported_tools": True}}

    @PATHS
    async def test_hosted_tools_are_left_out_and_reach_neither_model(
        self, proxy: Proxy, path: str
    ) -> None:
        own = NESTED if path == "chat/completions" else FLAT
        await ask(proxy, path, TOOLS, tool_choice={"type": "mcp", "server_label": CANARY})
        await ask(proxy, path, [*TOOLS, own], tool_choice={"type": "web_search"})
        first, second = proxy.local.bodies
        assert "tools" not in first
        assert "tool_choice" not in first
        assert second["tools"] == [NESTED]
        assert second["tool_choice"] == "auto"
        for body in (*proxy.remote.received, *proxy.local.received):
            assert CANARY.encode() not in body
