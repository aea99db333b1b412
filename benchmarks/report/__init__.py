"""The results page and its figures."""
