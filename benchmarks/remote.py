"""Object stores: save, read and columns of tables on an S3 server."""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("remote")


setup_cache.timeout = 1800

globals().update(benchmarks_of("remote"))
