"""What changed from one library set to the next, and which library did it."""

from format_bench.changes.history import History, read_history
from format_bench.changes.pages import pages
from format_bench.changes.site_files import site_files

__all__ = ["History", "pages", "read_history", "site_files"]
