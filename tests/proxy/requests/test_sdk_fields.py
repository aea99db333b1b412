"""Every field of the installed SDK is known here: served, dropped, or refused with a reason."""

from __future__ import annotations

import typing
from typing import Any

import openai
import pytest
from openai.types import completion_create_params, embedding_create_params, shared_params
from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionContentPartRefusalParam,
    ChatCompletionContentPartTextParam,
    ChatCompletionDeveloperMessageParam,
    ChatCompletionFunctionMessageParam,
    ChatCompletionMessageFunctionToolCallParam,
    ChatCompletionStreamOptionsParam,
    ChatCompletionSystemMessageParam,
    ChatCompletionToolMessageParam,
    ChatCompletionUserMessageParam,
)
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import (
    EasyInputMessageParam,
    FunctionToolParam,
    ResponseFunctionToolCallParam,
    ResponseIncludable,
    ResponseInputTextParam,
    ResponseOutputMessageParam,
    ResponseOutputRefusalParam,
    ResponseOutputTextParam,
    ResponseReasoningItemParam,
    ResponseTextConfigParam,
    ToolChoiceAllowedParam,
    ToolChoiceFunctionParam,
    response_create_params,
    response_input_item_param,
    tool_param,
)
from openai.types.shared import reasoning_effort

from proxy.api.embeddings import EmbeddingsRequest
from proxy.requests import protocol, responses, validation
from proxy.requests.protocol import (
    EFFORTS,
    Strict,
    Treatment,
    find_treatments,
    select_local_fields,
)
from proxy.requests.responses import (
    INCLUDABLE,
    ResponsesRequest,
    convert_to_chat,
    validate_response,
)
from proxy.requests.validation import HOSTED, validate
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy

CHAT = {"model": MODEL, "messages": user("Good morning")}
SERVED = {
    # ours: the SDK's, and the fields that are refused by name
    protocol.ChatRequest: (chat_params.CompletionCreateParams, validation.REJECTED),
    protocol.CompletionRequest: (
        completion_create_params.CompletionCreateParams,
        validation.REJECTED,
    ),
    ResponsesRequest: (
        response_create_params.ResponseCreateParams,
        responses.REJECTED,
    ),
    EmbeddingsRequest: (embedding_create_params.EmbeddingCreateParams, validation.REJECTED),
}
INNER: list[tuple[type[Strict], Any]] = [
    (protocol.Message, ChatCompletionAssistantMessageParam),
    (protocol.Message, ChatCompletionDeveloperMessageParam),
    (protocol.Message, ChatCompletionFunctionMessageParam),
    (protocol.Message, ChatCompletionSystemMessageParam),
    (protocol.Message, ChatCompletionToolMessageParam),
    (protocol.Message, ChatCompletionUserMessageParam),
    (protocol.RefusalPart, ChatCompletionContentPartRefusalParam),
    (protocol.StreamOptions, ChatCompletionStreamOptionsParam),
    (protocol.StreamOptions, response_create_params.StreamOptions),
    (protocol.TextPart, ChatCompletionContentPartTextParam),
    (protocol.ToolCall, ChatCompletionMessageFunctionToolCallParam),
    (responses.AllowedTools, ToolChoiceAllowedParam),
    (responses.CallItem, ResponseFunctionToolCallParam),
    (responses.CallOutputItem, response_input_item_param.FunctionCallOutput),
    (responses.FunctionChoice, ToolChoiceFunctionParam),
    (responses.FunctionTool, FunctionToolParam),
    (responses.InputTextPart, ResponseInputTextParam),
    (responses.ResponsesMessage, EasyInputMessageParam),
    (responses.ResponsesMessage, ResponseOutputMessageParam),
    (responses.OutputTextPart, ResponseOutputTextParam),
    (responses.Reasoning, shared_params.Reasoning),
    (responses.ReasoningItem, ResponseReasoningItemParam),
    (responses.RefusalContent, ResponseOutputRefusalParam),
    (responses.TextConfig, ResponseTextConfigParam),
]


def fields(params: Any) -> set[str]:
    """The fields of a `TypedDict`, or of a union of them."""
    return set().union(
        *(typing.get_type_hints(kind) for kind in typing.get_args(params) or [params])
    )


def declared(model: type[Strict]) -> set[str]:
    """The names a model takes."""
    return {
        str(name)
        for field, info in model.model_fields.items()
        for name in (
            info.validation_alias.choices
            if hasattr(info.validation_alias, "choices")
            else [info.alias or field]
        )
    }


