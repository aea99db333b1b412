"""Sanitize a corpus: many documents, on several processes or a cluster."""
