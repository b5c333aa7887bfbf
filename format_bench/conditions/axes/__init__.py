"""Axes, one for each file."""
