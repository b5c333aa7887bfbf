"""Tables: saving, reading, size, memory and what is lost, for every format.

asv goes by name, so these classes run in this order: `Tabular` saves, and its files serve `TabularLoad`
and `TabularRead`.
"""

import contextlib

from format_bench import asv_steps
from format_bench.asv_tables import TableCell, load, prepare_tables
from format_bench.page_cache import sync
from format_bench.touch import touch

from ._parameters import LIMIT_SECONDS, ROWS, SCALE, labels

with contextlib.suppress(Exception):
    # Imported before asv's fork server forks, so that hundreds of processes need not.
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401

DATASETS = ["eq", "int", "float", "bool", "str"]


class _Suite:
    params = (labels("data_formats"), DATASETS)
    param_names = ("format", "dataset")
    # Values of one scale never continue the line of another.
    version = f"2 {SCALE}"
    timeout = LIMIT_SECONDS + 30
    number = 1
    warmup_time = 0
    repeat = (1, 5, 20.0) if SCALE == "full" else (1, 3, 0.5)
    min_run_count = 1
    rounds = 2 if SCALE == "full" else 1

    def setup_cache(self):
        prepare_tables(DATASETS, ROWS, "tabular", SCALE)

    setup_cache.timeout = 1800

    def begin(self, *params):
        self.cell = TableCell(f"tabular.{type(self).__name__}", params, SCALE, LIMIT_SECONDS)
        self.adapter = self.cell.start("tabular.Tabular")


class Tabular(_Suite):
    """Saving a table in memory to a file that does not exist yet."""

    path = None

    def setup(self, label, dataset):
        self.begin(label, dataset)
        self.df = load(dataset)
        self.cell.check(self.adapter, self.df)
        self.path = self.cell.path(self.adapter, "new")
        self.adapter.remove(self.path)

    def teardown(self, label, dataset):
        self.cell.end()
        if self.path:  # else setup skipped the cell
            self.cell.keep(self.adapter, self.path)

    def time_save(self, label, dataset):
        self.adapter.save(self.df, self.path)

    def time_durable_save(self, label, dataset):
        self.adapter.save(self.df, self.path)
        sync(self.path)

    def peakmem_save(self, label, dataset):
        asv_steps.save(self.cell, self.adapter, self.df, self.path)

    def track_save_memory(self, label, dataset):
        return int(self.cell.noted(asv_steps.SAVE_MEMORY, lambda: self.peakmem_save(label, dataset)))

    def track_size(self, label, dataset):
        return self.adapter.size_bytes(self.cell.saved(self.adapter))

    time_save.pretty_name = "Table: save time"
    time_durable_save.pretty_name = "Table: durable save time"
    peakmem_save.pretty_name = "Table: save peak memory"
    track_save_memory.pretty_name = "Table: save memory growth"
    track_save_memory.unit = "bytes"
    track_size.pretty_name = "Table: size"
    track_size.unit = "bytes"


class TabularLoad(_Suite):
    """The table that comes back of what `Tabular` saved: its memory, and what it lost."""

    def setup(self, label, dataset):
        self.begin(label, dataset)
        self.path = self.cell.saved(self.adapter)
        self.df = None

    def teardown(self, label, dataset):
        if self.df is not None:
            asv_steps.note_verdict(self.cell, self.adapter, self.df)
        self.cell.end()

    def peakmem_read(self, label, dataset):
        self.df = asv_steps.read(self.cell, self.adapter, self.path)

    def track_read_memory(self, label, dataset):
        return int(self.cell.noted(asv_steps.READ_MEMORY, lambda: self.peakmem_read(label, dataset)))

    def track_held_memory(self, label, dataset):
        return int(self.cell.noted(asv_steps.HELD_MEMORY, lambda: self.peakmem_read(label, dataset)))

    def track_lost_columns(self, label, dataset):
        return asv_steps.lost_columns(self.cell, self.adapter, self.path)

    peakmem_read.pretty_name = "Table: read peak memory"
    track_read_memory.pretty_name = "Table: read memory growth"
    track_read_memory.unit = "bytes"
    track_held_memory.pretty_name = "Table: held memory"
    track_held_memory.unit = "bytes"
    track_lost_columns.pretty_name = "Table: lost columns"
    track_lost_columns.unit = "columns"


class TabularRead(_Suite):
    """Reading what `Tabular` saved, all columns, with the file in the page cache or proven out of it."""

    params = (*_Suite.params, ["warm", "cold"])
    param_names = (*_Suite.param_names, "cache")

    def setup(self, label, dataset, cache):
        self.begin(label, dataset, cache)
        asv_steps.refuse_wrong(self.cell)
        self.path = self.cell.saved(self.adapter)
        asv_steps.set_page_cache(self.cell, self.path, cache)

    def teardown(self, label, dataset, cache):
        self.cell.end()

    def time_read(self, label, dataset, cache):
        touch(self.adapter.read(self.path))

    time_read.pretty_name = "Table: read time"
