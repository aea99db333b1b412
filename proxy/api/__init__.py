"""Serve the HTTP API: routes, middleware and rendering."""
