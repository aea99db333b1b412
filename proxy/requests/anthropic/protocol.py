"""Define the bodies of `POST /v1/messages` and its `count_tokens`, and the destination of each
field.

The rules are those of chat: every field has its treatment, and nothing undeclared is read. Fields
that need state or work at a server are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from proxy.errors import unsupported
from proxy.requests.anthropic.blocks import (
    AnthropicMessage,
    TextBlock,
    spell_blocks,
    spell_messages,
)
from proxy.requests.anthropic.tools import Tool, ToolChoice, keep_own_tools
from proxy.requests.protocol import (
    DROP,
    LOCAL,
    PIPELINE,
    REMOTE,
    Effort,
    Items,
    Json,
    Options,
    Strict,
)
from proxy.requests.validation import validate

__all__ = [
    "REJECTED",
    "Conversation",
    "MessagesRequest",
    "Metadata",
    "OutputConfig",
    "OutputFormat",
    "validate_messages",
]


class OutputFormat(Strict):
    """Select JSON with a schema as the answer."""

    type: Literal["json_schema"]
    schema_: Json = Field(alias="schema")


class OutputConfig(Strict):
    """Hold the effort and the form of an answer; the fields after `format` have no effect."""

    effort: Effort = None
    format: OutputFormat | None = None
    task_budget: Any = None


class Metadata(Strict):
    """Hold the client's name for its own user."""

    user_id: str | None = None


class Conversation(Strict):
    """Hold what a model reads, and what `POST /v1/messages/count_tokens` counts."""

    model: Annotated[str, PIPELINE]
    messages: Annotated[Items[AnthropicMessage], PIPELINE] = Field(min_length=1)
    system: Annotated[Items[TextBlock] | None, PIPELINE] = None
    inferdpt: Annotated[Options, PIPELINE] = Options()
    output_config: Annotated[OutputConfig | None, REMOTE] = None
    tools: Annotated[Items[Tool] | None, LOCAL] = None
    tool_choice: Annotated[ToolChoice | None, LOCAL] = None
    cache_control: Annotated[Any, PIPELINE] = None
    # known fields without effect here, whatever they hold
    billing_policy: Annotated[Any, DROP] = None
    compaction: Annotated[Any, DROP] = None
    context_management: Annotated[Any, DROP] = None
    speed: Annotated[Any, DROP] = None
    thinking: Annotated[Any, DROP] = None
    user_profile_id: Annotated[Any, DROP] = None
    workspace_id: Annotated[Any, DROP] = None


class MessagesRequest(Conversation):
    """Hold the body of `POST /v1/messages`."""

    max_tokens: Annotated[int, REMOTE] = Field(ge=1, lt=2**31)
    stream: Annotated[bool | None, PIPELINE] = None
    temperature: Annotated[float | None, REMOTE] = Field(None, ge=0, le=1)
    top_p: Annotated[float | None, REMOTE] = Field(None, ge=0, le=1)
    stop_sequences: Annotated[Items[str] | None, LOCAL] = None
    metadata: Annotated[Metadata | None, DROP] = None  # gateways may send a hash of it
    diagnostics: Annotated[Any, DROP] = None
    fallback_credit_token: Annotated[Any, DROP] = None
    fallbacks: Annotated[Any, DROP] = None
    service_tier: Annotated[Any, DROP] = None
    top_k: Annotated[Any, DROP] = None


_STATELESS = "the proxy and the remote keep no state; send the whole conversation in 'messages'"
REJECTED = {
    "container": _STATELESS,
    "thread": _STATELESS,
    "mcp_servers": "they run at a server; only tools with 'input_schema' are served",
    "inference_geo": "the proxy does not choose where the remote runs",
    "output_format": "send it as 'output_config.format'",
    "extra_body": "SDKs merge its content into the body; send its fields at the top",
}
Body = TypeVar("Body", bound=Conversation)


def validate_messages(model: type[Body], body: Mapping[str, Any], *, ignore: bool) -> Body:
    """Parse a body.

    Args:
        model: `MessagesRequest` or `Conversation`.
        ignore: remove tools that are not served, instead of refusing them.

    Raises:
        ApiError: 400, naming the first field that is not served or breaks its rule.
    """
    plain = keep_own_tools(dict(body), ignore=ignore)
    if plain.get("mcp_servers") == [] or (ignore and "mcp_servers" in plain):
        del plain["mcp_servers"]
    if "messages" in plain:
        plain["messages"] = spell_messages(plain["messages"], ignore=ignore)
    if "system" in plain:
        plain["system"] = spell_blocks(plain["system"], "system")
    request = validate(model, plain, REJECTED)
    if request.messages[-1].role == "assistant":
        raise unsupported(
            f"messages[{len(request.messages) - 1}].role",
            "the remote cannot continue an answer that is begun; end with a user's message",
        )
    return request
