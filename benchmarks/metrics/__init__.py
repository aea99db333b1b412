"""Measures of texts."""
