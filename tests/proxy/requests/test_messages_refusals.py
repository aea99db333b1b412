"""`/v1/messages`: what is refused by name, what is dropped by name, and which fields there are."""

from __future__ import annotations

import typing
from contextlib import suppress
from typing import Any

import pydantic
import pytest
from anthropic.types import (
    MessageParam,
    TextBlockParam,
    ToolParam,
    ToolResultBlockParam,
    ToolUnionParam,
    ToolUseBlockParam,
    content_block_param,
    message_count_tokens_params,
    message_create_params,
    tool_result_block_param,
)
from anthropic.types.beta import (
    BetaContentBlockParam,
    BetaMessageParam,
    BetaToolParam,
    BetaToolUnionParam,
)
from anthropic.types.beta import message_create_params as beta_params

from proxy.errors import ApiError
from proxy.requests.anthropic import (
    DEFINED,
    HOSTED,
    REFUSED,
    REJECTED,
    AnthropicMessage,
    Conversation,
    MessagesRequest,
    TextBlock,
    Tool,
    ToolResultBlock,
    ToolUseBlock,
    convert_to_chat,
    find_place,
    list_dropped,
    validate_messages,
)
from proxy.requests.protocol import Strict, Treatment, find_treatments
from tests.proxy.messages import ask

CANARY = "https://canary.example"
SERVED = {"text", "tool_use", "tool_result", "thinking", "redacted_thinking"}
TOOL = {"name": "f", "input_schema": {"type": "object"}}
NAMED = {"type": "web_search_20250305", "name": "web_search"}
TURN = {"role": "user", "content": "Hi"}


def read(ignore: bool = False, **body: Any) -> MessagesRequest:
    return validate_messages(MessagesRequest, ask("Hi", **body), ignore=ignore)


def turn(*blocks: Any, role: str = "user") -> dict[str, Any]:
    return {"messages": [{"role": role, "content": list(blocks)}, TURN]}


def result(*blocks: Any) -> dict[str, Any]:
    return turn({"type": "tool_result", "tool_use_id": "x", "content": list(blocks)})


BAD: list[tuple[dict[str, Any], str, str, str]] = [
    (turn({"type": "image", "source": CANARY}), "image", "unsupported_content", "content[0]"),
    (turn({"type": "document", "x": 1}), "document", "unsupported_content", "content[0]"),
    (turn({"type": "server_tool_use"}), "server_tool_use", "unsupported_content", "content[0]"),
    (result({"type": "image"}), "image", "unsupported_content", "content[0].content[0]"),
    (turn({"type": CANARY}), "this", "unsupported_content", "content[0]"),
    ({"system": [{"type": "image"}]}, "image", "unsupported_content", "system[0]"),
    ({"tools": [TOOL, NAMED]}, "web_search_20250305", "unsupported_parameter", "tools[1].type"),
    ({"tools": [{"type": CANARY}]}, "this type", "unsupported_parameter", "tools[0].type"),
    ({"mcp_servers": [{"url": CANARY}]}, "mcp_servers", "unsupported_parameter", "mcp_servers"),
    ({"container": "x"}, "container", "unsupported_parameter", "container"),
    ({"inference_geo": "us"}, "inference_geo", "unsupported_parameter", "inference_geo"),
    ({"bogus": CANARY}, "bogus", "unknown_parameter", "bogus"),
    ({"tools": [{**TOOL, "bogus": 1}]}, "bogus", "unknown_parameter", "tools[0].bogus"),
    (turn({"type": "text", "text": "x", "bogus": 1}), "bogus", "unknown_parameter", "bogus"),
    ({"max_tokens": 0}, "max_tokens", "invalid_value", "max_tokens"),
    ({"temperature": 1.5}, "temperature", "invalid_value", "temperature"),
    ({"messages": []}, "messages", "invalid_value", "messages"),
    ({"messages": [{"role": "robot", "content": "x"}]}, "role", "invalid_value", "role"),
    (turn({"type": "text"}), "text", "invalid_value", "messages[0].content[0].text"),
    (
        {"messages": [TURN, {"role": "assistant", "content": "{"}]},
        "continue",
        "unsupported_parameter",
        "messages[1].role",
    ),
]


