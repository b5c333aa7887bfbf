"""Tables of features, rows with a geometry, in formats of features and in others as bytes.

asv goes by name, so the classes run in this order: `Features` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("features")


setup_cache.timeout = 1800

globals().update(benchmarks_of("features"))
