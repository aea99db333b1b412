"""The store's schema, version by version (Alembic). `proxy.store` runs them at start."""
