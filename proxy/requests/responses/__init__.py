"""Read requests of the Responses API."""
