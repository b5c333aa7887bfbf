"""Compression: what codecs cost and save, for the formats that the thesis compares.

Each format at its own default, and all at the same codec and level. asv goes by name, so `Compression`
saves before `CompressionRead` reads.
"""

from format_bench.asv_support import tables
from format_bench.asv_support.steps import set_page_cache
from format_bench.asv_support.tables import CompressionCell, load, prepare_tables
from format_bench.instruments.touch import touch

from ._parameters import COMPRESSED_ROWS, LIMIT_SECONDS, SCALE

FORMATS = ["Feather", "HDF5.table", "ORC", "Parquet"]
DATASETS = ["eq", "webface"]


class _Suite:
    params = (FORMATS, DATASETS, list(tables.CHOICES))
    param_names = ("format", "dataset", "codec")
    # Values of one scale never continue the line of another.
    version = f"1 {SCALE}"
    timeout = LIMIT_SECONDS + 30
    number = 1
    warmup_time = 0
    repeat = (3, 5, 20.0) if SCALE == "full" else (3, 3, 1.0)
    min_run_count = 1
    rounds = 1

    def setup_cache(self):
        prepare_tables(DATASETS, COMPRESSED_ROWS, "compression", SCALE)

    setup_cache.timeout = 1800

    def begin(self, *params):
        suite = f"compression.{type(self).__name__}"
        self.cell = CompressionCell(suite, params, SCALE, LIMIT_SECONDS)
        self.adapter = self.cell.start("compression.Compression")
        self.codec, self.level = self.cell.chosen(self.adapter)

    def teardown(self, *params):
        self.cell.end()


class Compression(_Suite):
    """Saving a table in memory, compressed, to a file that does not exist yet; and the file's size."""

    path = None

    def setup(self, *params):
        self.begin(*params)
        self.df = load(self.cell.dataset)
        self.cell.check(self.adapter, self.df)
        self.path = self.cell.path(self.adapter, "new")
        self.adapter.remove(self.path)

    def teardown(self, *params):
        self.cell.end()
        if self.path:  # else setup skipped the cell
            self.cell.keep(self.adapter, self.path)

    def time_save(self, *params):
        self.adapter.save(self.df, self.path, self.codec, self.level)

    def track_size(self, *params):
        return self.cell.proven_size(self.adapter)

    time_save.pretty_name = "Compression: save time"
    track_size.pretty_name = "Compression: size"
    track_size.unit = "bytes"


class CompressionRead(_Suite):
    """Reading what `Compression` saved, from the page cache."""

    def setup(self, *params):
        self.begin(*params)
        self.path = self.cell.saved(self.adapter)
        set_page_cache(self.cell, self.path, "warm")

    def time_read(self, *params):
        touch(self.adapter.read(self.path))

    time_read.pretty_name = "Compression: read time"
