"""Tests of format_bench.dashboard."""
