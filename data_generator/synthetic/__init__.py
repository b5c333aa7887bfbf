"""Synthetic data sets."""
