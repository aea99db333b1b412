"""Audits of sanitizers: exact channels, certificates, composition and refutation."""
