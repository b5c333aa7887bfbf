"""Traps in columnar engines: each is real, and the adapter avoids it."""

from __future__ import annotations

import subprocess
import sys

import deltalake
import fastavro
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import tsfile
import vortex
from pyiceberg.io.pyarrow import UnsupportedPyArrowTypeException, pyarrow_to_schema
from pyiceberg.table import StaticTable

import data_formats
from adapter_core import CannotHoldError, Comparison, Predicate
from adapter_core.kinds import Kind
from data_formats.iceberg import FIELD_ID, opened_table
from format_bench.verification.tables import verify
from tests.factories.trap_tables import TIMEDELTAS, saved

WORDS = [f"word {i}" for i in range(1_000)]

LOOK = """
import sys
import pyarrow as pa
with pa.OSFile(sys.argv[1]) as file, pa.ipc.open_stream(file) as reader:
    words = reader.read_all()["word"].to_pandas()
print(words.iloc[-1])
"""


def test_an_ipc_stream_whose_offsets_leave_its_text_is_refused(tmp_path):
    adapter, path = saved("IPC.stream", pd.DataFrame({"word": WORDS}), tmp_path)
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
    adapter, path = saved("IPC.stream", half.to_frame("word"), tmp_path)
    with pa.OSFile(str(path)) as file:
        message = pa.ipc.read_message
        lengths = [(message(file), file.tell())[1] for _ in range(3)]
    path.write_bytes(path.read_bytes()[: lengths[1]])
    with pa.OSFile(str(path)) as file:
        assert len(pa.ipc.open_stream(file).read_all()) == len(WORDS), "it reads as a shorter table"
    with pytest.raises(ValueError, match=r"table\.arrows is cut short"):
        adapter.read(path)


@pytest.mark.parametrize(
    "label", ["Avro[polars]", "Delta", "DuckDB", "Feather[polars]", "Iceberg", "Vortex"]
)
def test_integers_among_nulls_are_not_made_floats(label, tmp_path):
    df = pd.DataFrame(
        {"n": pd.array([2**62 + 1, None], "Int64"), "b": pd.array([True, None], "boolean")}
    )
    assert pl.DataFrame(pa.Table.from_pandas(df)).to_pandas()["n"].dtype == float
    adapter, path = saved(label, df, tmp_path)
    assert verify(df, adapter.read(path)).exact


def test_parquet_of_polars_keeps_the_pandas_metadata(tmp_path):
    df = pd.DataFrame(
        {
            "n": pd.array([1, None], "Int8"),
            "t": pd.Series(pd.to_datetime(["2020-01-01", None])).dt.as_unit("s"),
            "p": pd.period_range("2020-01", periods=2, freq="M"),
        }
    )
    adapter, path = saved("Parquet[polars]", df, tmp_path)
    assert verify(df, adapter.read(path)).exact
    assert verify(df[["t"]], adapter.read(path, ["t"])).exact
    others = verify(df, pd.read_parquet(path))
    assert others.errors == ()
    assert others.lost == 2


def _rows_of_avro(path):
    with path.open("rb") as file:
        return list(fastavro.reader(file))


def test_polars_writes_no_small_integers_to_avro_and_the_adapter_larger_ones(tmp_path):
    df = pd.DataFrame({name: np.array([0, 1], name) for name in ("int8", "uint8", "uint16", "uint32")})
    with pytest.raises(pl.exceptions.ComputeError, match="write UInt8 to avro"):
        pl.from_pandas(df[["uint8"]]).write_avro(tmp_path / "naive.avro")
    adapter, path = saved("Avro[polars]", df, tmp_path)
    verdict = verify(df, adapter.read(path))
    assert verdict.errors == ()
    assert verdict.losses[-1] == "column uint32: uint32 came back as int64"
    assert _rows_of_avro(path) == df.to_dict("records")
    large = pd.DataFrame({"n": np.array([2**63], "uint64")})
    with pytest.raises(CannotHoldError, match=r"beyond Avro's long, 2\*\*63 - 1"):
        adapter.check(large)


