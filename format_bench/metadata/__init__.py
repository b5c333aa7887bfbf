"""Metadata of a run: machine, system, libraries, threads, commit, seed and scale."""
