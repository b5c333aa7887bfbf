"""Tables through further engines, and in further formats; beside them are the usual ones in `tabular`.

asv goes by name, so the classes run in this order: `Engines` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("engines")


setup_cache.timeout = 1800

globals().update(benchmarks_of("engines"))
