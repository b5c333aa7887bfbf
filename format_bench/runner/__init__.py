"""The runner: measurements without asv."""
