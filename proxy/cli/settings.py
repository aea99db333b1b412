"""Define the options that override the configuration file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from proxy.cli.options import ConfigFile, find_config_file, list_served, mechanism_option

__all__ = ["build_overrides", "with_settings"]

Overrides = dict[str, dict[str, Any]]


def with_settings(run: Callable[[str | None, Overrides], int]) -> Callable[..., int]:
    """Return a command with options for the configuration file and for settings that override it.

    Args:
        run: takes the path of the file, None without one, and the given settings, by section.
    """

    def command(
        config: ConfigFile = None,
        host: Annotated[str | None, typer.Option(help="Listen on this address.")] = None,
        port: Annotated[
            int | None, typer.Option(help="Listen on this port; 0: a free one.")
        ] = None,
        workers: Annotated[
            int | None, typer.Option(help="Serve with this many processes.")
        ] = None,
        remote_base_url: Annotated[
            str | None, typer.Option(metavar="URL", help="Call the untrusted model at this API.")
        ] = None,
        remote_model: Annotated[
            str | None, typer.Option(metavar="NAME", help="Serve only this untrusted model.")
        ] = None,
        local_base_url: Annotated[
            str | None, typer.Option(metavar="URL", help="Call the trusted model at this API.")
        ] = None,
        local_model: Annotated[
            str | None, typer.Option(metavar="NAME", help="Use this trusted model.")
        ] = None,
        no_local: Annotated[
            bool,
            typer.Option("--no-local", help="Use no trusted model: the remote answers."),
        ] = False,
        mechanism: Annotated[
            str | None,
            mechanism_option(list_served, "Sanitize with this mechanism.", check=False),
        ] = None,
        epsilon: Annotated[
            float | None, typer.Option(metavar="ε", help="Set the nominal ε per token.")
        ] = None,
    ) -> int:
        over = build_overrides(
            host=host,
            port=port,
            workers=workers,
            remote_base_url=remote_base_url,
            remote_model=remote_model,
            local_base_url=local_base_url,
            local_model=local_model,
            no_local=no_local,
            mechanism=mechanism,
            epsilon=epsilon,
        )
        return run(find_config_file(config), over)

    command.__doc__ = run.__doc__
    return command


def build_overrides(
    *,
    host: str | None = None,
    port: int | None = None,
    workers: int | None = None,
    remote_base_url: str | None = None,
    remote_model: str | None = None,
    local_base_url: str | None = None,
    local_model: str | None = None,
    no_local: bool = False,
    mechanism: str | None = None,
    epsilon: float | None = None,
) -> Overrides:
    """Return the settings of the options, by section; None leaves a setting unchanged.

    Raises:
        typer.BadParameter: a local model and none are requested.
    """
    if no_local and (local_base_url or local_model):
        raise typer.BadParameter(
            "excludes --local-base-url and --local-model", param_hint="--no-local"
        )
    given: Overrides = {
        "server": {"host": host, "port": port, "workers": workers},
        "remote": {
            "base_url": remote_base_url,
            # replaces the file's list
            "models": {remote_model: remote_model} if remote_model else None,
        },
        "privacy": {"mechanism": mechanism, "epsilon": epsilon},
        "local": {
            "base_url": local_base_url,
            "model": local_model,
            "mode": "none" if no_local else "external" if local_base_url else None,
        },
    }
    found = {
        section: {key: value for key, value in values.items() if value is not None}
        for section, values in given.items()
    }
    return {section: values for section, values in found.items() if values}
