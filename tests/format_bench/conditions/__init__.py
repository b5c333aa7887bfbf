"""Tests of format_bench.conditions."""
