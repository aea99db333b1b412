"""Turn a body into turns, with every field classified."""
