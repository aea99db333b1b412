"""Open WebUI's own default prompts, read out of its source: which are housekeeping.

The package is large, so it is not among the test tools. `OPEN_WEBUI=PATH` names an unpacked or a
packed wheel (`pip download open-webui --no-deps`); else an installed one is read. Nothing of it is
ever imported.
"""

from __future__ import annotations

import ast
import os
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from proxy.config.upstreams.local import SHIPPED
from proxy.requests.messages import Housekeeping
from tests.proxy.requests.test_housekeeping import TEXT, chat

# Open WebUI's escapes are its own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
HOUSEKEEPING = {
    "DEFAULT_AUTOCOMPLETE_GENERATION_PROMPT_TEMPLATE",
    "DEFAULT_CONTEXT_COMPACTION_PROMPT",
    "DEFAULT_EMOJI_GENERATION_PROMPT_TEMPLATE",
    "DEFAULT_FOLLOW_UP_GENERATION_PROMPT_TEMPLATE",
    "DEFAULT_IMAGE_PROMPT_GENERATION_PROMPT_TEMPLATE",
    "DEFAULT_QUERY_GENERATION_PROMPT_TEMPLATE",
    "DEFAULT_TAGS_GENERATION_PROMPT_TEMPLATE",
    "DEFAULT_TITLE_GENERATION_PROMPT_TEMPLATE",
}
# What the user asked for, in another dress: answers from documents, of several models, by voice,
# with tools, code or agents. The remote helps with these.
ANSWERS = {
    "DEFAULT_CODE_INTERPRETER_PROMPT",
    "DEFAULT_MOA_GENERATION_PROMPT_TEMPLATE",
    "DEFAULT_RAG_TEMPLATE",
    "DEFAULT_REALTIME_CALL_PROMPT_TEMPLATE",
    "DEFAULT_REALTIME_TTS_PROMPT_TEMPLATE",
    "DEFAULT_SUBAGENT_SYSTEM_PROMPT",
    "DEFAULT_TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE",
    "DEFAULT_VOICE_MODE_PROMPT_TEMPLATE",
}
NEWER = {  # not in every version
    "DEFAULT_CONTEXT_COMPACTION_PROMPT",
    "DEFAULT_REALTIME_CALL_PROMPT_TEMPLATE",
    "DEFAULT_REALTIME_TTS_PROMPT_TEMPLATE",
    "DEFAULT_SUBAGENT_SYSTEM_PROMPT",
}


def sources() -> Iterator[str]:
    """Every Python file of the package."""
    if named := os.environ.get("OPEN_WEBUI"):
        path = Path(named)
        if path.is_file():
            with zipfile.ZipFile(path) as wheel:
                for name in wheel.namelist():
                    if name.endswith(".py"):
                        yield wheel.read(name).decode("utf-8")
            return
        files = list(path.rglob("*.py"))
        assert files, f"OPEN_WEBUI={named} holds no Python files"
    else:
        try:
            found = metadata.distribution("open-webui").files or []
        except metadata.PackageNotFoundError:
            pytest.skip("Open WebUI is not installed, and OPEN_WEBUI does not name its wheel")
        files = [Path(str(file.locate())) for file in found if file.suffix == ".py"]
    for file in files:
        yield file.read_text("utf-8")


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    """The default prompts by name: those that are one literal text."""
    out = {}
    for source in sources():
        if "DEFAULT_" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant):
                name, value = target.id, node.value.value
                prompt = name.endswith(("_PROMPT", "_TEMPLATE")) and name.startswith("DEFAULT_")
                if prompt and isinstance(value, str) and value:
                    out[name] = value
    return out


def test_every_template_is_known_here(templates: dict[str, str]) -> None:
    assert HOUSEKEEPING | ANSWERS >= set(templates) >= (HOUSEKEEPING | ANSWERS) - NEWER


def test_what_is_recognised_and_what_is_not(templates: dict[str, str]) -> None:
    shipped = Housekeeping(SHIPPED)
    filled = {
        name: text.replace("{{MESSAGES:END:2}}", TEXT).replace("{{CONTEXT}}", TEXT * 100)
        for name, text in templates.items()
    }
    recognised = {n for n, text in filled.items() if shipped.recognises(chat(("user", text)))}
    assert recognised == HOUSEKEEPING & set(templates)


def test_a_task_that_holds_the_conversation_is_known_by_its_form_alone(
    templates: dict[str, str],
) -> None:
    """The next version's words are not known: these five are recognised without them."""
    form = Housekeeping(SHIPPED[:1])
    found = {name for name, text in templates.items() if form.recognises(chat(("user", text)))}
    assert found == {
        "DEFAULT_FOLLOW_UP_GENERATION_PROMPT_TEMPLATE",
        "DEFAULT_IMAGE_PROMPT_GENERATION_PROMPT_TEMPLATE",
        "DEFAULT_QUERY_GENERATION_PROMPT_TEMPLATE",
        "DEFAULT_TAGS_GENERATION_PROMPT_TEMPLATE",
        "DEFAULT_TITLE_GENERATION_PROMPT_TEMPLATE",
    }
