"""Tests of format_bench.automation."""
