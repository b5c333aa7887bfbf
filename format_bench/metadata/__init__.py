"""Metadata of a run: machine, system, libraries."""
