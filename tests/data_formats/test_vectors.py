"""Vectors, lists of one length, in formats of arrays and of messages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import data_formats
import data_generator
from adapter_core import CannotHoldError, Feature
from format_bench.verification.tables import verify

ARRAYS = ["Blosc2", "HDF5.rows[h5py]", "HDF5[h5py]", "NPZ", "Zarr"]
FORMATS = [*ARRAYS, "Protobuf", "Protobuf.messages"]


def column(dtype, values):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, dtype)))


def adapter_of(label):
    adapter = data_formats.find(label)
    if not (answer := adapter.availability()):
        pytest.skip(answer.reason)
    return adapter


def read_back(label, df, path, **options):
    adapter = adapter_of(label)
    adapter.save(df, path / f"data{adapter.suffix}")
    return adapter.read(path / f"data{adapter.suffix}", **options)


def assert_same(df, found):
    diff = verify(df, found)
    assert (diff.errors, diff.losses) == ((), ())


@pytest.mark.parametrize("label", FORMATS)
@pytest.mark.parametrize("of", ["int8", "uint8", "int64", "uint64", "halffloat", "float", "double"])
def test_numbers_of_each_type_come_back(label, of, tmp_path):
    dtype = pa.list_(pa.field("element", pa.type_for_alias(of)), 2)
    values = [[0, 1], [2, 127], [3, 4]]
    df = pd.DataFrame({"vector": column(dtype, values), "text": ["same", "size", "text"]})
    assert_same(df, read_back(label, df, tmp_path))


@pytest.mark.parametrize("label", FORMATS)
def test_embeddings_come_back(label, tmp_path):
    df = data_generator.table("embeddings", rows=300).df
    assert_same(df, read_back(label, df, tmp_path))


@pytest.mark.parametrize("label", ARRAYS)
def test_a_vector_may_be_null(label, tmp_path):
    df = pd.DataFrame({"vector": column(pa.list_(pa.float32(), 2), [None, [1.5, np.nan], [-0.0, 2]])})
    assert_same(df, read_back(label, df, tmp_path))


@pytest.mark.parametrize("label", FORMATS)
def test_rows_without_any(label, tmp_path):
    df = pd.DataFrame({"vector": column(pa.list_(pa.float32(), 2), [])})
    assert_same(df, read_back(label, df, tmp_path))


@pytest.mark.parametrize("label", ["HDF5[h5py]", "NPZ", "Zarr"])
def test_parts_of_vectors(label, tmp_path):
    df = data_generator.table("embeddings", rows=40).df
    if Feature.ROWS in adapter_of(label).supports:
        found = read_back(label, df, tmp_path, columns=["embedding"], rows=slice(7, 21))
        assert_same(df[["embedding"]].iloc[7:21].reset_index(drop=True), found)


@pytest.mark.parametrize("label", FORMATS)
@pytest.mark.parametrize(
    ("dtype", "values", "contents"),
    [
        (pa.list_(pa.float32(), 2), [[1.0, None]], "lists of one length with nulls"),
        (pa.list_(pa.string(), 1), [["a"]], "lists of one length with values that are no numbers"),
        (pa.list_(pa.int8(), 0), [[]], "lists of one length with no values"),
    ],
)
def test_other_contents_are_refused(label, dtype, values, contents):
    with pytest.raises(CannotHoldError, match=f"column 'vector' contains {contents}"):
        adapter_of(label).check(pd.DataFrame({"vector": column(dtype, values)}))


@pytest.mark.parametrize("label", ["Protobuf", "Protobuf.messages"])
def test_a_repeated_field_is_never_null(label):
    with pytest.raises(CannotHoldError, match="a repeated field is empty, and never null"):
        adapter_of(label).check(pd.DataFrame({"v": column(pa.list_(pa.int8(), 1), [None])}))
