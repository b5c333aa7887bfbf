"""Groups of results: the reasons of cells without a value, and their notes below a table."""

from __future__ import annotations

import pytest

from format_bench.results.groups import NOT_RUN, ComparisonGroup
from format_bench.results.metrics import Measure
from format_bench.results.status import CellStatus
from format_bench.results.table import result_table, text_table
from tests.factories.records import record

COLD = Measure("read time", "cold")


@pytest.mark.parametrize(
    ("suite", "settings", "measure", "sentence"),
    [
        (
            "chunks.ChunksDefaults",
            "defaults",
            COLD,
            "of files with these settings, asv takes save time, warm read time and size alone",
        ),
        ("chunks.ChunksDefaults", "defaults", Measure("size"), NOT_RUN.sentence),
        ("chunks.Chunks", "", COLD, NOT_RUN.sentence),
        ("chunks", "defaults", COLD, NOT_RUN.sentence),
    ],
)
def test_a_cell_without_a_record_says_why(suite, settings, measure, sentence):
    found = record("Zarr.dir", "save time", 1.0, suite=suite, settings=settings)
    group = ComparisonGroup.of("era5-small", [found])
    (configuration,) = group.configurations
    assert configuration.settings == settings
    cell = group.cell(configuration, measure)
    assert (cell.status, cell.sentence) == ("not run", sentence)
    assert group.cell(configuration, Measure("save time")).value == 1.0


def test_engines_share_the_note_on_a_format_that_cannot_store_the_data():
    empty = {"value": None, "status": CellStatus.UNSUPPORTED, "suite": "query"}
    refusal = "JSON cannot store this table: column 'x' contains decimals"
    pairs = ("JSON[duckdb]", "JSON[polars]")
    records = [record(each, "save time", **empty, sentence=refusal) for each in pairs]
    other = record("ORC[dask]", "save time", **empty, sentence="its reader loses them")
    table = result_table(ComparisonGroup.of("mine", [*records, other]))
    assert text_table("mine", table).notes == [refusal, "ORC[dask]: unsupported: its reader loses them"]
