"""Tests of format_bench.asv_support."""
