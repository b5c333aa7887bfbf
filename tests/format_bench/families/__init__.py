"""Tests of format_bench.families."""
