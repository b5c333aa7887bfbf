"""Whole sets of SQL statements, TPC-H and web visits, to files by engines of SQL.

asv goes by name, so the classes run in this order: `QuerySet` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("query_sets")


setup_cache.timeout = 1800

globals().update(benchmarks_of("query_sets"))
