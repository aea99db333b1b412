"""Microsoft Presidio as a policy of InferDPT Proxy."""
