"""The evaluation harness, generating over chat completions and over completions."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.tasks import TaskManager
from scenes import BASE_URL, MODEL, run

FOLDER = Path(tempfile.mkdtemp())
TASKS = TaskManager(include_defaults=False)  # reading the thousands that ship takes minutes


def generate(kind: str, path: str, prompt: str, model: str = MODEL) -> str:
    """Evaluate a task of one document and return the generation."""
    name = f"task{len(list(FOLDER.iterdir()))}"
    data = FOLDER / f"{name}.jsonl"
    data.write_text(json.dumps({"question": prompt, "answer": "yes"}) + "\n")
    task = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 32},
        "metric_list": [{"metric": "exact_match"}],
    }
    done = lm_eval.simple_evaluate(
        model=kind,
        model_args={
            "model": model,
            "base_url": f"{BASE_URL}/{path}",
            "tokenizer_backend": None,
            "tokenized_requests": False,
            "max_retries": 1,
        },
        tasks=[task],
        task_manager=TASKS,
        apply_chat_template=kind == "local-chat-completions",
        bootstrap_iters=0,
    )
    (sample,) = done["samples"][name]
    return sample["resps"][0][0]


def ask(prompt: str, model: str) -> str:
    return generate("local-chat-completions", "chat/completions", prompt, model)


def completions(prompt: str) -> dict[str, Any]:
    return {"text": generate("local-completions", "completions", prompt)}


run("lm-eval", ask, completions=completions)
