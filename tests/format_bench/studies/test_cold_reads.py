"""The study of cold reads: reads are cold, and a projection reads its columns."""

from __future__ import annotations

import pytest

from format_bench.instruments import isolation
from format_bench.studies import cold_reads
from tests.helpers import run

ROWS = {"CSV": 20_000, "Parquet": 200_000, "Feather": 200_000, "HDF5.table": 200_000}
"""Rows: enough that two columns are much larger than the read-ahead. Text has no separate columns."""


@pytest.fixture(scope="module", params=ROWS)
def found(request, tmp_path_factory):
    """Return a label, and the warm and cold reads of its file."""
    path = tmp_path_factory.mktemp("cold") / "table"
    outcome = isolation.run(cold_reads.save, request.param, ROWS[request.param], path, limit_seconds=300)
    assert not outcome.status, outcome.sentence
    outcome = isolation.run(cold_reads.reads, request.param, path, 0.0, limit_seconds=300)
    assert not outcome.status, outcome.sentence
    return request.param, outcome.value


def test_cold_reads_start_without_pages_and_end_with_the_whole_file(found):
    _, reads = found
    assert reads.resident_before == 0
    assert reads.resident_after > 0.95


def test_a_projection_reads_two_columns_where_the_layout_allows_it(found):
    label, reads = found
    if label in ("Parquet", "Feather"):
        # Two columns of 26 are 7.7 %; footer and read-ahead come on top.
        assert 0.07 < reads.projected_share < 0.12
    else:
        assert reads.projected_share > 0.9


def test_the_command_prints_a_row_for_each_format(tmp_path):
    done = run("study", "cold-reads", "Parquet", "XYZ", "--rows", 1000, "--scratch", tmp_path)
    assert done.returncode == 0, done.stderr
    head, parquet, unknown = done.stdout.splitlines()
    assert head.split()[:3] == ["format", "warm", "cold"]
    assert parquet.startswith("Parquet")
    assert "0.0%" in parquet
    assert "there is no data format 'XYZ'" in unknown
