"""Decide which clients are served, and how much each may ask for."""
