"""The page of the documentation, made from the records."""
