"""Bundles of results: made without personal facts, and verified by whoever receives them.

docs/bundles.md describes both. `redaction` leaves facts out, `data_digests` recomputes generated data, `checks`
has the checks of a bundle, and `rerun` measures some of its cells again. `results.bundle` has the file.
"""
