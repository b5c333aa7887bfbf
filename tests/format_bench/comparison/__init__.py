"""Tests of format_bench.comparison."""
