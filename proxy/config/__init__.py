"""Define, load and explain the settings."""
