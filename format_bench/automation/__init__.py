"""Unattended runs of asv: the monthly run, and histories of library sets."""
