"""Release numbers that carry a value near their value, in their own format."""
