"""Traps in engines of text formats, which the adapters avoid."""

from __future__ import annotations

import json

import duckdb
import lxml.etree
import numpy as np
import pandas as pd
import polars as pl
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import json as arrow_json

import data_formats
from adapter_core import CannotHoldError
from format_bench.verification.tables import verify
from tests.factories.trap_tables import FIRST_PART, back, column, late

CSV = ["CSV[duckdb]", "CSV[polars]", "CSV[pyarrow]"]
JSON = ["JSON[duckdb]", "JSON[orjson]", "JSON[polars]", "JSON[pyarrow]"]
XML = ["XML[etree]", "XML[iterparse]"]


@pytest.mark.parametrize("label", CSV + JSON + XML)
def test_floats_keep_all_digits(label, tmp_path):
    df = column(0.1 + 0.2, 1 / 3, 1e300 / 7, 5e-324, 123456.7890123456)
    assert verify(df, back(label, df, tmp_path)).exact


def test_pandas_keeps_ten_digits_in_json_by_default(tmp_path):
    df = column(1 / 3, 2 / 3)
    naive = json.loads(df.to_json(orient="records"))
    assert [row["c"] for row in naive] == [0.3333333333, 0.6666666667]
    assert verify(df, back("JSON", df, tmp_path), kept_digits=15).errors == ()


@pytest.mark.parametrize("label", CSV + JSON + XML)
def test_empty_text_is_no_null(label, tmp_path):
    df = column("a", "", None, "b")
    assert verify(df, back(label, df, tmp_path)).exact
    alone = pd.DataFrame({"c": ["a", None, "b", None]})
    assert verify(alone, back(label, alone, tmp_path)).exact


def test_plain_calls_take_empty_text_for_nulls(tmp_path):
    path = tmp_path / "t.csv"
    column("a", "", "b").to_csv(path, index=False)
    assert pd.read_csv(path)["c"].isna().sum() == 1
    duckdb.from_arrow(pl.DataFrame({"c": ["a", "", "b"], "d": [1, 2, 3]}).to_arrow()).write_csv(
        str(path)
    )
    assert duckdb.read_csv(str(path)).to_arrow_table()["c"].null_count == 1


@pytest.mark.parametrize("label", CSV + JSON + XML)
@pytest.mark.parametrize(
    ("first", "last"), [(None, "x"), (None, 2.5), (None, True), ("7", "x"), ("true", "x"), (7.0, 7.5)]
)
def test_types_are_guessed_from_all_rows(label, first, last, tmp_path):
    df = late(first, last)
    df["c"] = df["c"].astype(
        "str" if isinstance(last, str) else "boolean" if last is True else "float64"
    )
    assert verify(df, back(label, df, tmp_path)).exact


@pytest.mark.parametrize("read", [duckdb.read_csv, duckdb.read_json])
def test_duckdb_rounds_late_floats_where_it_guesses_from_a_sample(read, tmp_path):
    path = tmp_path / "t"
    start, line = ("c,d\n", "{},1\n") if read is duckdb.read_csv else ("", '{{"c":{},"d":1}}\n')
    path.write_text(start + line.format(7) * FIRST_PART + line.format(7.5))
    assert read(str(path)).to_arrow_table()["c"][-1].as_py() == 8


def test_duckdb_loses_values_after_nulls_in_json(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"c":null,"d":1}\n' * FIRST_PART + '{"c":"x","d":1}\n')
    read = duckdb.read_json(str(path), format="newline_delimited").to_arrow_table()
    assert read["c"].null_count == FIRST_PART + 1