@pytest.mark.parametrize(("body", "named", "code", "param"), BAD)
def test_what_is_not_served_is_refused_by_name(
    body: dict[str, Any], named: str, code: str, param: str
) -> None:
    with pytest.raises(ApiError) as info:
        convert_to_chat(read(**body))
    assert (info.value.status, info.value.code) == (400, code)
    assert named in info.value.message
    assert (info.value.param or "").endswith(param)
    assert CANARY not in info.value.message


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": ""}]},
        {"messages": [{"role": "user", "content": []}]},
        {"tool_choice": {"type": "any"}},
        {"tools": [TOOL], "tool_choice": {"type": "tool"}},
        turn({"type": "tool_use", "id": "x", "name": "f", "input": {}}),
    ],
)
def test_what_means_nothing_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as info:
        convert_to_chat(read(**body))
    assert info.value.status == 400


def test_malformed_values_are_refused_and_nothing_else() -> None:
    """Whatever stands in a field, the answer is a request or an error that a client can read."""
    values: list[Any] = [None, 1, "x", True, [], {}, [1], ["x"], [[]], [{}], [{"type": []}]]
    values += [{"type": {}}, {"name": []}, {"type": "x", "name": {}}, [{"content": [{"type": 1}]}]]
    for ignore in (False, True):
        for name in (*MessagesRequest.model_fields, *REJECTED, "bogus"):
            for value in values:
                with suppress(ApiError):
                    convert_to_chat(read(ignore, **{"tools": [NAMED], name: value}))


@pytest.mark.parametrize("kind", sorted(HOSTED))
def test_calls_of_hosted_tools_in_the_history_may_be_left_out(kind: str) -> None:
    hosted = {"type": kind, "id": "secret", "content": [{"secret": "secret"}]}
    said = {"role": "assistant", "content": [BRIEF, hosted, BRIEF]}
    turns = [TURN, said, {"role": "assistant", "content": [hosted]}, TURN]
    with pytest.raises(ApiError) as info:
        read(messages=turns)
    assert info.value.param == "messages[1].content[1]"
    request = read(ignore=True, messages=turns)
    chat = convert_to_chat(request)
    assert [len(message.texts) for message in chat.messages] == [1, 2, 1, 1]
    assert "secret" not in str(chat)
    assert find_place("messages[1].content[1]", request) == "messages[1].content[2]"


def test_hosted_tools_may_be_left_out() -> None:
    made = convert_to_chat(read(ignore=True, tools=[NAMED, TOOL]))
    assert [tool["function"]["name"] for tool in made.tools or ()] == ["f"]
    choice = {"type": "tool", "name": "web_search"}
    assert (
        convert_to_chat(read(True, tools=[NAMED, TOOL], tool_choice=choice)).tool_choice == "auto"
    )
    alone = convert_to_chat(read(True, tools=[NAMED], tool_choice=choice, mcp_servers=[{}]))
    assert (alone.tools, alone.tool_choice) == (None, None)


@pytest.mark.parametrize(
    ("choice", "made"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_choices_of_a_tool(choice: dict[str, Any], made: Any) -> None:
    assert convert_to_chat(read(tools=[TOOL], tool_choice=choice)).tool_choice == made


@pytest.mark.parametrize(
    ("param", "place"),
    [
        (None, None),
        ("model", "model"),
        ("messages", "messages"),
        ("messages[0].content", "system"),
        ("messages[1].content[0].text", "messages[0].content"),
        ("messages[3].tool_call_id", "messages[2].content[0]"),
        ("messages[4].content", "messages[2].content[1]"),
        ("tools[1].function.name", "tools[1].name"),
        ("tools[1].function.parameters.properties", "tools[1].input_schema.properties"),
        ("tool_choice.function.name", "tool_choice.function.name"),
        ("stop[1]", "stop_sequences[1]"),
        ("response_format.json_schema.schema", "output_config.format.schema"),
    ],
)
def test_errors_name_the_fields_of_the_client(param: str | None, place: str | None) -> None:
    call = {"type": "tool_use", "id": "x", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "x", "content": "y"}
    turns = [
        TURN,
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result, BRIEF]},
    ]
    request = read(system="Be brief.", messages=turns)
    assert len(convert_to_chat(request).messages) == 5
    assert find_place(param, request) == place


