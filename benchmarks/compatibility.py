"""Compatibility: files of table formats, read by the other libraries of their format."""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("compatibility")


setup_cache.timeout = 1800

globals().update(benchmarks_of("compatibility"))
