"""Serve OpenAI's API, and send only sanitized text to the remote model."""
