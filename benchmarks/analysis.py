"""Partial reads of tables: the reads of an analysis of decays, after Blomer's review of formats.

asv goes by name, so the classes run in this order: `Analysis` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("analysis")


setup_cache.timeout = 1800

globals().update(benchmarks_of("analysis"))
