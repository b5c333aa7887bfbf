"""Tests of format_bench.verification."""
