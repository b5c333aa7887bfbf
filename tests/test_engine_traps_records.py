"""Traps of formats that keep one record a row, and that the adapters do not fall into them."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal

import cbor2
import msgpack
import numpy as np
import pandas as pd
import pytest

import data_formats
from format_bench.conformance.tables import ordinary
from format_bench.verify import verify

WITH_NOTES = ["CBOR", "MessagePack"]
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


def test_what_is_no_messagepack_is_told(path):
    path.write_bytes(b"\xc1")
    with pytest.raises(ValueError, match="holds what is no MessagePack: FormatError"):
        data_formats.get("MessagePack").read(path)


def test_floats_that_another_writer_of_cbor_made_shorter_are_64_bit_ones(path):
    df = pd.DataFrame({"real": [1.5, np.nan, np.inf, -0.0, 0.1, 1e300]})
    adapter = data_formats.get("CBOR")
    adapter.save(df, path)
    with path.open("rb") as file:
        items = [cbor2.load(file), cbor2.load(file)]
    shortened = b"".join(cbor2.dumps(item, canonical=True) for item in items)
    assert len(shortened) < path.stat().st_size
    path.write_bytes(shortened)
    assert verify(df, adapter.read(path)).exact


def test_cbor_has_dates_and_decimals(path):
    dates = pd.Series([dt.date(1, 1, 1), None, dt.date(9999, 12, 31)], dtype=object)
    decimals = pd.Series([Decimal("1.10"), None, Decimal("-1e-40")], dtype=object)
    df = pd.DataFrame({"date": dates, "decimal": decimals})
    assert verify(df, round_trip("CBOR", df, path)).exact


def test_a_cbor_file_cut_between_two_items_is_noticed(path):
    adapter = data_formats.get("CBOR")
    adapter.save(pd.DataFrame({"row": range(1_000)}), path)
    with path.open("rb") as file:
        items = [cbor2.load(file) for _ in range(3)]
    path.write_bytes(b"".join(map(cbor2.dumps, items[:2])))
    with pytest.raises(ValueError, match="the file holds 500 of 1,000 rows"):
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
