"""Tests of format_bench.cli."""