def test_polars_makes_every_field_of_avro_nullable(tmp_path):
    df = pd.DataFrame({"a": np.arange(10_000), "b": ["x"] * 10_000})
    _, path = saved("Avro[polars]", df, tmp_path)
    with path.open("rb") as file:
        fields = fastavro.reader(file).writer_schema["fields"]
    assert [field["type"] for field in fields] == [["null", "long"], ["null", "string"]]
    fast, fast_path = data_formats.get("Avro"), tmp_path / "fast.avro"
    fast.save(df, fast_path)
    longest_metadata = 2_000
    assert path.stat().st_size > fast_path.stat().st_size + 2 * len(df) - longest_metadata


def test_avro_of_polars_is_cut_nowhere_without_notice(tmp_path):
    pieces = pd.Series(pd.array(pa.chunked_array([["a"], ["b", "c"]], pa.large_string()), "str"))
    df = pd.DataFrame({"a": [1, 2, 3], "b": pieces})
    adapter, path = saved("Avro[polars]", df, tmp_path)
    data = path.read_bytes()
    head = data.index(data[-16:]) + 16
    path.write_bytes(data[:head])
    assert len(pl.read_avro(path)) == 0, "it reads as an empty table"
    for end in range(len(data)):
        path.write_bytes(data[:end])
        with pytest.raises(Exception, match=r"\w"):
            adapter.read(path)


def test_rows_are_appended_to_avro_of_polars_unless_it_ends_at_an_empty_block(tmp_path):
    df = pd.DataFrame({"a": [1, 2, 3]})
    adapter, path = saved("Avro[polars]", df, tmp_path)
    _append_to_avro(path, df)
    assert adapter.read(path)["a"].tolist() == [1, 2, 3, 1, 2, 3]
    adapter.save(df.head(0), path)
    _append_to_avro(path, df)
    assert len(_rows_of_avro(path)) == len(df)
    assert len(pl.read_avro(path)) == 0, "it reads as an empty table"
    with pytest.raises(ValueError, match="no empty block ends it"):
        adapter.read(path)


def _append_to_avro(path, df):
    with path.open("a+b") as file:
        fastavro.writer(file, None, df.to_dict("records"))


@pytest.mark.parametrize("label", ["Feather[polars]", "Parquet[polars]"])
def test_a_time_zone_without_a_name_is_refused_by_polars(label, tmp_path):
    df = pd.DataFrame({"t": pd.to_datetime(["2020-01-01"]).tz_localize("+05:30")})
    with pytest.raises(pl.exceptions.ComputeError, match="unable to parse time zone"):
        pl.DataFrame(pa.Table.from_pandas(df))
    with pytest.raises(CannotHoldError, match="time zone of column 't' is an offset"):
        saved(label, df, tmp_path)


def test_vortex_takes_no_timedeltas_and_the_adapter_refuses_them(tmp_path):
    with pytest.raises(TypeError, match="Expected an object"):
        vortex.io.write(pa.Table.from_pandas(TIMEDELTAS), str(tmp_path / "naive.vortex"))
    with pytest.raises(
        CannotHoldError, match="column 'd' contains timedeltas; Vortex takes none from Arrow"
    ):
        data_formats.get("Vortex").check(TIMEDELTAS)


def test_delta_takes_no_timedeltas_and_the_adapter_refuses_them(tmp_path):
    with pytest.raises(Exception, match="Invalid data type for Delta Lake: Duration"):
        deltalake.write_deltalake(tmp_path / "naive", pa.Table.from_pandas(TIMEDELTAS))
    with pytest.raises(CannotHoldError, match="column 'd' contains timedeltas; Delta Lake has no type"):
        data_formats.get("Delta").check(TIMEDELTAS)


def test_delta_cuts_nanoseconds_off_without_a_word(tmp_path):
    times = pa.table({"t": pa.array([1_001], pa.timestamp("ns"))})
    deltalake.write_deltalake(tmp_path / "naive", times)
    (read,) = deltalake.DeltaTable(tmp_path / "naive").to_pyarrow_table()["t"].to_pylist()
    assert read == pd.Timestamp(1_000, unit="ns")


def test_large_unsigned_integers_are_kept_by_delta_as_wider_signed_ones(tmp_path):
    df = pd.DataFrame({"n": np.array([255], "uint8")})
    with pytest.raises(Exception, match="Can't cast value 255 to type Int8"):
        deltalake.write_deltalake(tmp_path / "naive", pa.Table.from_pandas(df))
    adapter, path = saved("Delta", df, tmp_path)
    assert verify(df, adapter.read(path)).losses == ("column n: uint8 came back as int16",)


