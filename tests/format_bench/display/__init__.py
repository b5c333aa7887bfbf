"""Tests of format_bench.display."""
