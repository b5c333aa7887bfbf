"""Tests of format_bench.bundles."""
