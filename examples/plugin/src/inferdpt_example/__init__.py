"""Extensions of InferDPT Proxy, found by their entry points."""
