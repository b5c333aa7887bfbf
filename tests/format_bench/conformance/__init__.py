"""Tests of format_bench.conformance."""
