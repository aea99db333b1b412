"""Functions on text that several packages share."""
