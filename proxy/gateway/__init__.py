"""Serve without a local model: the remote's restored answer is the answer."""
