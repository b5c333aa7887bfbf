"""Scale: tables that several workers write and read, on a local file system and on an object store."""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("scale")


setup_cache.timeout = 1800

globals().update(benchmarks_of("scale"))
