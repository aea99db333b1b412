"""The table of fields: where each may go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.errors import ApiError
from proxy.requests.messages import read_chat
from proxy.requests.protocol import (
    EFFORTS,
    ChatRequest,
    CompletionRequest,
    PerturbRequest,
    Treatment,
    find_treatments,
    select_local_fields,
)
from proxy.requests.validation import validate


class TestFields:
    @pytest.mark.parametrize("kind", [ChatRequest, CompletionRequest, PerturbRequest])
    def test_every_field_has_one_treatment(self, kind: Any) -> None:
        assert set(find_treatments(kind)) == set(kind.model_fields)

    def test_only_numbers_and_enumerated_words_are_remote(self) -> None:
        for kind in (ChatRequest, CompletionRequest):
            remote = {n for n, t in find_treatments(kind).items() if t is Treatment.REMOTE}
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
        assert select_local_fields(request) == {"stop": "s", "seed": 3}

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
            ("audio", "plugins", "previous_response_id", "conversation", "background", "inferdpt")
        )
        usage = {"include_usage": None, "continuous_usage_stats": True}
        body = {"model": "m", "messages": [returned], "stream_options": usage, "top_p": 0, **nulls}
        request = validate(ChatRequest, body)
        assert not request.include_usage
        assert "secret" not in json.dumps(
            read_chat(request, system="local", public_tags=True).messages
        )
        assert request.inferdpt.receipt == "summary"

    @pytest.mark.parametrize("value", [2**31, 10**300, 0, True, "5"])
    def test_token_limits_are_numbers_of_a_reasonable_size(self, value: Any) -> None:
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        with pytest.raises(ApiError):
            validate(ChatRequest, {**body, "max_tokens": value})

    def test_an_unknown_field_is_named_and_near_ones_are_suggested(self) -> None:
        error = refused({"temprature": "secret"})
        assert "'temprature'" in error.message
        assert "'temperature'" in error.message
        assert error.param == "temprature"
        assert "secret" not in error.message

    def test_a_name_is_cut_and_cannot_forge_a_line(self) -> None:
        error = refused({"a\r\n\u202e\x1b\u2028b" + "c" * 58 + "secret" * 1000: 1})
        assert error.param == "a\ufffd\ufffd\ufffd\ufffd\ufffdb" + "c" * 57
        assert "secret" not in error.message
        assert error.message.isprintable()

    def test_only_efforts_of_the_list_are_passed_on(self) -> None:
        for effort in EFFORTS:
            assert select_local_fields(chat(reasoning_effort=effort)) == {
                "reasoning_effort": effort
            }
        for effort in ("max", "a secret", ""):
            assert select_local_fields(chat(reasoning_effort=effort)) == {}
        assert refused({"reasoning_effort": 3}).param == "reasoning_effort"


def chat(**fields: Any) -> ChatRequest:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], **fields}
    return validate(ChatRequest, body)


def refused(fields: dict[str, Any]) -> ApiError:
    with pytest.raises(ApiError) as info:
        chat(**fields)
    return info.value
