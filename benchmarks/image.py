"""Sets of images in all storages: save, read, random access, size, files, memory, losses.

asv goes by name, so the classes run in this order: `Image` saves, and its files serve the others.
"""

from ._suites import benchmarks_of, prepare


def setup_cache():
    prepare("image")


setup_cache.timeout = 1800

globals().update(benchmarks_of("image"))
