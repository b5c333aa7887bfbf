"""What the suites on tables have in common: saving, what comes back, reading.

Classes whose names begin with an underscore are not taken for suites by asv.
"""

from format_bench.asv_support import steps
from format_bench.asv_support.tables import TableCell, load
from format_bench.instruments.touch import touch

from ._parameters import LIMIT_SECONDS, SCALE


class _Suite:
    module = ""
    saving = ""
    """The suite that saves what the others read."""
    param_names = ("format", "dataset")
    # Values of one scale never continue the line of another.
    version = f"3 {SCALE}"
    timeout = LIMIT_SECONDS + 30
    number = 1
    warmup_time = 0
    repeat = (1, 5, 20.0) if SCALE == "full" else (1, 3, 0.5)
    min_run_count = 1
    rounds = 2 if SCALE == "full" else 1

    def begin(self, *params):
        suite = f"{self.module}.{type(self).__name__}"
        self.cell = TableCell(suite, params, SCALE, LIMIT_SECONDS)
        self.adapter = self.cell.start(f"{self.module}.{self.saving}")


class _Save(_Suite):
    """Saving a table in memory to a file that does not exist yet; and the file's size."""

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

    def track_size(self, label, dataset):
        return self.adapter.size_bytes(self.cell.saved(self.adapter))

    time_save.pretty_name = "Table: save time"
    track_size.pretty_name = "Table: size"
    track_size.unit = "bytes"


class _Load(_Suite):
    """The table that comes back of what was saved: its memory, and what it lost."""

    df = None

    def setup(self, label, dataset):
        self.begin(label, dataset)
        self.path = self.cell.saved(self.adapter)

    def teardown(self, label, dataset):
        if self.df is not None:
            steps.note_verdict(self.cell, self.adapter, self.df)
        self.cell.end()

    def load(self):
        self.df = steps.read(self.cell, self.adapter, self.path)

    def track_read_memory(self, label, dataset):
        return int(self.cell.noted(steps.READ_MEMORY, self.load))

    def track_lost_columns(self, label, dataset):
        return steps.lost_columns(self.cell, self.adapter, self.path)

    track_read_memory.pretty_name = "Table: read memory growth"
    track_read_memory.unit = "bytes"
    track_lost_columns.pretty_name = "Table: lost columns"
    track_lost_columns.unit = "columns"


class _Read(_Suite):
    """Reading what was saved, all columns, with the file in the page cache or proven out of it."""

    param_names = (*_Suite.param_names, "cache")

    def setup(self, label, dataset, cache):
        self.begin(label, dataset, cache)
        steps.refuse_wrong(self.cell)
        self.path = self.cell.saved(self.adapter)
        steps.set_page_cache(self.cell, self.path, cache)

    def teardown(self, label, dataset, cache):
        self.cell.end()

    def time_read(self, label, dataset, cache):
        touch(self.adapter.read(self.path))

    time_read.pretty_name = "Table: read time"
