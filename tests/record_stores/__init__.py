"""Tests of record stores."""
