"""Restore raw values in an answer while it streams."""
