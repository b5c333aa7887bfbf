"""Types that follow from values, as dates in CSV and lists among objects, and types of Arrow files."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
import zipfile
from contextlib import closing

import duckdb
import fastavro
import lance
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from pyarrow import feather, orc

from adapter_core.errors import InvalidDataError
from adapter_core.kinds import Kind, kinds_of
from data_generator.synthetic.edge_case_tables import edge_case_tables
from data_generator.user.table import load_table
from data_generator.user.typed import with_dates


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        (["2024-02-29", None, "0001-01-01"], "datetime64[us]"),
        (["2024-01-01 12:00:00"], "datetime64[us]"),
        (["2024-01-01T12:00"], "datetime64[us]"),
        (["2024-01-01 12:00:00.123"], "datetime64[us]"),
        (["2024-01-01T12:00:00.123456789Z"], "datetime64[ns, UTC]"),
        (["2024-01-01T12:00:00+00:00", None], "datetime64[us, UTC]"),
        (["2024-02-30"], "str"),
        (["2024-01-01", "2024-01-01T00:00:00"], "str"),
        (["2024-01-01T12:00:00Z", "2024-01-01T12:00:00"], "str"),
        (["2024-01-01T12:00:00+02:00"], "str"),
        (["2024-01-01 12:00:00.1"], "str"),
        (["2024-01-01 23:59:60"], "str"),
        (["2024-01-01", ""], "str"),
        (["2024-01-01 "], "str"),
        (["20240101"], "str"),
        (["12024-01-01"], "str"),
        ([None, None], "str"),
    ],
)
def test_dates_are_detected_where_all_are_written_back_as_they_were(texts, dtype):
    df = pd.DataFrame({"c": pd.array(texts, dtype="str")})
    found, changed = with_dates(df)
    assert str(found["c"].dtype) == dtype
    assert changed == ([] if dtype == "str" else ["c"])
    assert found["c"].isna().tolist() == df["c"].isna().tolist()
    # Text is objects before pandas 3.
    assert with_dates(df.astype(object))[1] == changed


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_dates_in_delimited_text_are_said_and_can_be_kept_as_text(tmp_path, ending):
    path = tmp_path / f"trips.{ending}"
    separator = "," if ending == "csv" else "\t"
    path.write_text(separator.join(["day", "n"]) + "\n" + separator.join(["2024-01-31", "1"]) + "\n")
    found = load_table(path)
    assert found.df["day"].tolist() == [pd.Timestamp(2024, 1, 31)]
    assert found.remarks == ("dates and times are read as such: day; --parse-dates no keeps the text",)
    kept = load_table(path, parse_dates=False)
    assert kept.df["day"].tolist() == ["2024-01-31"]
    assert (kept.remarks, kept.typed) == ((), ())


@pytest.mark.parametrize(
    ("values", "is_said"),
    [
        (["0,5", "-12,25", ""], True),
        (["1.234,5", "+7,0"], True),
        (["1,234", "12,345,678.9"], True),
        (["0,5", "none given"], False),
        (["1,2,3"], False),
        (["10.0.0.1"], False),
        (["31.12.2024"], False),
        (["3,5 kg"], False),
        (["", ""], False),
    ],
)
def test_numbers_with_commas_are_text_and_said_to_be(tmp_path, values, is_said):
    path = tmp_path / "prices.csv"
    path.write_text("price;n\n" + "".join(f"{each};1\n" for each in values))
    found = load_table(path)
    expected = "numbers with commas are read as text: price; write 1234.5 for 1.234,5"
    assert found.remarks == ((expected,) if is_said else ())
    if is_said:
        assert found.df["price"].dropna().tolist() == [each for each in values if each]


def test_cells_of_a_workbook_that_are_read_as_nulls_are_counted(tmp_path):
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, "=A2*2"], [2, "=A3*2"], ["#DIV/0!", 4], [None, ""]):
        book.active.append(row)
    # Another sheet has formulas, too.
    book.create_sheet("others")["B2"] = "=1+1"
    book.save(tmp_path / "sums.xlsx")
    found = load_table(tmp_path / "sums.xlsx")
    assert found.remarks == ("cells read as nulls: 1 with an error, 2 of formulas without a value",)
    assert found.df["a"].dropna().tolist() == [1, 2]
    assert found.df["b"].dropna().tolist() == [4]


def test_formulas_with_values_are_their_values_and_text_may_be_empty(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "written.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["double", "text"])
        sheet.write_formula(1, 0, "=2*3", value=6)
        sheet.write_formula(1, 1, '=IF(TRUE,"","x")', value="x")
    path = tmp_path / "sums.xlsx"
    with zipfile.ZipFile(tmp_path / "written.xlsx") as written, zipfile.ZipFile(path, "w") as archive:
        for name in written.namelist():
            # As Excel writes it; XlsxWriter leaves the type of empty text out.
            archive.writestr(name, written.read(name).replace(b"<v>x</v>", b"<v></v>"))
    found = load_table(path)
    assert found.remarks == ()
    assert found.df["double"].tolist() == [6]
    assert found.df["text"].isna().tolist() == [True]


ROWS = [
    {"whole": 2**60 + 1, "small": -1, "truth": True, "real": 0.1, "text": "a"},
    {"whole": None, "small": None, "truth": None, "real": None, "text": None},
    {"whole": 3, "small": 0, "truth": False, "real": 4.0, "text": "b"},
]


def _csv(rows, path):
    lines = [",".join("" if each is None else str(each) for each in row.values()) for row in rows]
    path.write_text("\n".join([",".join(rows[0]), *lines, ""]))


def _avro(rows, path):
    types = {"whole": "long", "small": "int", "truth": "boolean", "real": "double", "text": "string"}
    fields = [{"name": name, "type": ["null", kind]} for name, kind in types.items()]
    with path.open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "row", "fields": fields}, rows)


def _duckdb(rows, path):
    with duckdb.connect(path) as database:
        database.register("given", pa.Table.from_pylist(rows))
        database.execute("CREATE TABLE t AS SELECT * FROM given")


def _sqlite(rows, path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (whole, small, truth, real, text)")
        database.executemany("INSERT INTO t VALUES (:whole, :small, :truth, :real, :text)", rows)
        database.commit()


WRITERS = {
    "avro": _avro,
    "csv": _csv,
    "duckdb": _duckdb,
    "feather": lambda rows, path: feather.write_feather(pa.Table.from_pylist(rows), path),
    "json": lambda rows, path: path.write_text(json.dumps(rows)),
    "jsonl": lambda rows, path: path.write_text("\n".join(map(json.dumps, rows))),
    "lance": lambda rows, path: lance.write_dataset(pa.Table.from_pylist(rows), path),
    "orc": lambda rows, path: orc.write_table(pa.Table.from_pylist(rows), path),
    "parquet": lambda rows, path: pq.write_table(pa.Table.from_pylist(rows), path),
    "sqlite": _sqlite,
    "xlsx": lambda rows, path: pd.DataFrame(rows, dtype=object).to_excel(path, index=False),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_integers_and_booleans_with_nulls_are_read_as_such(ending, tmp_path):
    path = tmp_path / f"rows.{ending}"
    WRITERS[ending](ROWS, path)
    found = load_table(path).df
    # SQLite has no booleans, and Excel stores floats of 64 bits alone.
    truth = Kind.NULLABLE_INTEGER if ending == "sqlite" else Kind.NULLABLE_BOOLEAN
    assert kinds_of(found) == [*[Kind.NULLABLE_INTEGER] * 2, truth, Kind.FLOAT, Kind.TEXT]
    expected = [{**ROWS[0], "whole": 2**60}, *ROWS[1:]] if ending == "xlsx" else ROWS
    assert found.astype(object).where(found.notna(), None).to_dict("records") == expected


@pytest.mark.parametrize("ending", WRITERS)
def test_columns_without_nulls_have_types_of_numpy(ending, tmp_path):
    path = tmp_path / f"rows.{ending}"
    WRITERS[ending](ROWS[::2], path)
    truth = Kind.INTEGER if ending == "sqlite" else Kind.BOOLEAN
    kinds = [Kind.INTEGER, Kind.INTEGER, truth, Kind.FLOAT, Kind.TEXT]
    assert kinds_of(load_table(path).df) == kinds


def test_text_in_cells_is_no_number_and_no_null(tmp_path):
    rows = {
        "code": ["007", None, "1e5"],
        "country": ["NA", "nan", ""],
        "truth": ["TRUE", "FALSE", "TRUE"],
        "wide": [1e300, 2.5, None],
        "whole": [1e300, 1e18, None],
    }
    path = tmp_path / "a.xlsx"
    pd.DataFrame(rows, dtype=object).to_excel(path, index=False)
    found = load_table(path).df
    assert kinds_of(found) == [Kind.TEXT, Kind.TEXT, Kind.TEXT, Kind.FLOAT, Kind.FLOAT]
    values = found.astype(object).where(found.notna(), None).to_dict("list")
    # A workbook has no empty text.
    assert values == {**rows, "country": ["NA", "nan", None]}


@pytest.mark.parametrize("digits", [2, 17])
def test_floats_in_text_are_read_exactly(digits, tmp_path):
    floats = [float(f"{each:.{digits}g}") for each in np.random.default_rng(1).random(20_000) * 100]
    (tmp_path / "a.json").write_text(json.dumps([{"c": each} for each in floats]))
    (tmp_path / "a.csv").write_text("\n".join(["c", *map(repr, floats)]))
    for name in ("a.json", "a.csv"):
        assert load_table(tmp_path / name).df["c"].tolist() == floats


def test_flat_columns_of_arrows_dtypes_are_pandas_own(tmp_path):
    arrow = pa.Table.from_pylist(ROWS).append_column(
        "kind", pa.array(["a", None, "b"]).dictionary_encode()
    )
    arrow = arrow.append_column("day", pa.array([dt.date(2020, 1, 1)] * 3))
    arrow = arrow.append_column("list", pa.array([[1, None], None, []]))
    df = arrow.to_pandas(types_mapper=pd.ArrowDtype)
    df.to_parquet(tmp_path / "a.parquet")
    df.to_feather(tmp_path / "a.feather")
    df.to_pickle(tmp_path / "a.pkl")
    pq.write_table(arrow, tmp_path / "plain.parquet")
    expected = load_table(tmp_path / "plain.parquet").df
    assert kinds_of(expected)[2:] == [
        Kind.NULLABLE_BOOLEAN,
        Kind.FLOAT,
        Kind.TEXT,
        Kind.CATEGORY,
        Kind.DATE,
        Kind.LIST,
    ]
    for name in ("a.parquet", "a.feather", "a.pkl"):
        found = load_table(tmp_path / name, trust_pickle=True).df
        pd.testing.assert_frame_equal(found, expected)


def test_extension_types_of_arrow_are_read_as_they_are_stored(tmp_path):
    tensor = pa.array([[1, 2], None], pa.list_(pa.int32(), 2))
    stored = {
        "uuid": (pa.uuid(), pa.array([bytes(16), None], pa.binary(16))),
        "json": (pa.json_(), pa.array(['{"a": 1}', None])),
        "tensor": (pa.fixed_shape_tensor(pa.int32(), [2]), tensor),
    }
    arrays = {name: pa.ExtensionArray.from_storage(*each) for name, each in stored.items()}
    arrays["truth"] = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None], pa.int8()))
    path = tmp_path / "a.feather"
    feather.write_feather(pa.table(arrays), path)
    found = load_table(path).df
    assert kinds_of(found) == [Kind.BINARY, Kind.TEXT, Kind.VECTOR, Kind.NULLABLE_BOOLEAN]
    assert found["tensor"].array.__arrow_array__().combine_chunks() == tensor
    assert found["truth"].tolist() == [True, pd.NA]


def test_intervals_are_read_where_pandas_has_not_registered_their_type(tmp_path):
    df = pd.DataFrame({"c": pd.interval_range(0, 2)})
    df.to_parquet(tmp_path / "a.parquet")
    pa.unregister_extension_type("pandas.interval")
    try:
        found = load_table(tmp_path / "a.parquet").df
    finally:
        pa.register_extension_type(pa.array(df["c"]).type)
    pd.testing.assert_frame_equal(found, df)


@pytest.mark.parametrize(
    ("times", "unit"),
    [
        (["3000-01-01", "NaT", "2024-01-01T00:00:00.000001"], "us"),
        (["1600-01-01"], "us"),
        (["2262-01-01", "1678-01-01"], "ns"),
        (["NaT"], "ns"),
    ],
)
def test_times_of_96_bits_are_those_of_the_file(times, unit, tmp_path):
    # As Spark and Impala write them.
    expected, path = np.array(times, "datetime64[us]"), tmp_path / "a.parquet"
    table = pa.table({"a.t": expected, "s": ["a"] * len(times)})
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    found = load_table(path).df["a.t"]
    assert str(found.dtype) == f"datetime64[{unit}]"
    np.testing.assert_array_equal(found.to_numpy("datetime64[us]"), expected)
    if times[0] == "3000-01-01":
        assert pq.read_table(path)["a.t"][0].as_py().year == 1830


@pytest.mark.parametrize("value", ["'12:00:00+02'::TIMETZ", "'101'::BIT", "1::UHUGEINT", "1::BIGNUM"])
def test_types_of_duckdb_that_would_become_other_values_are_refused(value, tmp_path):
    with duckdb.connect(tmp_path / "a.duckdb") as database:
        database.execute(f"CREATE TABLE t AS SELECT 1 AS a, {value} AS b")
    with pytest.raises(InvalidDataError, match=r"has a column 'b' of .*, which Arrow has"):
        load_table(tmp_path / "a.duckdb")


def test_every_kind_of_nested_column_is_loaded_from_files_with_types(tmp_path):
    nested = {
        name: df
        for name, df in edge_case_tables().items()
        if isinstance(df["c"].dtype, pd.ArrowDtype) and pa.types.is_nested(df["c"].dtype.pyarrow_dtype)
    }
    assert len(nested) > 20
    for number, df in enumerate(nested.values()):
        table = pa.Table.from_pandas(df, preserve_index=False)
        path = tmp_path / f"t{number}.feather"
        feather.write_feather(table, path)
        pd.testing.assert_frame_equal(load_table(path).df, df)
        if df["c"].dtype.pyarrow_dtype != pa.struct([]):
            path = tmp_path / f"t{number}.parquet"
            pq.write_table(table, path)
            pd.testing.assert_frame_equal(load_table(path).df, df)


def test_decimals_dates_and_the_like_keep_their_kinds(tmp_path):
    path = tmp_path / "kinds.parquet"
    table = pa.table(
        {
            "wide": pa.array(["1.10"]).cast(pa.decimal256(50, 2)),
            "date": pa.array([dt.date(2020, 1, 1)]),
            "time": pa.array([dt.time(1)]),
            "zoned": pa.array([0], pa.timestamp("ms", "Europe/Prague")),
            "span": pa.array([1], pa.duration("us")),
            "category": pa.array(["a"]).dictionary_encode(),
            "bytes": pa.array([b"ab"], pa.binary(2)),
        }
    )
    pq.write_table(table, path)
    assert kinds_of(load_table(path).df) == [
        Kind.DECIMAL,
        Kind.DATE,
        Kind.TIME,
        Kind.ZONED_DATETIME,
        Kind.TIMEDELTA,
        Kind.CATEGORY,
        Kind.BINARY,
    ]


def test_lists_and_objects_in_json_are_nested_columns(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"v": [1, 2], "s": {"a": 1}, "m": {"a": 1}}\n{"v": [], "s": {"a": null}, "m": {}}\n'
    )
    found = load_table(path)
    assert kinds_of(found.df) == [Kind.LIST, Kind.STRUCT, Kind.MIXED]
    assert found.typed == ("v", "s")


def test_a_type_that_pandas_cannot_process_is_refused_with_its_column(tmp_path):
    path = tmp_path / "views.arrow"
    table = pa.table({"v": pa.array([[1], None], pa.list_view(pa.int64()))})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InvalidDataError, match=r"column 'v' of list_view<item: int64>, which pandas"):
        load_table(path)
