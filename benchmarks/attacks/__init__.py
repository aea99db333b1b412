"""Attacks on releases, each compared with its proved bound."""
