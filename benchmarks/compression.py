"""Compression of tables: each format at its own default, and all at the same codec and level.

asv goes by name, so the classes run in this order: `Compression` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("compression")


setup_cache.timeout = 1800

globals().update(benchmarks_of("compression"))
