"""`inferdpt serve`, `reload`, `doctor` and `demo`: run the proxy, and see how it works."""

from __future__ import annotations

import gc
from typing import Annotated, Any

import typer

from proxy.cli.help import PANELS, page
from proxy.cli.options import (
    ConfigFile,
    find_config_file,
    list_sanitizers,
    list_served,
    load_configuration,
    mechanism_option,
    name_mechanisms,
    read_text,
)
from proxy.cli.settings import with_settings

__all__ = ["add_server", "demo", "reload"]


def add_server(app: typer.Typer) -> None:
    """Add `demo`, `doctor`, `serve` and `reload` to the command line."""
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
        "inferdpt doctor",
        "inferdpt doctor --config config.yaml --local-base-url http://127.0.0.1:8000/v1",
        notes=served,
    )
    showing = page(
        "inferdpt demo",
        "inferdpt demo --text letter.txt --mechanism rantext_ldp --epsilon 9",
        "inferdpt demo --model bundled   # offline, with a toy that cannot answer",
        notes=name_mechanisms(list_sanitizers),
    )
    app.command("demo", cls=showing, rich_help_panel=PANELS.setting_up)(demo)
    app.command("doctor", cls=checking, rich_help_panel=PANELS.setting_up)(with_settings(_doctor))
    app.command("serve", cls=serving, rich_help_panel=PANELS.running)(with_settings(_serve))
    reloading = page("inferdpt reload", "inferdpt reload --config config.yaml")
    app.command("reload", cls=reloading, rich_help_panel=PANELS.running)(reload)


def _serve(path: str | None, overrides: dict[str, Any]) -> int:
    """Run the proxy until a signal stops it."""
    gc.disable()  # nearly all that is made until it is ready stays; `proxy.serve` enables it
    from proxy.config.settings import load_config
    from proxy.reload import Origin

    config = load_config(path, overrides)
    origin = None if path is None else Origin(path, overrides)
    if config.server.workers > 1:
        from proxy.workers.supervisor import supervise

        supervise(config, origin)
    else:
        from proxy.serve import serve

        serve(config, origin)
    return 0


def reload(config: ConfigFile = None) -> int:
    """Let a running proxy read its configuration again.

    Without --config or a config.yaml here, the proxy is meant that runs, if there is one. Checks
    the file first. The proxy that serves it puts in force what can change while it runs, or
    refuses the whole and keeps what it has; its log says which.
    """
    import os
    import signal
    from pathlib import Path

    from proxy.errors import ConfigError
    from proxy.running import find_running
    from proxy.storage.opening import find_folder

    path = find_config_file(config)
    if path is None:
        served = {*find_running(find_folder(load_configuration(None).store)).values()}
        if len(served) != 1:
            raise ConfigError(
                "--config: name the file that the proxy was started with; proxies with "
                f"{len(served)} files run here"
            )
        (path,) = served
    state, own = find_folder(load_configuration(path).store), str(Path(path).resolve())
    found = [number for number, served in find_running(state).items() if served == own]
    if not found:
        raise ConfigError(f"no proxy that was started with {path} runs here; its state is {state}")
    for number in found:
        os.kill(number, signal.SIGHUP)
        print(f"process {number} reads {path} again; its log says what is in force")
    return 0


def _doctor(path: str | None, overrides: dict[str, Any]) -> int:
    """Find what is wrong, and say what mends it.

    Looks at the configuration, the table and mechanism, the remotes with their certificates and
    the clock, the local model, the database, the disk and the keys. Sends no text.
    """
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
            "Sanitize with this mechanism (default: surrogate).",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(metavar="ε", help="Set its nominal ε (default: the mechanism's own)."),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Answer with this model of `inferdpt models list`, which is fetched if it is not "
            "there, or with the bundled toy (`bundled`), which fetches nothing.",
        ),
    ] = "smollm2-135m",
) -> int:
    """Show a letter's way through the gateway, and the whole path of a document.

    A small model plays both the remote and the local model; it is fetched once. Nothing that you
    write leaves the machine. With --text or --mechanism, only the whole path is shown.
    """
    from perturb.registry import sanitizer_class
    from proxy.cli.demo import DEMO_TEXT, LETTER, run

    own = text is not None or mechanism is not None
    name = mechanism or "surrogate"
    run(
        read_text(text) if text else DEMO_TEXT,
        name,
        sanitizer_class(name).parameter_type().epsilon if epsilon is None else epsilon,
        model,
        "" if own else LETTER,
    )
    return 0
