"""Confinement of the processes that read users' files: kernel rules, limits, and the call of a task."""
