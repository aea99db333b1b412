"""Measurements of the bundled model, and its card."""
