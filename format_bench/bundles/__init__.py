"""Bundles of results: made without personal facts, and verified by whoever receives them.

docs/bundles.md describes both. `redaction` leaves facts out, `making` and `data_digests` make a bundle,
`checks` has its checks, and `rerun` measures some of its cells again. `results.bundle` has the file.
"""
