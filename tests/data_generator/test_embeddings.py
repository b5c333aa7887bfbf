"""The data set of embeddings: reproducible, of unit length, in clusters of similar texts."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import data_generator
from data_generator.datasets.embeddings import CATEGORIES, DIMENSIONS, FEWEST_WORDS, MOST_WORDS

# Of the first 500 rows with the default seed. A change of it is a change of the data.
DIGEST = "f7e25490b2ccd6ab"


@pytest.fixture(scope="module")
def table():
    return data_generator.table("embeddings", rows=2_000).df


def vectors(df):
    array = df["embedding"].array.__arrow_array__().combine_chunks()
    return array.flatten().to_numpy().reshape(len(df), DIMENSIONS)


def test_the_data_are_the_same_as_ever(table):
    first = table.head(500)
    sha = hashlib.sha256(first.drop(columns="embedding").to_csv(index=False).encode())
    sha.update(vectors(first).astype("<f4").tobytes())
    assert sha.hexdigest()[:16] == DIGEST


def test_name_rows_and_seed_decide(table):
    pd.testing.assert_frame_equal(data_generator.table("embeddings", rows=300).df, table.head(300))
    other = data_generator.table("embeddings", rows=300, seed=7).df
    assert not np.array_equal(vectors(other), vectors(table.head(300)))
    blocks = list(data_generator.blocks("embeddings", rows=300, block_rows=128))
    assert [len(each) for each in blocks] == [128, 128, 44]
    pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), table.head(300))


def test_columns(table):
    assert table["embedding"].dtype == pd.ArrowDtype(pa.list_(pa.float32(), DIMENSIONS))
    assert table["id"].to_list() == list(range(2_000))
    assert set(table["category"]) == set(CATEGORIES)
    words = table["text"].str.split(" ").str.len()
    assert (words.min(), words.max()) == (FEWEST_WORDS, MOST_WORDS)


def test_vectors_are_of_unit_length_and_gather_in_clusters(table):
    found = vectors(table).astype(float)
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6
    cosines = found @ found.T
    np.fill_diagonal(cosines, 0)
    nearest = cosines.max(axis=1)
    # Neighbours share their cluster, and so their category; other texts have nothing in common.
    assert 0.5 < np.median(nearest) < 0.8
    assert abs(np.median(cosines)) < 0.05
    categories = table["category"].to_numpy()
    same = categories[cosines.argmax(axis=1)] == categories
    assert same.mean() > 0.95
