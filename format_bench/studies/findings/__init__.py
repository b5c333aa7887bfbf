"""Findings of papers: a declaration for each paper, and beside it what is tried rather than measured."""
