"""Changes from one library set to the next, detected in asv's results, and the libraries beside them."""

from format_bench.changes.history import History, read_history
from format_bench.changes.summary import LineChanges, changes_by_line

__all__ = ["History", "LineChanges", "changes_by_line", "read_history"]
