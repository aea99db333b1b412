"""`inferdpt verify`: plant values at every position, and look for them upstream."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from proxy.cli.help import PANELS, page
from proxy.cli.progress import show_progress

__all__ = ["add_verify"]


def add_verify(app: typer.Typer) -> None:
    """Add `verify` to the command line."""
    shown = page(
        "inferdpt verify",
        "inferdpt verify --config config.yaml --full",
        "inferdpt verify --base-url http://127.0.0.1:4000/v1 --upstream-port 9999 --model gpt-4o",
    )
    app.command("verify", cls=shown, rich_help_panel=PANELS.setting_up)(_verify)


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
    full: Annotated[
        bool,
        typer.Option("--full", help="Send every type and kind of text at every position."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Choose the sample by this seed.")] = 1,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> int:
    """Plant made-up values at every position of a request and look for them upstream.

    A throwaway upstream on this machine records every byte that a gateway sends, checks the form
    of each body, and answers with the text that arrived, which must come back as it was. Without
    --base-url, the gateway is a proxy of its own, without a local model, and nothing leaves this
    machine. Another gateway must be configured to call the upstream's address. Sends a sample,
    in which each position has several types of values and kinds of files, or with --full all.
    Exits with 1 if a value leaks, a text comes back changed, a body has not the form of its
    endpoint, or a request fails.
    """
    import asyncio
    import sys

    from proxy.verify.run import format_report, verify

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
                seed=seed,
                full=full,
                announce=lambda url: print(f"upstream: {url}", file=sys.stderr),
                advance=partial(progress, "requests"),
            )
        )
    print(format_report(findings, markdown=markdown))
    return 0 if findings.proved else 1
