"""Measure the privacy and the usefulness of whole documents."""
