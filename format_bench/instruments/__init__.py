"""Measuring instruments: clock, memory, page cache, threads, isolation."""
