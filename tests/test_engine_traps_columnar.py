"""Traps of engines that keep columns or databases: that they are real, and that adapters avoid them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import data_formats
from format_bench.verify import verify

WORDS = [f"word {i}" for i in range(1_000)]

LOOK = """
import sys
import pyarrow as pa
with pa.OSFile(sys.argv[1]) as file, pa.ipc.open_stream(file) as reader:
    words = reader.read_all()["word"].to_pandas()
print(words.iloc[-1])
"""


def _saved(label, df, folder):
    adapter = data_formats.get(label)
    path = folder / f"table{adapter.suffix}"
    adapter.save(df, path)
    return adapter, path


def test_an_ipc_stream_whose_offsets_leave_its_text_is_refused(tmp_path):
    adapter, path = _saved("IPC.stream", pd.DataFrame({"word": WORDS}), tmp_path)
    data = bytearray(path.read_bytes())
    last = np.int64(sum(map(len, WORDS))).tobytes()
    place = data.rindex(last)
    data[place : place + 8] = np.int64(2**40).tobytes()
    path.write_bytes(data)
    naive = subprocess.run([sys.executable, "-c", LOOK, path], capture_output=True, check=False)
    assert naive.returncode < 0, "it would have crashed"
    with pytest.raises(pa.ArrowInvalid, match="offset"):
        adapter.read(path)


def test_an_ipc_stream_cut_between_two_batches_is_refused(tmp_path):
    half = pd.Series(pd.array(pa.chunked_array([WORDS, WORDS], pa.large_string()), "str"))
    adapter, path = _saved("IPC.stream", half.to_frame("word"), tmp_path)
    with pa.OSFile(str(path)) as file:
        message = pa.ipc.read_message
        lengths = [(message(file), file.tell())[1] for _ in range(3)]
    path.write_bytes(path.read_bytes()[: lengths[1]])
    with pa.OSFile(str(path)) as file:
        assert len(pa.ipc.open_stream(file).read_all()) == len(WORDS), "it reads as a shorter table"
    with pytest.raises(ValueError, match=r"table\.arrows is cut short"):
        adapter.read(path)


@pytest.mark.parametrize("label", ["Feather[polars]"])
def test_integers_among_nulls_are_not_made_floats(label, tmp_path):
    df = pd.DataFrame(
        {"n": pd.array([2**62 + 1, None], "Int64"), "b": pd.array([True, None], "boolean")}
    )
    assert pl.DataFrame(pa.Table.from_pandas(df)).to_pandas()["n"].dtype == float
    adapter, path = _saved(label, df, tmp_path)
    assert verify(df, adapter.read(path)).exact


def test_parquet_of_polars_keeps_what_pandas_notes(tmp_path):
    df = pd.DataFrame(
        {
            "n": pd.array([1, None], "Int8"),
            "t": pd.Series(pd.to_datetime(["2020-01-01", None])).dt.as_unit("s"),
            "p": pd.period_range("2020-01", periods=2, freq="M"),
        }
    )
    adapter, path = _saved("Parquet[polars]", df, tmp_path)
    assert verify(df, adapter.read(path)).exact
    assert verify(df[["t"]], adapter.read(path, ["t"])).exact
    others = verify(df, pd.read_parquet(path))
    assert others.errors == ()
    assert others.lost_columns == 2
