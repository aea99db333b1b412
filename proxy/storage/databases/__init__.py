"""The databases under the store: a SQLite file, or PostgreSQL."""