def test_rows_are_appended_to_delta_and_it_may_be_moved(tmp_path):
    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    adapter, path = saved("Delta", df, tmp_path)
    deltalake.write_deltalake(path, pa.Table.from_pandas(df), mode="append")
    moved = path.rename(tmp_path / "moved.delta")
    assert verify(pd.concat([df, df], ignore_index=True), adapter.read(moved)).exact


def test_fastparquet_drops_nanoseconds_of_timedeltas_which_the_adapter_refuses(tmp_path):
    naive = tmp_path / "naive.parquet"
    fastparquet.write(str(naive), TIMEDELTAS)
    with naive.open("rb") as file:
        assert fastparquet.ParquetFile(file).to_pandas()["d"][0] == pd.Timedelta(1_000, unit="ns")
    with pytest.raises(CannotHoldError, match="column 'd' contains timedeltas; fastparquet cuts off"):
        data_formats.get("Parquet[fastparquet]").check(TIMEDELTAS)


def test_datetimes_in_seconds_are_written_by_fastparquet_in_milliseconds(tmp_path):
    df = pd.DataFrame({"t": pd.to_datetime(["2020-01-01", None]).as_unit("s")})
    naive = tmp_path / "naive.parquet"
    fastparquet.write(str(naive), df)
    with naive.open("rb") as file, pytest.raises(ValueError, match="Cannot losslessly cast"):
        fastparquet.ParquetFile(file).to_pandas()
    adapter, path = saved("Parquet[fastparquet]", df, tmp_path)
    assert verify(df, adapter.read(path)).errors == ()


def test_rows_are_appended_to_parquet_of_fastparquet(tmp_path):
    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    adapter, path = saved("Parquet[fastparquet]", df, tmp_path)
    rows = path.read_bytes()[:-8]
    fastparquet.write(str(path), df, append=True)
    assert path.read_bytes()[:20] == rows[:20]
    assert verify(pd.concat([df, df], ignore_index=True), adapter.read(path)).exact


def test_kinds_without_a_type_of_iceberg_are_refused():
    naive = pa.schema([pa.field("d", pa.duration("ns"), metadata={FIELD_ID: "1"})])
    with pytest.raises(UnsupportedPyArrowTypeException, match="duration"):
        pyarrow_to_schema(naive)
    with pytest.raises(CannotHoldError, match="column 'd' contains timedeltas; Iceberg has no type"):
        data_formats.get("Iceberg").check(TIMEDELTAS)


def test_tsfile_makes_names_lower_case_and_the_adapter_restores_them(tmp_path):
    df = pd.DataFrame(
        {"Time": [1, 2], "time": [3, 4], "A": ["x", "y"], "a": [0.5, None], "b c": [True, False]}
    )
    naive = tmp_path / "naive.tsfile"
    with pytest.raises(ValueError, match="unique"):
        tsfile.dataframe_to_tsfile(df, str(naive))
    tsfile.dataframe_to_tsfile(df[["A"]], str(naive))
    assert list(tsfile.to_dataframe(str(naive)).columns) == ["time", "a"]
    adapter, path = saved("TsFile", df, tmp_path)
    pd.testing.assert_frame_equal(adapter.read(path), df)
    pd.testing.assert_frame_equal(
        adapter.read(path, ["b c", "A"], slice(1, 2)), df[["b c", "A"]].iloc[1:].reset_index(drop=True)
    )


def test_tsfile_does_not_read_long_texts_which_the_adapter_refuses(tmp_path):
    rows, naive = 10_001, tmp_path / "naive.tsfile"
    df = pd.DataFrame({"a": ["\u00e9" * 510] * rows})
    tsfile.dataframe_to_tsfile(df, str(naive))
    with pytest.raises(tsfile.exceptions.PartialReadError):
        tsfile.to_dataframe(str(naive))
    refused = "column '.' contains values of more than 1,000 bytes; TsFile's reader fails"
    for values in (df.a, df.a.astype("category"), df.a.str.encode("utf-8")):
        with pytest.raises(CannotHoldError, match=refused):
            data_formats.get("TsFile").check(pd.DataFrame({"n": range(rows), "c": values}))
    held = pd.DataFrame({"a": ["\u00e9" * 500] * rows, "b": [b"x" * 1_000] * rows})
    adapter, path = saved("TsFile", held, tmp_path)
    assert verify(held, adapter.read(path)).exact


