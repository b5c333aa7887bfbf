"""Tests of format_bench.prediction."""