@pytest.mark.parametrize("model", SERVED)
def test_every_field_of_a_request_is_classified(model: type[Strict]) -> None:
    params, refused = SERVED[model]
    known = declared(model)
    assert fields(params) - known - set(refused) == set(), "new in the SDK: say where it may go"
    assert known & set(refused) == set()
    assert set(find_treatments(model)) == set(model.model_fields)


@pytest.mark.parametrize(("model", "params"), INNER)
def test_every_field_inside_a_request_is_known(model: type[Strict], params: Any) -> None:
    assert fields(params) - declared(model) == set(), "new in the SDK"


def test_every_type_of_tool_is_known() -> None:
    kinds = [typing.get_type_hints(kind)["type"] for kind in typing.get_args(tool_param.ToolParam)]
    names = {name for kind in kinds for name in typing.get_args(kind)}
    assert names - {"function"} == HOSTED


def test_every_type_of_item_is_served_or_refused_by_name() -> None:
    found: set[str] = set()
    for item in typing.get_args(response_input_item_param.ResponseInputItemParam):
        kind = typing.get_type_hints(item)["type"]
        while not isinstance(typing.get_args(kind)[0], str):
            kind = typing.get_args(kind)[0]  # of Required, or of an optional type
        found |= set(typing.get_args(kind))
    served = {"message", "function_call", "function_call_output", "reasoning", "item_reference"}
    served |= {"custom_tool_call", "custom_tool_call_output"}
    assert found - served == responses.REFUSED


def test_everything_that_can_be_included_may_be_asked_for() -> None:
    assert set(typing.get_args(ResponseIncludable)) == set(INCLUDABLE)
    body = {"model": MODEL, "input": "x", "include": list(INCLUDABLE)}
    assert convert_to_chat(validate_response(body)).logprobs is True
    quiet = {**body, "include": ["reasoning.encrypted_content"]}
    assert convert_to_chat(validate_response(quiet)).logprobs is None


def test_efforts_that_leave_are_the_sdks() -> None:
    (known, _) = typing.get_args(reasoning_effort.ReasoningEffort)
    assert set(EFFORTS) <= set(typing.get_args(known))


@pytest.mark.parametrize("model", SERVED)
def test_a_known_field_that_means_nothing_is_dropped(model: type[Strict]) -> None:
    dropped = {name for name, mark in find_treatments(model).items() if mark is Treatment.DROP}
    loose = {name for name in dropped if model.model_fields[name].annotation is Any}
    assert loose or model is EmbeddingsRequest
    required: dict[str, Any] = {"model": MODEL, "messages": user(), "prompt": "x", "input": "x"}
    body = {name: required[name] for name in required if name in model.model_fields}
    for value in (None, "secret", ["secret"], {"secret": {"secret": 1}}):
        given = {**body, **dict.fromkeys(loose, value)}
        if model is ResponsesRequest:
            chat: Any = convert_to_chat(validate_response(given))
        else:
            chat = validate(model, given)
        if model is not EmbeddingsRequest:
            assert "secret" not in str(select_local_fields(chat))


@pytest.mark.usefixtures("seeded_draws")
async def test_dropped_fields_reach_neither_model(proxy: Proxy) -> None:
    secret = {"canary": "canary"}
    extra = {
        "moderation": secret,
        "prompt_cache_options": secret,
        "background_options": None,
        "client_metadata": secret,
        "prompt_cache_retention": "canary",
    }
    client = proxy.client()
    chat = {**CHAT, **extra, "reasoning_effort": "max"}
    response = {"model": MODEL, "input": "Good morning", "reasoning": {"effort": "max"}, **extra}
    response["include"] = ["reasoning.encrypted_content"]
    await client.post("/chat/completions", cast_to=object, body=chat)
    await client.post("/responses", cast_to=object, body=response)
    sent = [*proxy.remote.received, *proxy.local.received]
    assert sum(b"messages" in body for body in sent) == 4
    for body in sent:
        assert b"canary" not in body
        assert b"effort" not in body


async def test_a_refused_field_is_named_in_the_log(proxy: Proxy) -> None:
    name = "a field\nof a client " + "x" * 100
    body = {**CHAT, name: "canary"}
    with pytest.raises(openai.BadRequestError, match="a field\ufffdof a client"):
        await proxy.client().post("/chat/completions", cast_to=object, body=body)
    (line,) = [line for line in proxy.log if '"unknown_parameter"' in line]
    assert '"param":"a field\ufffdof a client ' in line
    assert "x" * 44 + '"' in line
    assert "x" * 45 not in line
    assert "canary" not in "".join(proxy.log)
