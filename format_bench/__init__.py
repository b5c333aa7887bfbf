"""Measuring, verifying, comparing: the common parts of the asv suites and the command line."""
