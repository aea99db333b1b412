"""The proxy: an OpenAI-compatible server that sends only perturbed text to the remote model."""
