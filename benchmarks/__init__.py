"""Measurements. They may import every layer; no layer imports them."""
