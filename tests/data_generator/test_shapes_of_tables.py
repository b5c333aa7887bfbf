"""Tables of many columns, nested columns, logs, series and versions: the same as ever, as declared."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import data_generator
from data_generator.datasets import find
from data_generator.datasets.series import HOSTS
from data_generator.profiling.profile import profile
from data_generator.profiling.twin import twin

# Of the first 300 rows with the default seed. A change of one is a change of the data.
DIGESTS = {
    "baskets": "8c131af14d17abe5",
    "embeddings-float16": "b709f1a31c698d03",
    "embeddings-int8": "ccef79f31d2b8c11",
    "genes-1000": "1a39eafd44782fe9",
    "log-lines": "b18990b15f6fbfb2",
    "series": "4f3c40693113a702",
    "versions": "fcff22d9d4ead613",
}


def digest(df):
    table = pa.Table.from_pandas(df, preserve_index=False)
    sha = hashlib.sha256(str(table.schema.types).encode())
    for row in table.to_pylist():
        sha.update(repr([*row.values()]).encode())
    return sha.hexdigest()[:16]


@pytest.mark.parametrize("name", DIGESTS)
def test_the_data_are_the_same_as_ever(name):
    whole = data_generator.table(name, rows=300).df
    assert digest(whole) == DIGESTS[name]
    part = data_generator.table(name, rows=100).df
    pd.testing.assert_frame_equal(part, whole.head(100))
    assert not data_generator.table(name, rows=100, seed=7).df.equals(part)


@pytest.mark.parametrize("name", [each for each in DIGESTS if each != "series"])
def test_rows_do_not_depend_on_the_rows_before_them(name):
    make = find(name).make_rows
    pd.testing.assert_frame_equal(make(100, 200, 7), make(0, 200, 7).iloc[100:].reset_index(drop=True))
    assert make(0, 0, 7).shape == (0, make(0, 1, 7).shape[1])


@pytest.mark.parametrize("columns", [1_000, 10_000])
def test_most_counts_of_genes_are_zero(columns):
    df = data_generator.table(f"genes-{columns}", rows=50).df
    assert df.shape == (50, columns)
    assert df["barcode"].str.fullmatch("[ACGT]{16}").all()
    counts = df.drop(columns="barcode").to_numpy()
    assert counts.dtype == np.int32
    assert (counts > 0).mean() == pytest.approx(0.062, abs=0.003)
    # Few genes make most of the counts.
    assert np.sort(counts.sum(axis=0))[-columns // 20 :].sum() > 0.5 * counts.sum()


def test_baskets_have_the_sizes_of_instacarts():
    df = data_generator.table("baskets", rows=5_000).df
    sizes = df["items"].list.len()
    assert sizes.mean() == pytest.approx(10.1, abs=0.3)
    assert sizes.median() in {8, 9}  # half of the baskets, 50.1 %, have at most 8
    items = df["items"].list.flatten().struct
    assert items.field("product").value_counts(normalize=True).iloc[0] == pytest.approx(
        0.0132, abs=0.003
    )
    cents = (items.field("price").astype("float64") * 100).round() * items.field("quantity")
    assert cents.groupby(level=0).sum().tolist() == [int(each * 100) for each in df["total"]]
    maps = df["options"].array.__arrow_array__().combine_chunks()
    entries = [dict(each) for each in maps.to_pylist()]
    assert sum(map(len, entries)) == len(maps.keys)  # no key is in a map twice


def test_lines_of_a_log_have_the_shares_of_levels_and_blocks_of_hdfs():
    df = data_generator.table("log-lines", rows=20_000).df
    assert df["time"].is_monotonic_increasing
    levels = df["level"].value_counts(normalize=True)
    assert levels["INFO"] == pytest.approx(0.97, abs=0.01)
    blocks = df["message"].str.extract(r"blk_(\d+)")[0]
    assert blocks.notna().all()
    assert len(df) / blocks.nunique() == pytest.approx(19, abs=0.5)
    shown = df["time"].dt.strftime("%y%m%d %H%M%S ") + df["thread"].astype("str")
    lines = shown + " " + df["level"] + " " + df["source"] + ": " + df["message"]
    assert lines.str.len().mean() == pytest.approx(130, abs=10)


def test_series_are_walks_of_steps_of_one():
    df = data_generator.table("series", rows=100 * HOSTS).df
    assert df["host"].nunique() == HOSTS
    assert df["time"].is_monotonic_increasing
    own = df[df["host"] == "host_7"]
    assert own["time"].diff().dropna().unique() == pd.Timedelta(seconds=10)
    assert own[["region", "service"]].nunique().tolist() == [1, 1]
    measures = df.filter(like="usage_").to_numpy().reshape(100, HOSTS, -1)
    assert measures.min() >= 0
    assert measures.max() <= 100
    assert np.diff(measures, axis=0).std() == pytest.approx(1, abs=0.05)


def test_versions_of_a_product_follow_each_other():
    df = data_generator.table("versions", rows=6_000).df
    assert df["is_current"].mean() == 0.5
    assert df["product"].value_counts().value_counts().to_dict() == {1: 1_000, 2: 1_000, 3: 1_000}
    assert df["valid_to"].isna().equals(df["is_current"])
    later = df["product"].eq(df["product"].shift())
    gaps = pd.to_datetime(df["valid_from"]) - pd.to_datetime(df["valid_to"].shift())
    assert (gaps[later] == pd.Timedelta(days=1)).all()
    kept = (df["price"] == df["price"].shift())[later].mean()
    assert kept == pytest.approx(0.5, abs=0.05)


def test_twins_keep_the_types_of_nested_columns():
    df = data_generator.table("baskets", rows=400).df
    df["vector"] = data_generator.table("embeddings-int8", rows=400).df["embedding"]
    found = twin(profile(df[["items", "options", "address", "vector"]], keep_names=True), df)
    kinds = {name: str(found.df[name].dtype) for name in found.df}
    assert kinds["vector"] == str(df["vector"].dtype)
    assert kinds["options"].startswith("map<")
    assert kinds["address"].startswith("struct<town:")
    assert kinds["items"].startswith("large_list<item: struct<product: int32")
    sizes = [each["options"].array.__arrow_array__().combine_chunks() for each in (df, found.df)]
    mean, of_twin = (len(each.keys) / len(each) for each in sizes)
    assert of_twin == pytest.approx(mean, rel=0.15)
    assert all(len(dict(each)) == len(each) for each in sizes[1].to_pylist())
