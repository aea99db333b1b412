"""List the clients, the environments they are installed in, and what each of them does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["CLIENTS", "MODES", "SCENES", "Client"]

HERE = Path(__file__).parent
SCRIPTS = HERE / "scripts"
SCENES = ("chat", "stream", "tools", "structured", "responses", "completions", "errors")
MODES = ("gateway", "extraction")
NO_RESPONSES = "has no client for the Responses API"
NO_COMPLETIONS = "has no client for text completions"


@dataclass(frozen=True)
class Client:
    """Describe a client.

    Attributes:
        name: as its makers write it.
        environment: the folder of its packages, and of the file that pins them.
        script: the name of its script.
        lacks: scenes that it cannot play, each with the reason.
    """

    name: str
    environment: str
    script: str
    lacks: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def path(self) -> Path:
        """Return its script."""
        suffix = "mjs" if self.environment == "node" else "py"
        return SCRIPTS / f"use_{self.script}.{suffix}"

    @property
    def scenes(self) -> tuple[str, ...]:
        """Return the scenes that it plays."""
        return tuple(scene for scene in SCENES if scene not in self.lacks)


# The client of another API has a line here and a script beside the others.
CLIENTS = (
    Client("openai (Python)", "openai3", "openai"),
    Client("openai (Node)", "node", "openai_node"),
    Client(
        "anthropic (Python)",
        "openai3",
        "anthropic",
        {"responses": NO_RESPONSES, "completions": NO_COMPLETIONS},
    ),
    Client("Vercel AI SDK", "node", "ai_sdk", {"responses": NO_RESPONSES}),
    Client("LangChain", "openai3", "langchain"),
    Client("LlamaIndex", "openai2", "llama_index", {"responses": NO_RESPONSES}),
    Client(
        "instructor",
        "openai2",
        "instructor",
        {"responses": NO_RESPONSES, "completions": NO_COMPLETIONS},
    ),
    Client("Pydantic AI", "openai3", "pydantic_ai", {"completions": NO_COMPLETIONS}),
    Client("OpenAI Agents", "openai3", "openai_agents", {"completions": NO_COMPLETIONS}),
    Client("DSPy", "openai2", "dspy"),
    Client("llm", "openai3", "llm"),
    Client("LiteLLM SDK", "openai2", "litellm"),
    Client(
        "lm-eval",
        "openai3",
        "lm_eval",
        {
            "stream": "reads whole answers only",
            "tools": "has no tools",
            "structured": "has no structured outputs",
            "responses": NO_RESPONSES,
        },
    ),
)
