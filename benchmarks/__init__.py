"""Measurements. May import every layer; nothing imports this."""
