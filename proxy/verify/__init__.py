"""Verify a gateway: plant values at every position of a request, and look for them upstream."""
