"""Building blocks of synthetic data sets, and data with edge cases."""
