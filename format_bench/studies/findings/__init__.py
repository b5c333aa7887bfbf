"""Findings of papers: a declaration for each paper, and beside it trials without a measurement."""
