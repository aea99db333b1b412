"""Hold one module for each version of the schema."""
