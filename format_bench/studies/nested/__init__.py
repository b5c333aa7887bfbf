"""Nested and flat layouts of the same events, and trials of them."""
