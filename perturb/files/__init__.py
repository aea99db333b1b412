"""Files that are complete or absent, and the finished parts of long runs."""
