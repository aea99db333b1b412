"""An HTTP client for untrusted JSON servers."""
