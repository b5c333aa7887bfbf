"""Tables in the usual formats: save, read, size, memory, losses.

asv goes by name, so the classes run in this order: `Tabular` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("tabular")


setup_cache.timeout = 1800

globals().update(benchmarks_of("tabular"))
