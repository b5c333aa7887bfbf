"""Traps in formats of one record a row, which the adapters avoid."""

from __future__ import annotations

import datetime as dt
import io
import signal
import struct
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import bson
import cbor2
import msgpack
import numpy as np
import pandas as pd
import pyfory
import pyron
import pytest
from google.protobuf import proto
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.struct_pb2 import Struct

import data_formats
from adapter_core import CannotHoldError
from adapter_core.tables import row_format
from adapter_core.tables.protobuf import message_class, row_type, schema_of
from adapter_core.traits import Trait
from format_bench.conformance.tables import ordinary
from format_bench.instruments import isolation
from format_bench.verification.tables import verify

WITH_NOTES = ["CBOR", "MessagePack", "Protobuf", "RON"]
"""Formats that store dtypes and the number of rows."""

EXACT = ["Fory", *WITH_NOTES]
ALL = ["BSON", *EXACT]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table"


def round_trip(label, df, path):
    adapter = data_formats.get(label)
    adapter.save(df, path)
    return adapter.read(path)


def _round_trip_of_a_long_row(path):
    df = pd.DataFrame({"long": ["x" * 101 * 2**20, "y"]})
    assert verify(df, round_trip("MessagePack", df, path)).exact
    return list(msgpack.Unpacker(io.BytesIO(path.read_bytes())))


def test_a_row_beyond_the_limit_of_an_unpacker_is_read(path):
    # In a process of its own: the row takes 0.6 GB.
    outcome = isolation.run(_round_trip_of_a_long_row, path, limit_seconds=60)
    assert outcome.error == "BufferFull"


def test_msgpack_stops_silently_at_half_a_row_and_the_adapter_does_not(path):
    adapter = data_formats.get("MessagePack")
    adapter.save(ordinary(), path)
    path.write_bytes(path.read_bytes()[:-1])
    assert len(list(msgpack.Unpacker(io.BytesIO(path.read_bytes())))) == 1 + len(ordinary()) - 1
    with pytest.raises(ValueError, match="the file contains 3 of 4 rows"):
        adapter.read(path)


def test_invalid_messagepack_is_an_error(path):
    path.write_bytes(b"\xc1")
    with pytest.raises(ValueError, match="contains invalid MessagePack: FormatError"):
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
    with pytest.raises(ValueError, match="the file contains 500 of 1,000 rows"):
        adapter.read(path)


def test_bson_refuses_values_that_it_would_change_and_names_that_it_cannot_store(path):
    finer = pd.to_datetime(["2020-01-01T00:00:00.000001", None])
    for df, why in (
        (pd.DataFrame({"c": np.array([2**63], "uint64")}), r"integers beyond BSON's, 2\*\*63 - 1"),
        (pd.DataFrame({"c": pd.Series(finer)}), "datetimes finer than BSON's milliseconds"),
        (pd.DataFrame({"a\0b": [1]}), "'a.x00b' contains a NUL"),
    ):
        with pytest.raises(CannotHoldError, match=why):
            round_trip("BSON", df, path)
    with pytest.raises(OverflowError):
        bson.encode({"c": 2**63})
    assert bson.decode(bson.encode({"c": finer[0]}))["c"].microsecond == 0


def test_a_file_of_bson_contains_documents_beyond_the_limit_of_a_server(path):
    df = pd.DataFrame({"long": ["x", "y" * 17 * 2**20, "z"], "row": [1, 2, 3]})
    assert verify(df, round_trip("BSON", df, path)).exact


def test_bson_documents_are_read_to_the_last_byte_or_not_at_all(path):
    adapter = data_formats.get("BSON")
    adapter.save(pd.DataFrame({"row": range(20_000)}), path)
    whole = path.read_bytes()
    document = len(whole) // 20_000
    path.write_bytes(whole[: 9_000 * document])
    assert len(adapter.read(path)) == 9_000
    for cut in (1, 3, 4, document - 1):
        path.write_bytes(whole[: 9_000 * document + cut])
        with pytest.raises((bson.errors.InvalidBSON, struct.error)):
            adapter.read(path)


def test_rows_are_added_to_bson_by_writing_more_documents(path):
    adapter = data_formats.get("BSON")
    adapter.save(ordinary(), path)
    with path.open("ab") as file:
        file.writelines(map(bson.encode, ordinary().to_dict("records")))
    assert verify(pd.concat([ordinary()] * 2, ignore_index=True), adapter.read(path)).exact
    assert Trait.APPEND in adapter.traits


@pytest.mark.parametrize("label", WITH_NOTES)
def test_a_wrong_number_of_rows_is_an_error(label, path, monkeypatch):
    note = row_format.describe(ordinary())
    monkeypatch.setattr(row_format, "describe", lambda _: {**note, "rows": 3})
    with pytest.raises(ValueError, match=r"4 of 3 rows|more than 3 rows"):
        round_trip(label, ordinary(), path)
    assert Trait.APPEND not in data_formats.find(label).traits


