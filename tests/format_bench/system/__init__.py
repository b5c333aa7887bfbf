"""Tests of format_bench.system."""
