"""Tests of format_bench.studies."""
