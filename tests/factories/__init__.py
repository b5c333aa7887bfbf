"""Factories of data, results, histories and projects for tests."""
