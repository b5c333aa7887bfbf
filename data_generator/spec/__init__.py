"""Specifications of tables."""
