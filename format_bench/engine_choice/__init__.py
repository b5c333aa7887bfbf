"""Which engine to take for a format that several libraries save and read.

``python -m format_bench.engine_choice RESULTS`` prints the page in Markdown.
"""

from format_bench.engine_choice.page import page

__all__ = ["page"]
