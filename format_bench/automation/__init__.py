"""Unattended runs: the monthly run, and histories of library sets."""
