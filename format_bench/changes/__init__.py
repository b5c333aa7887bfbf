"""What changed from one library set to the next, and which library did it."""

from format_bench.changes.history import History, read_history

__all__ = ["History", "read_history"]
