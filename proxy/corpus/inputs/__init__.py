"""Read documents from files, in blocks."""
