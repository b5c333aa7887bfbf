"""Queries to n-d arrays by coordinates: the questions of FoxBench, their answers written back.

asv goes by name, so the classes run in this order: `Foxbench` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("foxbench")


setup_cache.timeout = 1800

globals().update(benchmarks_of("foxbench"))