def test_bson_documents_of_other_fields_or_of_no_length_are_errors(path):
    adapter = data_formats.get("BSON")
    for documents, error in (
        (bson.encode({"a": 1}) + bson.encode({"a": 1, "b": 2}), ValueError),
        (bson.encode({"a": 1}) + bson.encode({"b": 1}), KeyError),
        (bson.encode({"a": 1}) + bytes(5), ValueError),
    ):
        path.write_bytes(documents)
        with pytest.raises(error):
            adapter.read(path)


def test_optional_fields_distinguish_nulls_and_zeros_in_protobuf(path):
    df = pd.DataFrame(
        {
            "nulls": pd.array([0, None, 2], "Int64"),
            "whole": pd.array([0, 1, 2], "Int64"),
            "text": ["", None, "x"],
            "minus": [-0.0, 0.0, np.nan],
        }
    )
    assert verify(df, round_trip("Protobuf", df, path)).exact
    fields = row_type(schema_of(df)).field
    assert [each.proto3_optional for each in fields] == [True, False, True, False]
    naive = row_type(schema_of(df.assign(nulls=df["whole"])))
    assert not naive.field[0].proto3_optional
    row = message_class(schema_of(df.assign(nulls=df["whole"])), "Rows")(row=[{"nulls": None}]).row[0]
    assert row.nulls == 0


@pytest.mark.parametrize("label", ["Protobuf", "Protobuf.messages"])
def test_fields_of_protobuf_may_have_the_names_of_methods(label, path):
    names = ["Clear", "HasField", "SerializeToString", "DESCRIPTOR", "class", "row", "Row", "a_b", "aB"]
    df = pd.DataFrame({name: pd.array([1, None], "Int64") for name in names})
    assert [each.name for each in row_type(schema_of(df)).field] == names
    assert verify(df, round_trip(label, df, path)).exact


def test_columns_whose_names_no_field_of_protobuf_may_have_are_numbered(path):
    df = pd.DataFrame({"column_1": [1], "größe": [2], "__class__": [3]})
    fields = row_type(schema_of(df)).field
    assert [each.name for each in fields] == ["column_0", "column_1", "column_2"]
    assert [each.json_name for each in fields] == list(df.columns)
    assert verify(df, round_trip("Protobuf", df, path)).exact


def test_no_field_has_a_number_that_protobuf_reserves():
    df = pd.DataFrame(np.zeros((1, 19_000)), columns=[f"c{i}" for i in range(19_000)])
    numbers = [each.number for each in row_type(schema_of(df)).field]
    assert numbers[-2:] == [18_999, 20_000]


def test_fields_of_negative_integers_are_the_shorter_ones(path):
    df = pd.DataFrame({"negative": [-1] * 1_000, "positive": [1] * 1_000})
    assert verify(df, round_trip("Protobuf", df, path)).exact
    assert path.stat().st_size < 1_000 * 7
    message = message_class(schema_of(df[["positive"]]), "Rows")
    assert len(message(row=[{"positive": -1}]).SerializeToString()) == 13


@pytest.mark.parametrize(
    ("label", "name", "rows"), [("Protobuf", "Rows", 500), ("Protobuf.messages", "Row", 1)]
)
def test_a_protobuf_file_cut_between_two_messages_is_noticed(label, name, rows, path):
    adapter = data_formats.get(label)
    df = pd.DataFrame({"row": range(1_000)})
    adapter.save(df, path)
    with path.open("rb") as file:
        for message in (FileDescriptorProto, Struct, message_class(schema_of(df), name)):
            assert proto.parse_length_prefixed(message, file) is not None
        path.write_bytes(path.read_bytes()[: file.tell()])
    with pytest.raises(ValueError, match=f"the file contains {rows} of 1,000 rows"):
        adapter.read(path)


IN_BAND = """
import pandas as pd, pyfory
fory = pyfory.Fory(xlang=False, strict=False, compatible=False)
written = fory.serialize(pd.DataFrame({"c": ["", None]}))
print("written", flush=True)
fory.deserialize(written)
"""


def test_columns_of_text_without_a_character_end_a_process_unless_out_of_band(path):
    naive = subprocess.run([sys.executable, "-c", IN_BAND], capture_output=True, text=True, check=False)
    assert (naive.stdout, naive.returncode) == ("written\n", -signal.SIGABRT)
    for values in (["", None], [None, None], []):
        df = pd.DataFrame({"c": pd.Series(values, dtype="str"), "d": range(len(values))})
        assert verify(df, round_trip("Fory", df, path)).exact


READ_BY_ANOTHER = """
import sys, data_formats
print(len(data_formats.get("Fory").read(sys.argv[1])))
"""


def test_another_process_reads_files_of_fory(path, root):
    data_formats.get("Fory").save(ordinary(), path)
    command = [sys.executable, "-c", READ_BY_ANOTHER, path]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout == "4\n", done.stderr


class Bomb:
    """Object that writes a file into the working directory when it is loaded."""

    def __reduce__(self):
        return Path.touch, (Path("exploded"),)


