"""Define the settings of the trusted model, and which prompts of chat clients stay with it."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, model_validator

from extraction.errors import LocalModelUnavailable
from extraction.extractor import Extraction, WhenToWarm
from extraction.models import DEFAULT, MODELS, ModelStore, Pulled
from perturb.text.search import Expression
from proxy.config.fields import Section
from proxy.config.store import models_folder
from proxy.config.upstreams.connection import BaseUrl, check_key, read_key

__all__ = [
    "BUNDLED",
    "DEMO_MODEL",
    "NOTES",
    "SHIPPED",
    "SHIPPED_MODEL",
    "Embedded",
    "Local",
    "PluggedModel",
    "Vllm",
]

BUNDLED = "inferdpt-bundled"  # the name that `extraction.backends.llama_server` gives it
SHIPPED_MODEL = "bundled"  # its name in settings
DEMO_MODEL = "DEMO MODEL"  # how the bundled one is announced, wherever its answers may be read
# The default prompts of Open WebUI and of LibreChat. Open WebUI rewords its tasks from version to
# version but keeps one form, which the first pattern matches: a task, and the conversation at the
# end. Its prompt for answers from documents also begins with "### Task:" and must not match. The
# other patterns match a task by its words, also without the conversation.
NOTES = {
    r"### Task:\s[\s\S]+</chat_history>\Z": "Open WebUI: any task with the conversation at its "
    "end",
    r"### Task:\s+Generate a concise[^\n]{0,40} title": "titles",
    r"### Task:\s+Generate [^\n]{0,20}tags categorizing": "tags",
    r"### Task:\s+Suggest [^\n]{0,20}follow-up questions": "follow-up questions, up to 0.9",
    r"### Task:\s+Predict [^\n]{0,20}messages this user might": "follow-up questions",
    r"### Task:\s+You are an autocompletion system\.": "autocomplete",
    r"### Task:\s+Analyze the chat history to determine the necessity of generating search": (
        "search queries"
    ),
    r"### Task:\s+Generate a detailed prompt for a[mn] image generation task": (
        "prompts for images"
    ),
    r"### Task:\s+Summarize the conversation history that will be compacted": (
        "summaries of long conversations"
    ),
    r"Your task is to reflect the speaker's likely facial expression through a fitting emoji\.": (
        "the emoji of a call"
    ),
    r"(Please generate|Provide) a concise, 5-word-or-less title for the conversation": (
        "LibreChat: titles"
    ),
    r"Please generate a concise title \(max \d+ characters\) for a conversation": (
        "titles, assistants"
    ),
    r"Analyze this conversation and provide:\s+1\. The detected language of the conversation": (
        "titles, structured"
    ),
    r"Detect user language and write in the same language an extremely concise title": (
        "titles, oldest"
    ),
    r"In this environment you have access to a set of tools you can use to generate the": (
        "titles, by tool"
    ),
    r"Summarize the conversation by integrating new lines into the current summary": (
        "summaries of long conversations"
    ),
}
SHIPPED = tuple(NOTES)


def _check_expression(pattern: str) -> str:
    try:
        Expression(pattern, "", 1.0)
    except ValueError as exc:
        raise ValueError(f"is not a regular expression ({exc})") from None
    return pattern


class Vllm(Section):
    """Hold the command of a supervised vLLM."""

    command: tuple[str, ...] = Field(
        ("vllm", "serve"), description="Command that starts vLLM. Model and options follow it."
    )
    model: str = Field("lmsys/vicuna-7b-v1.5", description="Model, by its name in vLLM.")
    args: tuple[str, ...] = Field(
        (),
        description="Further options, such as "
        '[--max-model-len, "4096", --gpu-memory-utilization, "0.9"].',
    )
    env: dict[str, str] = Field({}, description="Environment variables for vLLM.")
    chat_template: str | None = Field(
        None,
        description="Chat template file. null is our Vicuna template for Vicuna models, else "
        "the model's own.",
    )
    port: int = Field(
        8101, ge=0, le=65535, description="Port that vLLM listens on. 0 picks a free one."
    )
    ready_seconds: float = Field(
        600.0, gt=0, description="Seconds that vLLM may take until it answers."
    )


class Embedded(Section):
    """Hold the bundled llama.cpp server."""

    model: str | None = Field(
        None,
        description="Name of a model that was pulled (`inferdpt models list`), a GGUF file, or "
        f"`{SHIPPED_MODEL}`, a toy for demonstrations and tests. null is {DEFAULT} if it was "
        f"pulled, else `{SHIPPED_MODEL}`.",
    )
    context: int | None = Field(
        None,
        ge=256,
        description="Context of one request, in tokens. null is 4096 for a model that was "
        "pulled, and 1024 for the bundled one and other files.",
    )
    parallel: int = Field(4, ge=1, description="Requests at once.")
    threads: int | None = Field(
        None,
        ge=1,
        description="Threads. null is half of the processors, at most 4, and 1 for the bundled "
        "model. With as many threads as processors they wait for each other as soon as another "
        "process computes.",
    )
    ready_seconds: float = Field(
        30.0, gt=0, description="Seconds that the server may take until it answers."
    )

    @cached_property
    def pulled(self) -> Pulled | None:
        """Return the pulled model that is meant; None if it is a file or the bundled model.

        It is looked up once: a model that is pulled while a proxy runs is used from its next
        start on.

        Raises:
            LocalModelUnavailable: the model is named but was not pulled.
        """
        store = ModelStore(models_folder())
        if self.model is not None and self.model not in MODELS:
            return None
        found = store.find(MODELS[self.model or DEFAULT])
        if found is None and self.model is not None:
            raise LocalModelUnavailable(
                f"local.embedded.model: {self.model} was not pulled; run "
                f"`inferdpt models pull {self.model}`"
            )
        return found

    @property
    def is_bundled(self) -> bool:
        """Return whether the bundled model is meant."""
        return self.model == SHIPPED_MODEL or (self.model is None and self.pulled is None)


class PluggedModel(Section):
    """Hold the local model of an installed plug-in."""

    name: str = Field("", description="Name of its entry point, in the group inferdpt.backends.")
    options: dict[str, Any] = Field({}, description="Options to build the plug-in with.")


class Local(Section):
    """Hold the connection to the trusted model, or the way to start it."""

    mode: Literal["embedded", "external", "vllm", "plugin", "none"] = Field(
        "embedded",
        description="embedded (a small model in a process of its own), external (a server that "
        "runs already), vllm (started by the proxy), plugin (a model of an installed package) or "
        "none (the remote's restored answer is the answer; for mechanisms such as selective. See "
        "docs/gateway.md).",
    )
    base_url: BaseUrl = Field(
        "http://127.0.0.1:8000/v1",
        description="Address of an external server: vLLM, FastChat, Ollama, llama.cpp and so on.",
    )
    api_key: SecretStr | None = Field(
        None, description="Key of the server. Prefer the variable that `api_key_env` names."
    )
    api_key_env: str = Field(
        "INFERDPT_LOCAL_API_KEY",
        description="Environment variable that holds the key where `api_key` is null.",
    )
    model: str | None = Field(
        None, description="Model. null is the first one that the server lists."
    )
    context_tokens: int | None = Field(
        None,
        ge=256,
        description="Context of the model, in its tokens. null asks the server, and assumes 4096 "
        "without an answer.",
    )
    tokens_per_cl100k: float = Field(
        1.3,
        ge=0.5,
        le=10,
        description="Tokens of the local model for one cl100k token, to cut long input by.",
    )
    default_max_tokens: int = Field(
        1024, ge=1, description="Tokens of an answer where the request names no limit."
    )
    temperature: float = Field(
        0.5, ge=0, le=2, description="Temperature where the request names none."
    )
    timeout_seconds: float = Field(
        300.0,
        gt=0,
        description="Seconds for a whole answer, and between two steps of a stream.",
    )
    concurrency: int = Field(64, ge=1, description="Answers generated at once. The rest wait.")
    warm_prefix: WhenToWarm = Field(
        "auto",
        description="Let the model's server read a prompt while the remote is still writing, as "
        "far as it stands before the generation, so that the answer begins earlier: for prompts "
        "of 2,000 characters or more (auto), always or never. It needs a server with a prefix "
        "cache, as vLLM and llama.cpp have. Prompts that may have to be cut are not read ahead.",
    )
    score_prompts: bool = Field(
        True,
        description="Answer requests for the log probabilities of a prompt's own tokens (`echo` "
        "with `logprobs` on /v1/completions), as evaluation harnesses send them, by the local "
        "model alone; nothing is sent to the remote. false refuses them with 400.",
    )
    extraction: Extraction = Field(
        "relevant",
        description="What the model sees of a generation for a perturbed text: the sentences that "
        "are about the document (relevant; it works alone where there are none; with a passage "
        "for a text and several candidates, the whole generation where there are any), all, as "
        "in the paper, or what was sent and the whole generation as an example of the task, in "
        "turns before the conversation (demonstrate; it works alone if they do not fit its "
        "context). Clients may choose with `extraction`.",
    )
    candidates: int = Field(
        1,
        ge=1,
        le=128,
        description="Answers that the model writes for each choice: the first without the "
        "generation, the others with it. The one nearest to the document is returned. If a "
        "passage was sent and `extraction` is relevant, the others are written after the first, "
        "and without the generation unless it and the passage are nearer to the document than "
        "the first. With more than one, a stream begins when all are finished. Clients may "
        "choose with `candidates`.",
    )
    embeddings_model: str | None = Field(
        None,
        description="Embedding model for /v1/embeddings, and for codebooks that were made with "
        "it. With null that path is not served.",
    )
    housekeeping: tuple[Annotated[str, AfterValidator(_check_expression)], ...] = Field(
        SHIPPED,
        description="Requests that chat clients make on their own behalf are answered by the "
        "local model alone and cost nothing: those in which the last user text, or a system text, "
        "matches one of these regular expressions from its beginning (white space aside). They "
        "see its first 1,000 and its last 200 characters. A request on which they take too long "
        "is refused. [] recognises none.",
    )
    vllm: Vllm = Field(Vllm(), description="The supervised vLLM of mode `vllm`.")
    embedded: Embedded = Field(
        Embedded(), description="The bundled llama.cpp server of mode `embedded`."
    )
    plugin: PluggedModel = Field(
        PluggedModel(), description="The plug-in of mode `plugin`. See docs/plugins.md."
    )

    @model_validator(mode="after")
    def _check_key_text(self) -> Local:
        check_key(self.api_key, self.api_key_env)
        return self

    @model_validator(mode="after")
    def _check_plugin(self) -> Local:
        if self.mode == "plugin" and not self.plugin.name:
            raise ValueError("mode plugin needs plugin.name")
        if self.mode in ("plugin", "none") and self.embeddings_model:
            raise ValueError(f"embeddings_model needs a server, which mode {self.mode} is not")
        return self

    @property
    def is_bundled(self) -> bool:
        """Return whether the model is the bundled one, started here or under its own name."""
        started = self.mode == "embedded" and self.embedded.is_bundled
        return started or self.model == BUNDLED

    @property
    def description(self) -> str:
        """Return the mode and what is known of the model, for people."""
        if self.is_bundled:
            return f"{self.mode} ({DEMO_MODEL}; for a real one: inferdpt models pull {DEFAULT})"
        if self.mode == "embedded":
            own = self.embedded
            return f"{self.mode} ({own.pulled.model.name if own.pulled else own.model})"
        return self.mode

    @property
    def places(self) -> int:
        """Return the prompts that the server holds at once."""
        if self.mode == "embedded":
            return min(self.concurrency, self.embedded.parallel)
        return self.concurrency

    @property
    def key(self) -> str | None:
        """Return the local server's key, if there is one."""
        return read_key(self.api_key, self.api_key_env)
