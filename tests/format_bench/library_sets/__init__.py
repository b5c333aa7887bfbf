"""Tests of format_bench.library_sets."""
