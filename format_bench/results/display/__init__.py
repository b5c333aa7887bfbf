"""Formatting of values, tables and text for terminals, Markdown and pages."""
