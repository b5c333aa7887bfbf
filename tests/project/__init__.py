"""Tests of the project's own files: Makefile, workflows, documentation, layers."""
