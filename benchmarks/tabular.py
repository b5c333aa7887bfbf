"""Tables: saving, reading, size, memory and what is lost, for every format.

asv goes by name, so these classes run in this order: `Tabular` saves, and its files serve `TabularLoad`
and `TabularRead`.
"""

from format_bench.asv_support import steps
from format_bench.asv_support.tables import prepare_tables
from format_bench.instruments.page_cache import sync

from ._parameters import CACHES, ROWS, SCALE, labels
from ._tables import _Load, _Read, _Save

DATASETS = ["eq", "int", "float", "bool", "str", "core", "flights"]


class _Tables:
    module = "tabular"
    saving = "Tabular"
    params = (labels("data_formats"), DATASETS)

    def setup_cache(self):
        prepare_tables(DATASETS, ROWS, "tabular", SCALE)

    setup_cache.timeout = 1800


class Tabular(_Tables, _Save):
    """Saving a table in memory to a file that does not exist yet."""

    def time_durable_save(self, label, dataset):
        self.adapter.save(self.df, self.path)
        sync(self.path)

    def peakmem_save(self, label, dataset):
        steps.save(self.cell, self.adapter, self.df, self.path)

    def track_save_memory(self, label, dataset):
        return int(self.cell.noted(steps.SAVE_MEMORY, lambda: self.peakmem_save(label, dataset)))

    time_durable_save.pretty_name = "Table: durable save time"
    peakmem_save.pretty_name = "Table: save peak memory"
    track_save_memory.pretty_name = "Table: save memory growth"
    track_save_memory.unit = "bytes"


class TabularLoad(_Tables, _Load):
    """The table that comes back of what `Tabular` saved: its memory, and what it lost."""

    def peakmem_read(self, label, dataset):
        self.load()

    def track_held_memory(self, label, dataset):
        return int(self.cell.noted(steps.HELD_MEMORY, self.load))

    peakmem_read.pretty_name = "Table: read peak memory"
    track_held_memory.pretty_name = "Table: held memory"
    track_held_memory.unit = "bytes"


class TabularRead(_Tables, _Read):
    """Reading what `Tabular` saved, all columns, with the file in the page cache or proven out of it."""

    params = (*_Tables.params, CACHES)