def test_only_the_line_of_the_billing_header_is_dropped() -> None:
    header = "x-anthropic-billing-header: cc_version=2; cc_entrypoint=cli;"
    for system in (f"{header}\nBe brief.", [{"type": "text", "text": header}, BRIEF]):
        made = convert_to_chat(read(system=system))
        assert [m.text for m in made.messages] == ["Be brief.", "Hi"]
    assert len(convert_to_chat(read(system=header)).messages) == 1


BRIEF = {"type": "text", "text": "Be brief."}


def test_dropped_fields_are_named_and_go_nowhere() -> None:
    loose = [name for name, mark in find_treatments(MessagesRequest).items() if mark is DROP]
    loose.remove("metadata")
    request = read(**{name: {CANARY: CANARY} for name in loose})
    assert list_dropped(request) == sorted(loose)
    assert CANARY not in convert_to_chat(request).model_dump_json()
    assert list_dropped(read(**dict.fromkeys(loose))) == []


DROP = Treatment.DROP


def fields(*params: Any) -> set[str]:
    """The fields of a `TypedDict`, or of a union of them."""
    kinds = [kind for param in params for kind in typing.get_args(param) or [param]]
    return set().union(*(typing.get_type_hints(kind) for kind in kinds))


def flatten(union: Any) -> list[Any]:
    """The classes in a union, in unions within it and in annotated ones."""
    if isinstance(union, type):
        return [union]
    return [member for inner in typing.get_args(union) for member in flatten(inner)]


def find_type(member: type[Any]) -> Any:
    if issubclass(member, pydantic.BaseModel):
        return member.model_fields["type"].annotation
    return typing.get_type_hints(member).get("type")


def kinds(*unions: Any) -> set[str]:
    """The types of the members of unions."""
    hints = [find_type(member) for union in unions for member in flatten(union)]
    return {name for hint in hints for name in typing.get_args(hint) if isinstance(name, str)}


@pytest.mark.parametrize(
    ("model", "params"),
    [
        (MessagesRequest, (message_create_params.MessageCreateParams,)),
        (MessagesRequest, (beta_params.MessageCreateParams,)),
        (Conversation, (message_count_tokens_params.MessageCountTokensParams,)),
        (AnthropicMessage, (MessageParam, BetaMessageParam)),
        (TextBlock, (TextBlockParam,)),
        (Tool, (ToolParam, BetaToolParam)),
        (ToolUseBlock, (ToolUseBlockParam,)),
        (ToolResultBlock, (ToolResultBlockParam,)),
    ],
)
def test_every_field_of_the_sdk_is_known(model: type[Strict], params: tuple[Any, ...]) -> None:
    headers = {"betas", "user_profile_id"}
    known = {info.alias or name for name, info in model.model_fields.items()}
    unknown = fields(*params) - known - set(REJECTED) - headers
    assert unknown == set(), "new in the SDK: say where it may go"


def test_every_type_of_block_is_served_or_refused_by_name() -> None:
    found = kinds(
        content_block_param.ContentBlockParam,
        tool_result_block_param.Content,
        BetaContentBlockParam,
    )
    assert found - SERVED - REFUSED == set(), "new in the SDK"


def test_every_type_of_tool_is_known() -> None:
    found = kinds(ToolUnionParam, BetaToolUnionParam) - {"custom"}
    assert [name for name in found if not DEFINED.fullmatch(name)] == []
