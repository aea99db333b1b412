"""Define the command line."""
