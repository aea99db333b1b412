"""Speak the Messages API to a remote: chats become messages, and its answers chats."""
