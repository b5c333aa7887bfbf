"""Tests of the asv suites."""
