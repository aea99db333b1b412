"""Attacks on what leaves, each with the bound it is held against."""
