"""Arrays in object stores: save, read and a chunk of arrays on an S3 server."""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("remote_arrays")


setup_cache.timeout = 1800

globals().update(benchmarks_of("remote_arrays"))