def test_duckdb_takes_late_quotes_for_characters(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("c,d\n" + "7,1\n" * FIRST_PART + '"a ""b"" c",1\n')
    read = duckdb.read_csv(str(path), sample_size=20_480, dtype={"c": "VARCHAR"}).to_arrow_table()
    assert read["c"][-1].as_py() == '"a ""b"" c"'


def test_chunks_of_wide_and_of_small_integers_are_integers(tmp_path):
    # pandas infers dtypes of 2**20 cells at a time or less.
    wide = pd.Series([2**64 - 1] * 20_000 + [0] * 20_000, dtype="uint64")
    df = pd.DataFrame({"c": wide, **{f"{n}": np.zeros(len(wide), "int8") for n in range(31)}})
    assert verify(df, back("CSV", df, tmp_path)).errors == ()
    assert pd.read_csv(tmp_path / "table.csv")["c"].dtype == np.float64


def test_polars_and_pyarrow_stop_at_late_types(tmp_path):
    path = tmp_path / "t"
    path.write_text("c,d\n" + "7,1\n" * FIRST_PART + "x,1\n")
    with pytest.raises(pl.exceptions.ComputeError):
        pl.read_csv(path)
    options = arrow_csv.ReadOptions(block_size=2**16)
    with pytest.raises(ValueError, match="conversion error to int64"):
        arrow_csv.open_csv(path, read_options=options).read_all()
    path.write_text('{"c":7}\n' * FIRST_PART + '{"c":"x"}\n')
    with pytest.raises(ValueError, match="changed from number to string"):
        arrow_json.read_json(path)


def test_polars_takes_late_empty_text_for_a_null(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("c,d\n" + "7,1\n" * 200 + '"",1\n')
    assert pl.read_csv(path)["c"][-1] is None
    with pytest.raises(CannotHoldError, match="read as numbers"):
        data_formats.get("CSV[polars]").check(column(*["7"] * 200, ""))


@pytest.mark.parametrize("label", CSV + JSON + XML)
@pytest.mark.parametrize("start", ["x", None])
def test_text_like_dates_stays_as_it_is(label, start, tmp_path):
    texts = ["2013-01-01T10:00:00Z", "2020-01-01", "12:00", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]
    first = [None] * 5_000 if start is None else []
    df = pd.DataFrame({text: [*first, text, text] for text in texts}, dtype="str")
    df = df.set_axis(list("abcd"), axis=1).assign(row=range(len(df)))
    assert verify(df, back(label, df, tmp_path)).exact


def test_plain_calls_change_text_like_dates(tmp_path):
    path = tmp_path / "t"
    path.write_text("c,d\n2013-01-01T10:00:00Z,12:00\n")
    for read in (arrow_csv.read_csv(path), duckdb.read_csv(str(path)).to_arrow_table()):
        assert str(read["c"][0].as_py()) == "2013-01-01 10:00:00+00:00"
    path.write_text('{"c":"2013-01-01T10:00:00Z"}\n')
    assert str(arrow_json.read_json(path)["c"][0].as_py()) == "2013-01-01 10:00:00"


@pytest.mark.parametrize(
    ("label", "texts"),
    [
        ("CSV[pyarrow]", ["0x10", "7"]),
        ("CSV[pyarrow]", ["true", "false"]),
        ("CSV[duckdb]", ["yes", "no"]),
        ("CSV[duckdb]", ["t", "f"]),
        ("CSV[duckdb]", ["0b11", "7"]),
        ("CSV[duckdb]", [" 1", "7"]),
        ("CSV[polars]", ["TRUE", "false"]),
        ("XML[etree]", ["0x10", "7"]),
    ],
)
def test_text_that_an_engine_takes_for_other_types_is_refused(label, texts):
    with pytest.raises(CannotHoldError, match="would be read as numbers or booleans"):
        data_formats.get(label).check(column(*texts))


@pytest.mark.parametrize("label", ["CSV", *CSV, "Excel", "XML", *XML])
def test_categories_that_no_row_has_do_not_hide_that_the_others_are_numbers(label):
    df = pd.DataFrame({"c": pd.Categorical(["1", "7", None], categories=["1", "x", "7"])})
    with pytest.raises(CannotHoldError, match="would be read as numbers or booleans"):
        data_formats.get(label).check(df)


@pytest.mark.parametrize("texts", [["yes", "no"], ["t", "f"], ["y", "n"], ["7", "1_000"], ["1d", "2f"]])
@pytest.mark.parametrize("label", ["CSV[polars]", "CSV[pyarrow]", *JSON, *XML])
def test_text_that_no_guess_changes_is_kept(label, texts, tmp_path):
    assert verify(column(*texts), back(label, column(*texts), tmp_path)).exact


def test_duckdb_sniffs_separators_that_are_none(tmp_path):
    df = pd.DataFrame({"h": ["a;b", "c;d"]})
    path = tmp_path / "t.csv"
    df.to_csv(path, index=False)
    assert duckdb.read_csv(str(path)).columns == ["a", "b"]
    assert verify(df, back("CSV[duckdb]", df, tmp_path)).exact


@pytest.mark.parametrize("label", CSV + JSON + XML)
def test_long_text_is_read_back(label, tmp_path):
    df = column("x" * 3_000_000, "y")
    assert verify(df, back(label, df, tmp_path)).exact


def test_duckdb_reads_no_rows_of_three_megabytes(tmp_path):
    path = tmp_path / "t.csv"
    column("x" * 3_000_000, "y").to_csv(path, index=False)
    with pytest.raises(duckdb.InvalidInputException):
        duckdb.read_csv(str(path), header=True, delimiter=",")


def test_duckdb_takes_folders_for_columns_and_alike_columns_for_a_map(tmp_path):
    folder = tmp_path / "year=2026"
    folder.mkdir()
    df = pd.DataFrame({f"c{i}": [i, i] for i in range(300)})
    for label in ("CSV[duckdb]", "JSON[duckdb]"):
        assert verify(df, back(label, df, folder)).exact
    assert duckdb.read_csv(str(folder / "table.csv")).columns[-1] == "year"
    naive = duckdb.read_json(str(folder / "table.jsonl"), format="newline_delimited")
    assert naive.columns[0] != "c0"


def test_integers_of_both_signs_are_integers_in_json(tmp_path):
    df = column(1, -2, 2**62 + 1)
    assert verify(df, back("JSON[duckdb]", df, tmp_path)).exact


def test_polars_gives_many_columns_of_json_in_another_order(tmp_path):
    df = pd.DataFrame({f"c{i}": [i, i] for i in range(4_096)})
    read = back("JSON[polars]", df, tmp_path)
    assert list(read.columns) == list(df.columns)
    assert pl.read_ndjson(tmp_path / "table.jsonl").columns != list(df.columns)


def test_json_of_every_engine_is_json(tmp_path):
    df = pd.DataFrame({"f": [1.5, np.nan], "s": ['a\n"b\u2028\0', None], "b": [True, False]})
    for label in JSON:
        back(label, df, tmp_path)
        lines = (tmp_path / "table.jsonl").read_text("utf-8").split("\n")
        assert [json.loads(line, parse_constant=pytest.fail) for line in lines if line] == [
            {"f": 1.5, "s": 'a\n"b\u2028\0', "b": True},
            {"f": None, "s": None, "b": False},
        ]


BOMB = '<!DOCTYPE data [<!ENTITY a "xxxxxxxxxx">{}]><data><row><c>&h;</c></row></data>'
GROWTH = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefg", "bcdefgh", strict=True))


@pytest.mark.parametrize("label", XML)
def test_xml_fetches_nothing_and_does_not_explode(label, tmp_path):
    adapter, path = data_formats.get(label), tmp_path / "t.xml"
    secret = tmp_path / "secret"
    secret.write_text("secret")
    path.write_text(
        f'<!DOCTYPE data [<!ENTITY e SYSTEM "{secret.as_uri()}">]><data><row><c>&e;</c></row></data>'
    )
    try:
        assert "secret" not in adapter.read(path).to_string()
    except (SyntaxError, lxml.etree.XMLSyntaxError) as error:
        assert "secret" not in str(error)
    path.write_text(BOMB.format(GROWTH))
    try:
        assert len(adapter.read(path).to_string()) < 1_000
    except (SyntaxError, lxml.etree.XMLSyntaxError) as error:
        assert "amplification" in str(error)


@pytest.mark.parametrize("label", XML)
def test_pandas_reads_the_same_xml(label, tmp_path):
    df = pd.DataFrame({"f": [1.0, 2.0], "s": ["<a>&", "b\rc"], "n": [1, None]})
    assert verify(df, back(label, df, tmp_path)).exact
    assert verify(df, pd.read_xml(tmp_path / "table.xml")).errors == ()
