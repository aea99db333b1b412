"""Shared parts of the experiments: data sets, suites, records and a running proxy."""
