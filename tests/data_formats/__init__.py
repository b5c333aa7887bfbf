"""Tests of data_formats."""
