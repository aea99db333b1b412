"""The table of fields: where each may go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.errors import ApiError
from proxy.messages import local_messages
from proxy.protocol import (
    ChatRequest,
    CompletionRequest,
    PerturbRequest,
    Treatment,
    local_fields,
    treatment_of,
    validate,
)


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
