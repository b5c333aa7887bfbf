"""Questions to files by query engines: warm and cold, and the bytes that a cold answer brings in.

asv goes by name, so the classes run in this order: `Query` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("query")


setup_cache.timeout = 1800

globals().update(benchmarks_of("query"))