def test_fory_runs_code_of_the_file_and_is_not_declared_safe(path, monkeypatch):
    adapter = data_formats.get("Fory")
    assert Trait.SAFE not in adapter.traits
    monkeypatch.chdir(path.parent)
    adapter.save(pd.DataFrame({"c": pd.Series([Bomb()], dtype=object)}), path)
    assert not Path("exploded").exists()
    adapter.read(path)
    assert Path("exploded").exists()


@pytest.mark.parametrize(
    "df",
    [
        pd.DataFrame({"c": pd.Series(["a", None], dtype="string")}),
        pd.DataFrame({"c": pd.Series(["a", pd.NA], dtype=object)}),
        pd.DataFrame({"c": pd.Categorical.from_codes([0], pd.Index(["a"], dtype="string"))}),
        pd.DataFrame([[1]], columns=pd.Index(["c"], dtype="string")),
    ],
)
def test_fory_refuses_values_that_pyfory_writes_and_does_not_read(df, path):
    with pytest.raises(CannotHoldError, match=r"pyfory writes pandas\.NA and cannot read it"):
        round_trip("Fory", df, path)
    fory = pyfory.Fory(xlang=False, strict=False, compatible=False)
    with pytest.raises(ValueError, match="Cannot resolve global name: NA"):
        fory.deserialize(fory.serialize(df))


def test_columns_that_fory_reads_as_read_only_are_writeable(path):
    df = pd.DataFrame({"c": pd.Categorical(["a", "b"]), "i": pd.interval_range(0, 2)})
    read = round_trip("Fory", df, path)
    for name in df:
        read.loc[0, name] = read.loc[1, name]
    assert (read.loc[0] == df.loc[1]).all()


def test_a_fory_file_of_another_length_is_an_error(path):
    adapter = data_formats.get("Fory")
    adapter.save(ordinary(), path)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"x", b"\xff" * 8 + whole[8:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="do not add up"):
            adapter.read(path)


def test_text_of_every_character_comes_back_from_ron_one_row_a_line(path):
    every = [chr(each) for each in range(0x3000)] + ["\ud7ff", "\ufeff", "\uffff", "🙂", "\U0010ffff"]
    layout = ["(\n    1,\n)", '",\n    "', "\\n", "],\n)\n", "rows: [\n", '\\u{41}"#', "// no comment"]
    df = pd.DataFrame({"text": every + layout, "again": layout + every})
    assert verify(df, round_trip("RON", df, path)).exact
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = [line for line in lines if line.endswith(",),")]
    assert len(rows) == len(df)
    assert pyron.load(str(path))["rows"] == list(df.itertuples(index=False, name=None))


def test_floats_that_are_no_numbers_come_back_from_ron(path):
    df = pd.DataFrame({"real": [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308]})
    assert verify(df, round_trip("RON", df, path)).exact
    assert pyron.loads("nan") == {}


def test_rows_of_one_column_stay_tuples_in_ron(path):
    df = pd.DataFrame({"only": [1, 2]})
    assert verify(df, round_trip("RON", df, path)).exact
    assert pyron.load(str(path))["rows"] == [(1,), (2,)]


def test_a_ron_file_is_read_to_its_end_or_not_at_all(path):
    adapter = data_formats.get("RON")
    adapter.save(ordinary(), path)
    whole = path.read_text(encoding="utf-8")
    for damaged, why in (
        (whole[:-1], "cut short"),
        (whole.replace("rows: [\n", 'rows: [\n(1, 1.0, true, "a",),\n'), "more than 4 rows"),
        (whole[: whole.index("rows: [")], "no rows after the description"),
    ):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(ValueError, match=why):
            adapter.read(path)


@pytest.mark.parametrize("label", ALL)
def test_nan_and_null_are_distinguished(label, path):
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


@pytest.mark.parametrize("label", ALL)
def test_more_rows_than_a_block_and_an_incomplete_last_one_come_back(label, path):
    df = pd.DataFrame({"row": np.arange(1_234), "text": [f"t{i}" for i in range(1_234)]})
    assert verify(df, round_trip(label, df, path)).exact


@pytest.mark.parametrize("label", EXACT)
def test_an_empty_table_keeps_its_dtypes(label, path):
    df = ordinary().astype({"whole": "int8", "real": "Float64"}).head(0)
    assert verify(df, round_trip(label, df, path)).exact


@pytest.mark.parametrize("label", ALL)
@pytest.mark.parametrize("rows", [2, 1_000])
def test_columns_read_are_writeable(label, rows, path):
    every = {
        "whole": np.arange(rows),
        "real": np.arange(rows) / 2,
        "truth": np.arange(rows) % 2 == 0,
        "text": [f"t{i}" for i in range(rows)],
        "time": pd.date_range("2020", periods=rows),
        "zoned": pd.date_range("2020", periods=rows, tz="UTC"),
        "masked": pd.array([None, *range(1, rows)], "Int64"),
        "bytes": pd.Series([b"x"] * rows, dtype=object),
    }
    read = round_trip(label, pd.DataFrame(every), path)
    for name in every:
        read.loc[0, name] = read.loc[1, name]
    assert (read.loc[0] == read.loc[1]).all()
