"""Tests of adapter_core."""
