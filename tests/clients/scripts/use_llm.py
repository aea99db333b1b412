"""Simon Willison's llm, with the proxy among its extra models."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import yaml
from scenes import BASE_URL, FAILING, MODEL, Contact, look_up, run

os.environ["LLM_USER_PATH"] = tempfile.mkdtemp()
MODELS = [
    {
        "model_id": f"private/{name}",
        "model_name": name,
        "api_base": BASE_URL,
        "supports_schema": True,
        "supports_tools": True,
        "responses": kind == "responses",
        "completion": kind == "completions",
    }
    for name, kind in [(MODEL, "chat"), *((name, "chat") for name in FAILING)]
]
BESIDE = [
    {
        **MODELS[0],
        "model_id": kind,
        "responses": kind == "responses",
        "completion": kind != "responses",
    }
    for kind in ("responses", "completions")
]
Path(os.environ["LLM_USER_PATH"], "extra-openai-models.yaml").write_text(
    yaml.safe_dump(MODELS + BESIDE)
)

import llm  # noqa: E402  (it reads the path above)


def ask(prompt: str, model: str) -> str:
    return llm.get_model(f"private/{model}").prompt(prompt, stream=False, key="none").text()


def stream(prompt: str) -> dict[str, Any]:
    pieces = list(llm.get_model(f"private/{MODEL}").prompt(prompt, key="none"))
    return {"pieces": len(pieces), "text": "".join(pieces)}


def tools(prompt: str) -> dict[str, Any]:
    called: list[dict[str, Any]] = []
    chain = llm.get_model(f"private/{MODEL}").chain(
        prompt,
        tools=[look_up],
        after_call=lambda tool, call, result: called.append(call.arguments),
        key="none",
    )
    text = chain.text()
    (arguments,) = called
    return {"arguments": arguments, "text": text}


def structured(prompt: str) -> dict[str, Any]:
    made = llm.get_model(f"private/{MODEL}").prompt(prompt, schema=Contact, key="none")
    return {"value": json.loads(made.text())}


def responses(prompt: str) -> dict[str, Any]:
    pieces = list(llm.get_model("responses").prompt(prompt, key="none"))
    return {"pieces": len(pieces), "text": "".join(pieces)}


def completions(prompt: str) -> dict[str, Any]:
    return {"text": llm.get_model("completions").prompt(prompt, key="none").text()}


run(
    "llm",
    ask,
    stream=stream,
    tools=tools,
    structured=structured,
    responses=responses,
    completions=completions,
)
