"""Measurement of tables, their description by a `TableSpec`, and synthetic twins."""
