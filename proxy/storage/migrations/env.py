"""Run the migrations on the connection that `proxy.storage.store` passes to Alembic."""

from __future__ import annotations

from alembic import context

from proxy.storage.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
