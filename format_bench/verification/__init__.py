"""Comparison of the data read back with the data saved."""
