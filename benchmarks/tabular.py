"""Tables: saving, reading, size on disk and peak memory of every format."""

import contextlib

from format_bench.asv_cell import Cell, load, prepare

from ._parameters import ROWS, SCALE, labels

with contextlib.suppress(Exception):
    # Imported before asv's fork server forks, so that hundreds of processes need not.
    import pandas  # noqa: F401
    import pyarrow  # noqa: F401

DATASETS = ["eq", "int", "float", "bool", "str"]

LIMIT_SECONDS = {"full": 1800, "quick": 90, "tiny": 15}[SCALE]
"""After which a cell counts as timed out: a hundred times what a usual format needs."""


class _Suite:
    params = (labels("data_formats"), DATASETS)
    param_names = ("format", "dataset")
    # Values of one scale never continue the line of another.
    version = f"1 {SCALE}"
    timeout = LIMIT_SECONDS + 30
    number = 1
    warmup_time = 0
    repeat = (1, 5, 20.0) if SCALE == "full" else (1, 5, 2.0)
    min_run_count = 1
    rounds = 2 if SCALE == "full" else 1

    def setup_cache(self):
        prepare(DATASETS, ROWS, "tabular", SCALE)

    setup_cache.timeout = 1800

    def cell(self, label, dataset):
        return Cell(f"tabular.{type(self).__name__}", label, dataset, SCALE, LIMIT_SECONDS)


class Tabular(_Suite):
    """Saving; asv runs this class first, and its files serve the reads.

    asv goes by name: `time_save` comes after `peakmem_save` and before `track_size`, and all of them
    before `TabularRead`.
    """

    def setup(self, label, dataset):
        self.current = self.cell(label, dataset)
        self.adapter = self.current.start()
        self.df = load(dataset)
        self.current.check(self.adapter, self.df)
        self.path = self.current.path(self.adapter)

    def teardown(self, label, dataset):
        self.current.end()

    def time_save(self, label, dataset):
        self.adapter.save(self.df, self.path)

    def peakmem_save(self, label, dataset):
        self.adapter.save(self.df, self.path)

    def track_size(self, label, dataset):
        return self.adapter.size_bytes(self.current.saved(self.adapter))

    time_save.pretty_name = "Table: save time"
    peakmem_save.pretty_name = "Table: save peak memory"
    track_size.pretty_name = "Table: size"
    track_size.unit = "bytes"


class TabularRead(_Suite):
    """Reading what `Tabular` saved, all columns, warm: the file is in the page cache."""

    def setup(self, label, dataset):
        self.current = self.cell(label, dataset)
        self.adapter = self.current.start("tabular.Tabular")
        self.path = self.current.saved(self.adapter)

    def teardown(self, label, dataset):
        self.current.end()

    def time_read(self, label, dataset):
        self.adapter.read(self.path)

    def peakmem_read(self, label, dataset):
        self.adapter.read(self.path)

    time_read.pretty_name = "Table: read time"
    peakmem_read.pretty_name = "Table: read peak memory"
