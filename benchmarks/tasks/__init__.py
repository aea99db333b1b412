"""Measure the tasks that people have: how the answer to each depends on who reads the document."""
