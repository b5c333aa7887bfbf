"""Long tables of indexes and values in Parquet."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import array_stores


@pytest.mark.parametrize("label", ["Parquet[polars]", "Parquet[duckdb]"])
def test_row_groups_contain_runs_of_small_chunks(label: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), tmp_path / "saved.parquet"
    saved = np.random.default_rng(0).random((8, 200, 300), np.float32)
    store.save(saved, path, (1, 50, 100))
    metadata = pq.read_metadata(path)
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    assert rows[0] == rows[1] == 135_000
    assert sum(rows) == saved.size
    with store.open(path) as reader:
        assert reader.chunks == (1, 50, 100)
        for selection in ((slice(1, 7), slice(40, 170), slice(99, 201)), (slice(3, 4),)):
            assert np.array_equal(reader.read(selection), saved[selection])


@pytest.mark.parametrize("label", ["Parquet[polars]", "Parquet[duckdb]"])
def test_large_chunks_are_row_groups(label: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), tmp_path / "saved.parquet"
    store.save(np.zeros((3, 400, 500), np.float32), path, (1, 400, 500))
    assert pq.read_metadata(path).num_row_groups == 3
    assert pq.read_table(path).column_names == ["dim_0", "dim_1", "dim_2", "values"]
    assert [str(each) for each in pq.read_schema(path).types] == ["int32"] * 3 + ["float"]
