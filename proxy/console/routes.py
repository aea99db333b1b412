"""Add the console to an application."""

from __future__ import annotations

from aiohttp import web

from proxy.api.app_keys import CONFIG
from proxy.api.middleware import CONSOLE, CONSOLE_PATH
from proxy.console.door import CALLBACK, LOGIN, LOGOUT, SIGN_IN, ConsoleDoor
from proxy.console.oidc import PROVIDER, Provider
from proxy.console.views import (
    batches,
    budgets,
    health,
    keys,
    overview,
    records,
    sessions,
    trying,
)

__all__ = ["add_console"]


def add_console(app: web.Application) -> None:
    """Add the console's routes, and the door in front of them.

    Raises:
        ConfigError: people sign in, and what that needs is not installed.
    """
    app[CONSOLE] = ConsoleDoor()
    get, post = web.get, web.post
    app.add_routes(
        [
            get(CONSOLE_PATH, trying.show),
            get(f"{CONSOLE_PATH}/try", trying.show),
            post(f"{CONSOLE_PATH}/try", trying.show_settings),
            post(f"{CONSOLE_PATH}/try/send", trying.stream),
            get(f"{CONSOLE_PATH}/budgets", budgets.show_budgets),
            get(f"{CONSOLE_PATH}/budgets/export", overview.export_overview, allow_head=False),
            get(f"{CONSOLE_PATH}/records", records.show_records),
            get(f"{CONSOLE_PATH}/records/export", records.export_records, allow_head=False),
            get(f"{CONSOLE_PATH}/health", health.show_health),
            post(f"{CONSOLE_PATH}/health", health.ask_remotes),
            get(f"{CONSOLE_PATH}/keys", keys.show_keys),
            post(f"{CONSOLE_PATH}/keys", keys.create_key),
            post(f"{CONSOLE_PATH}/keys/restrict", keys.restrict_key),
            post(f"{CONSOLE_PATH}/keys/rotate", keys.rotate_key),
            post(f"{CONSOLE_PATH}/keys/revoke", keys.revoke_key),
            post(LOGIN, sessions.log_in),
            post(LOGOUT, sessions.log_out),
            get(f"{CONSOLE_PATH}/static/{{name}}", sessions.send_static),
        ]
    )
    if app[CONFIG].server.oidc.issuer is not None:
        app[PROVIDER] = Provider(app[CONFIG].server.oidc)
        app.add_routes(
            [
                get(SIGN_IN, sessions.begin_sign_in, allow_head=False),
                get(CALLBACK, sessions.end_sign_in, allow_head=False),
            ]
        )
    if app[CONFIG].batches.enabled:
        path = f"{CONSOLE_PATH}/batches"
        app.add_routes(
            [get(path, batches.show_batches), post(f"{path}/cancel", batches.cancel_batch)]
        )
