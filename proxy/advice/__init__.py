"""Advise which mode is worth it: ask two models about texts in each, and compare the answers."""
