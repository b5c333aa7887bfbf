"""Tests of format_bench.changes.detection."""
