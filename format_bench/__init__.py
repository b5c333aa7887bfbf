"""Measuring, verifying, comparing: what the asv suites and the command line have in common."""
