"""Traits of formats, as far as their files can prove them."""

from __future__ import annotations

from pathlib import Path

import fastavro
import lance
import pandas as pd
import pyarrow as pa
import pytest
import tables

import data_formats
from adapter_core.traits import Trait
from data_formats import hdf5_fixed, hdf5_table
from format_bench.conformance.tables import ordinary
from tests.helpers import chosen


class Bomb:
    """Object that writes a file into the working directory when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("exploded"),)


@pytest.fixture(params=chosen(data_formats, __name__))
def adapter(request):
    found = data_formats.find(request.param)
    answer = found.availability()
    if not answer:
        pytest.skip(f"{request.param}: {answer.reason}")
    return found


@pytest.fixture
def path(adapter, tmp_path):
    return tmp_path / f"table{adapter.suffix}"


@pytest.mark.parametrize("label", data_formats.names())
def test_every_format_declares_its_traits(label):
    assert data_formats.find(label).traits is not None


def test_formats_of_other_languages_run_no_code_of_python(adapter):
    assert Trait.PORTABLE not in adapter.traits or Trait.SAFE in adapter.traits


def test_one_file_is_a_file_and_not_a_directory(adapter, path):
    adapter.save(ordinary(), path)
    assert path.is_file() is (Trait.SINGLE_FILE in adapter.traits)


def test_text_is_text_that_shows_the_values(adapter, path):
    adapter.save(ordinary(), path)
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    try:
        text = "".join(file.read_text(encoding="utf-8") for file in files)
    except UnicodeDecodeError:
        text = ""
    shown = [str(each) in text for each in ordinary()["whole"]]
    assert all(shown) is (Trait.TEXT in adapter.traits)


@pytest.mark.parametrize("label", ["HDF5.fixed", "HDF5.table", "Pickle"])
def test_unsafe_formats_run_code_of_the_file(label, tmp_path, monkeypatch):
    adapter = data_formats.get(label)
    path = tmp_path / f"table{adapter.suffix}"
    adapter.save(ordinary(), path)
    assert Trait.SAFE not in adapter.traits
    monkeypatch.chdir(tmp_path)
    if label == "Pickle":
        pd.to_pickle(Bomb(), path)
    else:
        key = hdf5_fixed.KEY if label == "HDF5.fixed" else hdf5_table.KEY
        with tables.open_file(path, "a") as file:
            name = "encoding" if label == "HDF5.fixed" else "info"
            file.root[key]._v_attrs[name] = Bomb()
    assert not Path("exploded").exists()
    try:
        adapter.read(path)
    except Exception as error:
        assert str(error)
    assert Path("exploded").exists()


def test_the_names_of_columns_in_hdf5_are_pickled(tmp_path):
    path = tmp_path / "table.h5"
    data_formats.get("HDF5.table").save(ordinary(), path)
    with tables.open_file(path) as file:
        names = file.root[hdf5_table.KEY]._v_attrs.non_index_axes
    assert names == [(1, list(ordinary().columns))]
    assert b"non_index_axes" in path.read_bytes()
    assert b"(lp0\n(I1\n(lp1\n" in path.read_bytes()


def _append_lines(adapter, path, df):
    more = path.with_name("more")
    adapter.save(df, more)
    lines = more.read_bytes()
    with path.open("ab") as file:
        file.write(lines if adapter.label == "JSON" else lines[lines.index(b"\n") + 1 :])
    return adapter.read(path)


def _append_rows_of_hdf5(adapter, path, df):
    options = {"format": "table", "index": False, "nan_rep": hdf5_table.NULL}
    df.to_hdf(path, key=hdf5_table.KEY, append=True, **options)
    return adapter.read(path)


def _append_fragment(adapter, path, df):
    lance.write_dataset(pa.Table.from_pandas(df, preserve_index=False), path, mode="append")
    return adapter.read(path)


def _append_block(_, path, df):
    with path.open("a+b") as file:
        fastavro.writer(file, None, df.to_dict("records"))
    with path.open("rb") as file:
        return pd.DataFrame(list(fastavro.reader(file)))


@pytest.mark.parametrize(
    ("label", "append"),
    [
        ("CSV", _append_lines),
        ("JSON", _append_lines),
        ("HDF5.table", _append_rows_of_hdf5),
        ("Lance", _append_fragment),
        ("Avro", _append_block),
    ],
)
def test_rows_are_appended(label, append, tmp_path):
    adapter = data_formats.get(label)
    path = tmp_path / f"table{adapter.suffix}"
    df = ordinary()
    adapter.save(df, path)
    twice = append(adapter, path, df)
    pd.testing.assert_frame_equal(twice, pd.concat([df, df], ignore_index=True), check_dtype=False)
    assert Trait.APPEND in adapter.traits
