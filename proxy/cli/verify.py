"""`inferdpt verify`: plant values at every position, and look for them upstream."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from proxy.cli.help import page
from proxy.cli.progress import show_progress

__all__ = ["add_verify"]


def add_verify(app: typer.Typer, panel: str) -> None:
    """Add `verify` to the command line."""
    shown = page(
        "inferdpt verify",
        "inferdpt verify --config config.yaml",
        "inferdpt verify --base-url http://127.0.0.1:4000/v1 --upstream-port 9999 --model gpt-4o",
    )
    app.command("verify", cls=shown, rich_help_panel=panel)(_verify)


def _verify(
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Verify the section privacy of this configuration."),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Verify the gateway at this address instead."),
    ] = None,
    upstream_port: Annotated[
        int, typer.Option(help="Let the throwaway upstream listen on this port; 0: a free one.")
    ] = 0,
    model: Annotated[str, typer.Option(help="Request this model.")] = "verify",
    api_key: Annotated[str, typer.Option(help="Send this key to the gateway.")] = "none",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> int:
    """Plant made-up values at every position of a request and look for them upstream.

    A throwaway upstream on this machine records every byte that a gateway sends. Without
    --base-url, the gateway is a proxy of its own, without a local model, and nothing leaves this
    machine. Another gateway must be configured to call the upstream's address. Exits with 1 if a
    value leaks, or if requests fail.
    """
    import asyncio
    import sys

    from proxy.verify.report import format_report, is_proved
    from proxy.verify.run import verify

    if base_url is not None and config is not None:
        raise typer.BadParameter("excludes --base-url", param_hint="--config")
    with show_progress(leave=False) as progress:
        findings = asyncio.run(
            verify(
                config=config,
                base_url=base_url,
                port=upstream_port,
                model=model,
                api_key=api_key,
                announce=lambda url: print(f"upstream: {url}", file=sys.stderr),
                advance=partial(progress, "requests"),
            )
        )
    print(format_report(findings, markdown=markdown))
    return 0 if is_proved(findings) else 1
