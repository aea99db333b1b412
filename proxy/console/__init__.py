"""Serve the console: pages for a browser, rendered here. They work without scripts."""
