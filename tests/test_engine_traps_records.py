"""Traps of formats that keep one record a row, and that the adapters do not fall into them."""

from __future__ import annotations

import io

import msgpack
import numpy as np
import pandas as pd
import pytest

import data_formats
from format_bench.conformance.tables import ordinary
from format_bench.verify import verify

WITH_NOTES = ["MessagePack"]
"""Formats with a place for dtypes and the number of rows."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table"


def round_trip(label, df, path):
    adapter = data_formats.get(label)
    adapter.save(df, path)
    return adapter.read(path)


def test_a_row_beyond_the_limit_of_an_unpacker_is_read(path):
    df = pd.DataFrame({"long": ["x" * 101 * 2**20, "y"]})
    assert verify(df, round_trip("MessagePack", df, path)).exact
    with pytest.raises(msgpack.BufferFull):
        list(msgpack.Unpacker(io.BytesIO(path.read_bytes())))


def test_msgpack_stops_silently_at_half_a_row_and_the_adapter_does_not(path):
    adapter = data_formats.get("MessagePack")
    adapter.save(ordinary(), path)
    path.write_bytes(path.read_bytes()[:-1])
    assert len(list(msgpack.Unpacker(io.BytesIO(path.read_bytes())))) == 1 + len(ordinary()) - 1
    with pytest.raises(ValueError, match="the file holds 3 of 4 rows"):
        adapter.read(path)


@pytest.mark.parametrize("label", WITH_NOTES)
def test_nan_and_null_are_told_apart(label, path):
    df = pd.DataFrame(
        {
            "float": [1.5, np.nan],
            "masked": pd.array([1.5, None], "Float64"),
            "whole": pd.array([2**63 - 1, None], "Int64"),
            "text": ["", None],
            "truth": pd.array([True, None], "boolean"),
        }
    )
    assert verify(df, round_trip(label, df, path)).exact


@pytest.mark.parametrize("label", WITH_NOTES)
def test_more_rows_than_a_block_and_an_incomplete_last_one_come_back(label, path):
    df = pd.DataFrame({"row": np.arange(1_234), "text": [f"t{i}" for i in range(1_234)]})
    assert verify(df, round_trip(label, df, path)).exact


@pytest.mark.parametrize("label", WITH_NOTES)
def test_an_empty_table_keeps_its_dtypes(label, path):
    df = ordinary().astype({"whole": "int8", "real": "Float64"}).head(0)
    assert verify(df, round_trip(label, df, path)).exact
