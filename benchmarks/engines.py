"""Engines: the libraries besides the usual one that save and read a format, and further formats.

Measured as in `benchmarks/tabular.py`, on tables that are there too, so that the usual engines stand
beside them. asv goes by name: `Engines` saves, and its files serve `EnginesLoad` and `EnginesRead`.
"""

from format_bench.asv_support.tables import prepare_tables

from ._parameters import CACHES, ROWS, SCALE, labels
from ._tables import _Load, _Read, _Save

DATASETS = ["eq", "str", "core", "flights"]


class _Engines:
    module = "engines"
    saving = "Engines"
    params = (labels("data_formats", ["engines"]), DATASETS)

    def setup_cache(self):
        prepare_tables(DATASETS, ROWS, "engines", SCALE)

    setup_cache.timeout = 1800


class Engines(_Engines, _Save):
    """Saving a table in memory to a file that does not exist yet."""


class EnginesLoad(_Engines, _Load):
    """The table that comes back of what `Engines` saved: its memory, and what it lost."""


class EnginesRead(_Engines, _Read):
    """Reading what `Engines` saved, all columns, with the file in the page cache or proven out of it."""

    params = (*_Engines.params, CACHES)
