"""Specifications of tables: types, validation, files."""
