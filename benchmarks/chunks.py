"""N-d arrays in all stores: save, reads of chunks in several orders, size, files, memory, losses.

asv goes by name, so the classes run in this order: `Chunks` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("chunks")


setup_cache.timeout = 1800

globals().update(benchmarks_of("chunks"))
