"""Descriptions of tables by a `TableSpec`, and synthetic twins."""
