"""Synthetic examples of private texts, with one ε for adding or removing a text."""
