"""Experiments on the quality of answers and releases."""
