"""Tests of format_bench.report."""
