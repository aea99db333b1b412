"""Answer files of requests at low priority: OpenAI's Batch API."""
