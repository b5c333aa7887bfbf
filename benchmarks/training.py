"""Training loaders: samples prepared, whole epochs, and first epochs on cold files.

asv goes by name, so the classes run in this order: `Training` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("training")


setup_cache.timeout = 1800

globals().update(benchmarks_of("training"))
