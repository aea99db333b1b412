"""Read requests of the Messages API."""
