"""Damage to saved files: its kinds, trials in forked processes, and their results."""