def test_iceberg_names_its_final_place_so_that_others_read_it(tmp_path):
    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    _, path = saved("Iceberg", df, tmp_path)
    others = StaticTable.from_metadata(str(path)).scan().to_arrow().to_pandas()
    assert verify(df, others).exact


def test_iceberg_is_read_in_the_folder_at_hand_and_by_nobody_else(tmp_path):
    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    adapter, path = saved("Iceberg", df, tmp_path)
    moved = path.rename(tmp_path / "moved.iceberg")
    with pytest.raises(FileNotFoundError):
        StaticTable.from_metadata(str(moved)).scan().to_arrow()
    assert verify(df, adapter.read(moved)).exact
    adapter.save(df.head(1), path)
    assert verify(df, adapter.read(moved)).exact, "it is not read where it once was"


def test_rows_are_appended_to_iceberg(tmp_path):
    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    adapter, path = saved("Iceberg", df, tmp_path)
    opened_table(path).append(pa.Table.from_pandas(df))
    assert verify(pd.concat([df, df], ignore_index=True), adapter.read(path)).exact


@pytest.mark.parametrize(
    "label", ["Avro", "GeoParquet", "Parquet", "Parquet[duckdb]", "Parquet[polars]", "TsFile"]
)
def test_large_integers_among_nulls_stay_where_the_file_keeps_no_categories_of_them(label, tmp_path):
    values = pd.Categorical([2**53 + 1, 5, None, 5], [2**53 + 1, 5])
    df = pd.DataFrame({"value": values, "other": range(4)})
    if label == "Parquet":
        df.to_parquet(tmp_path / "naive.parquet")
        assert pd.read_parquet(tmp_path / "naive.parquet")["value"][0] == 2**53
    adapter, path = saved(label, df, tmp_path)
    found = adapter.read(path)["value"]
    assert (found.dtype, found.tolist()) == ("Int64", [2**53 + 1, 5, pd.NA, 5])


def test_times_of_all_years_keep_their_zone_in_avro(tmp_path):
    # pyarrow would restore the zone by way of nanoseconds, which end in 2262.
    moments = pd.DatetimeIndex(["9987-04-02T17:46:40", None, "2020-09-03"]).as_unit("s")
    df = pd.DataFrame({"moment": moments.tz_localize("America/New_York"), "key": [1, 2, 3]})
    adapter, path = saved("Avro", df, tmp_path)
    assert verify(df, adapter.read(path)).exact
    assert verify(df.head(2), adapter.read(path, rows=slice(2))).exact


def test_columns_of_iceberg_are_those_of_the_table_without_the_fields_inside_of_them(tmp_path):
    pairs = pd.array([{"a": 1}, None], pd.ArrowDtype(pa.struct({"a": pa.int64()})))
    df = pd.DataFrame({"pair": pairs, "key": [1, 2]})
    adapter, path = saved("Iceberg", df, tmp_path)
    assert "pair.a" in opened_table(path).schema().column_names
    adapter.append(path, df.assign(key=[3, 4]))
    assert sorted(adapter.read(path)["key"]) == [1, 2, 3, 4]


@pytest.mark.parametrize("label", ["Parquet", "Delta", "Feather", "ORC", "IPC.stream"])
def test_integers_and_half_floats_compare_with_constants_that_their_types_lack(label, tmp_path):
    df = pd.DataFrame({"whole": [2**32 - 1, -(2**63), 5], "half": np.array([0.1, np.inf, 2], "float16")})
    adapter = data_formats.find(label)
    if Kind.HALF_FLOAT in adapter.refuses:
        df = df[["whole"]]
    path = tmp_path / "saved"
    adapter.save(df, path)
    for column, operator, value, rows in [
        ("whole", "!=", 5.0, 2),
        ("whole", "<", 0.5, 1),
        ("whole", ">=", -1e300, 3),
        ("half", "==", 0.1, 1),
        ("half", "<", 1e9, 2),
    ]:
        if column in df:
            assert len(adapter.read(path, rows=Predicate([Comparison(column, operator, value)]))) == rows
