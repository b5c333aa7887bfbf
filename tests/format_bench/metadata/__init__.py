"""Tests of format_bench.metadata."""
