"""Tests of format_bench.recommendation."""
