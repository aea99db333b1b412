"""`inferdpt serve`, `check` and `demo`: run the proxy, check its parts, show a request's path."""

from __future__ import annotations

import gc
from typing import Annotated, Any

import typer

from proxy.cli.help import page
from proxy.cli.options import (
    list_sanitizers,
    list_served,
    mechanism_option,
    name_mechanisms,
    read_text,
)
from proxy.cli.settings import with_settings

__all__ = ["PANEL", "add_server", "demo"]

PANEL = "Run the proxy"


def add_server(app: typer.Typer) -> None:
    """Add `serve`, `check` and `demo` to the command line."""
    served = name_mechanisms(list_served)
    serving = page(
        "inferdpt serve                # config.yaml if there is one, else defaults",
        "inferdpt serve --remote-model gpt-4o --local-base-url http://127.0.0.1:8000/v1",
        "inferdpt serve --config config.yaml --mechanism rantext_ldp --epsilon 8",
        "inferdpt serve --no-local --mechanism selective --remote-model gpt-4o",
        "inferdpt serve --workers 4    # a process for each of four cores",
        notes=served,
    )
    checking = page(
        "inferdpt check",
        "inferdpt check --config config.yaml --local-base-url http://127.0.0.1:8000/v1",
        notes=served,
    )
    showing = page(
        "inferdpt demo",
        "inferdpt demo --text letter.txt --mechanism rantext_ldp --epsilon 9",
        notes=name_mechanisms(list_sanitizers),
    )
    app.command("serve", cls=serving, rich_help_panel=PANEL)(with_settings(_serve))
    app.command("check", cls=checking, rich_help_panel=PANEL)(with_settings(_check))
    app.command("demo", cls=showing, rich_help_panel=PANEL)(demo)


def _serve(path: str | None, overrides: dict[str, Any]) -> int:
    """Run the proxy until a signal stops it."""
    gc.disable()  # nearly all that is made until it is ready stays; `proxy.serve` enables it
    from proxy.config.settings import load_config

    config = load_config(path, overrides)
    if config.server.workers > 1:
        from proxy.workers.supervisor import supervise

        supervise(config)
    else:
        from proxy.serve import serve

        serve(config)
    return 0


def _check(path: str | None, overrides: dict[str, Any]) -> int:
    """Check the configuration and reach every part that it names."""
    from proxy.checkup import check
    from proxy.config.settings import load_config

    return check(load_config(path, overrides))


def demo(
    text: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Use a text of your own; - is standard input."),
    ] = None,
    mechanism: Annotated[
        str | None,
        mechanism_option(
            list_sanitizers,
            "Sanitize with this mechanism. Without it, rantext and surrogate are shown.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(metavar="ε", help="Set its nominal ε (default: the mechanism's own)."),
    ] = None,
) -> int:
    """Show a letter's way through the gateway, and the whole path of a document.

    A program answers the letter; the bundled model plays both the remote and the local model for
    the document. Nothing leaves the machine. With --text or --mechanism, only the whole path is
    shown.
    """
    from perturb.registry import sanitizer_class
    from proxy.cli.demo import DEMO_TEXT, LETTER, run

    if epsilon is not None and mechanism is None:
        raise typer.BadParameter(
            "needs --mechanism: an ε of a token and an ε of a document do not compare",
            param_hint="--epsilon",
        )
    settings = [
        (name, epsilon or sanitizer_class(name).parameter_type().epsilon)
        for name in ([mechanism] if mechanism else ["rantext", "surrogate"])
    ]
    own = text is not None or mechanism is not None
    run(read_text(text) if text else DEMO_TEXT, settings, "" if own else LETTER)
    return 0
