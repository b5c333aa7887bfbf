"""Records, objects of a program, in all stores: save, read, size, memory, first calls, losses.

asv goes by name, so the classes run in this order: `Records` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("records")


setup_cache.timeout = 1800

globals().update(benchmarks_of("records"))
