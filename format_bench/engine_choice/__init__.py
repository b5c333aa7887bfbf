"""Which engine to take for a format that several libraries save and read.

``python -m format_bench.engine_choice RESULTS`` prints the page in Markdown.
"""
