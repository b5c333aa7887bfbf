"""Tests of format_bench.results.display."""
