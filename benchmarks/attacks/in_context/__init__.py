"""Attacks that use a release as running text."""
