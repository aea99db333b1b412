"""Migrate the store's schema, version by version; `proxy.storage.store` does so at start."""
