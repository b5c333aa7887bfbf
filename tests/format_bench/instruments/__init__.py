"""Tests of format_bench.instruments."""
