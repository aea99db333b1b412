"""Register the models of an InferDPT Proxy with llm.

The proxy's address is taken from `INFERDPT_BASE_URL`. If it does not answer, there are no models.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import llm
import openai
from llm.default_plugins.openai_models import AsyncChat, Chat
from pydantic import Field

__all__ = ["PrivateChat", "PrivateChatAsync", "register_models"]

ADDRESS = "http://127.0.0.1:8100/v1"
KEY, KEY_VARIABLE = "inferdpt", "INFERDPT_API_KEY"
SECONDS = 2.0  # llm asks for the models whenever it starts
OURS = ("mechanism", "epsilon", "local_only")


class PrivateOptions(Chat.Options):
    """Hold the options of llm's chat models, and those of the proxy."""

    mechanism: str | None = Field(None, description="Sanitize with this mechanism.")
    epsilon: float | None = Field(None, gt=0, description="Sanitize with this ε.")
    local_only: bool | None = Field(
        None, description="Let the local model answer alone; nothing is sent to the remote."
    )


class _Private:
    """Add the proxy's options to a chat model of llm."""

    key_env_var = KEY_VARIABLE
    Options = PrivateOptions

    def __str__(self) -> str:
        return f"InferDPT: {self.model_id}"

    def build_kwargs(self, prompt: llm.Prompt, stream: bool) -> dict[str, Any]:
        kwargs = super().build_kwargs(prompt, stream)
        if ours := {name: kwargs.pop(name) for name in OURS if name in kwargs}:
            kwargs["extra_body"] = {"inferdpt": ours}
        return kwargs


class PrivateChat(_Private, Chat):
    """Chat with a model of the proxy."""


class PrivateChatAsync(_Private, AsyncChat):
    """Chat with a model of the proxy without blocking."""


@llm.hookimpl
def register_models(register: Callable[..., None]) -> None:
    """Register each model of the proxy as `inferdpt/NAME`."""
    address = os.environ.get("INFERDPT_BASE_URL", ADDRESS)
    key = llm.get_key(None, KEY, KEY_VARIABLE)
    for name in _list_models(address, key):
        how = {
            "model_id": f"inferdpt/{name}",
            "model_name": name,
            "api_base": address,
            "supports_schema": True,
            "supports_tools": True,
        }
        models = PrivateChat(**how), PrivateChatAsync(**how)
        for model in models:
            model.needs_key = KEY if key else None  # a proxy on loopback may need none
        register(*models)


def _list_models(address: str, key: str | None) -> list[str]:
    """Return the names of the proxy's models; none if it does not answer."""
    with openai.OpenAI(
        base_url=address, api_key=key or "none", max_retries=0, timeout=SECONDS
    ) as client:
        try:
            return [model.id for model in client.models.list()]
        except openai.OpenAIError:
            return []
