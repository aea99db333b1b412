"""Alembic's entry: runs the migrations on the connection that `proxy.store` hands over."""

from __future__ import annotations

from alembic import context

from proxy.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
