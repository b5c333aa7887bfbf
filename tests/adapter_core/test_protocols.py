"""Protocols of adapters: which of them an adapter meets follows from its bases, or from its hooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import array_stores
import data_formats
from adapter_core import (
    PARTIAL_READS,
    Appendable,
    ArrayStore,
    BatchedReads,
    Changeable,
    ColumnReads,
    DataFormat,
    Feature,
    FilteredReads,
    PartialReads,
    Partitions,
    Predicate,
    RemoteArray,
    RemoteFile,
    RemoteTable,
    RowReads,
    Streams,
    Trait,
    Tunable,
    UnsupportedError,
)
from adapter_core.predicate import Comparison

TABLE = pd.DataFrame({"n": [3, 1, 2], "x": [0.5, 1.5, 2.5]})


class Plain(DataFormat):
    """A format of one concern: it saves and reads whole tables."""

    label, suffix, requires = "Plain", ".pkl", ("pandas",)

    def _save(self, df, path):
        df.to_pickle(path)

    def _read(self, path, columns):
        df = pd.read_pickle(path)
        return df if columns is None else df[columns]


class Declared(Plain):
    """A format as the guide described it until version 0.1: features, and hooks of all concerns."""

    label = "Declared"
    supports = frozenset({Feature.COLUMNS, Feature.ROWS, Feature.BATCHES})
    save_schemes = ("s3",)

    def _column_names(self, path):
        return list(pd.read_pickle(path))

    def _batches(self, path, columns, batch_rows):
        df = self._read(path, columns)
        for start in range(0, len(df), batch_rows):
            yield df[start : start + batch_rows].reset_index(drop=True)

    def _save_batches(self, batches, path):
        pd.concat(list(batches), ignore_index=True).to_pickle(path)

    def _save_tuned(self, df, path, sort_by, lookups):
        df.assign(order=range(len(df)), keys=len(sort_by + lookups)).to_pickle(path)


def test_a_plain_format_meets_no_protocol_and_refuses_each(tmp_path):
    adapter, path = Plain(), tmp_path / "file"
    adapter.save(TABLE, path)
    assert adapter.supports == frozenset()
    protocols = (ColumnReads, RowReads, FilteredReads, BatchedReads, Streams, RemoteTable, Tunable)
    assert not isinstance(adapter, (*protocols, Partitions, Changeable))
    refused: dict[Feature, Callable[[], Any]] = {
        Feature.COLUMNS: lambda: adapter.read(path, ["n"]),
        Feature.ROWS: lambda: adapter.read(path, rows=slice(1)),
        Feature.FILTER: lambda: adapter.read(path, rows=Predicate([Comparison("n", "==", 1)])),
        Feature.BATCHES: lambda: adapter.iterate(path),
        Feature.STREAMS: lambda: adapter.save_batches([TABLE], tmp_path / "other"),
        Feature.REMOTE: lambda: adapter.read_remote(RemoteFile("s3://bucket/key")),
        Feature.REMOTE_SAVE: lambda: adapter.save_remote(TABLE, RemoteFile("s3://bucket/key")),
    }
    assert set(refused) == set(Feature)
    for feature, call in refused.items():
        with pytest.raises(UnsupportedError, match=f"Plain has no {feature}: it "):
            call()


def test_a_plain_format_offers_all_that_saves_and_reads_are_enough_for(tmp_path):
    adapter, path = Plain(), tmp_path / "file"
    adapter.save_tuned(TABLE, path, ["n"])
    assert adapter.read(path)["n"].tolist() == [1, 2, 3]
    assert adapter.tuning() == "rows sorted"
    assert adapter.count_rows(path) == 3
    assert adapter.sum_columns(path, ["x"]).sums == {"x": 4.5}
    assert adapter.read_arrays(path, ["n"])["n"].tolist() == [1, 2, 3]
    table = adapter.partitioned(tmp_path / "parts")
    table.create()
    table.commit([table.write(0, TABLE)])
    assert table.read(table.pieces()[0]).equals(TABLE)


def test_hooks_and_features_of_other_packages_name_the_protocols(tmp_path):
    adapter, path = Declared(), tmp_path / "file"
    protocols = (ColumnReads, RowReads, BatchedReads, Streams, Tunable, RemoteTable)
    assert all(isinstance(adapter, each) for each in protocols)
    assert not isinstance(adapter, (FilteredReads, Partitions))
    lacking = {Feature.FILTER, Feature.REMOTE}
    assert adapter.supports == frozenset(Feature) - lacking
    adapter.save_batches([TABLE, TABLE], path)
    assert adapter.count_rows(path) == 6
    assert adapter.read(path, ["x"], slice(1, 5))["x"].tolist() == [1.5, 2.5, 0.5, 1.5]
    assert [len(df) for df in adapter.iterate(path, batch_rows=4)] == [4, 2]
    adapter.save_tuned(TABLE, path, ["n"])
    assert adapter.read(path, ["order", "n"]).to_numpy().tolist() == [[0, 1], [1, 2], [2, 3]]
    with pytest.raises(UnsupportedError, match="Declared has no row filters: it reads all rows"):
        adapter.read(path, rows=Predicate([Comparison("n", "==", 1)]))
    with pytest.raises(UnsupportedError, match="Declared writes s3://, not http://"):
        adapter.save_remote(TABLE, RemoteFile("http://host/key"))


def test_the_declared_features_of_a_subclass_are_narrower():
    class Narrow(Declared):
        supports = frozenset({Feature.ROWS})

    assert Narrow().supports & PARTIAL_READS == {Feature.ROWS}
    assert Feature.STREAMS in Narrow().supports
    with pytest.raises(UnsupportedError, match="has no column projection"):
        Narrow().read(Path(__file__), ["n"])


def test_a_derived_format_equals_a_declared_one():
    class Derived(PartialReads, Streams, Plain):
        def _column_names(self, path):
            return list(pd.read_pickle(path))

        def _save_batches(self, batches, path):
            raise NotImplementedError

    assert Derived().supports == PARTIAL_READS | {Feature.STREAMS}


def test_protocols_are_abstract():
    class Forgetful(Streams, Plain):
        pass

    with pytest.raises(TypeError, match="_save_batches"):
        Forgetful()


def test_array_stores_name_their_protocols_by_hooks():
    class Toy(ArrayStore):
        label, suffix, requires = "Toy", ".toy", ("numpy",)
        remote_schemes = ("s3",)

        def _save(self, source, path):
            np.save(path, source.whole())

        def _open(self, path):
            raise NotImplementedError

        def _save_remote(self, source, file):
            raise NotImplementedError

        def _open_remote(self, file):
            raise NotImplementedError

        def _append(self, source, path):
            raise NotImplementedError

    assert isinstance(Toy(), RemoteArray)
    assert isinstance(Toy(), Appendable)
    assert not isinstance(Toy(), Partitions)


def test_all_adapters_derive_from_the_protocols_of_their_facts():
    for name in data_formats.names():
        adapter = data_formats.find(name)
        assert isinstance(adapter, RemoteTable) == bool(adapter.remote_schemes + adapter.save_schemes)
        assert bool(adapter.tuned_options) <= isinstance(adapter, Tunable), name
    for name in array_stores.names():
        store = array_stores.find(name)
        assert isinstance(store, RemoteArray) == bool(store.remote_schemes), name
        assert isinstance(store, Appendable) == (Trait.APPEND in (store.traits or ())), name
