"""Tests of format_bench.runner."""
