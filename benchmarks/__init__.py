"""The asv suites, one file each."""
