"""Turn a parsed request into an answer."""
