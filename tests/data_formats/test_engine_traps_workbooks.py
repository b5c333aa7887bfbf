"""Traps in engines of workbooks, which the adapters avoid."""

from __future__ import annotations

import datetime as dt
import zipfile

import fastexcel
import numpy as np
import openpyxl
import pandas as pd
import pytest
import rustpy_xlsxwriter
import xlsxwriter

import data_formats
from adapter_core import CannotHoldError
from format_bench.verification.tables import verify
from tests.factories.trap_tables import back, column

EXCEL = ["Excel[calamine]", "Excel[openpyxl]", "Excel[xlsxwriter]"]


@pytest.mark.parametrize("label", EXCEL)
def test_a_row_of_nulls_at_the_end_is_kept_or_refused(label, tmp_path):
    df = pd.DataFrame({"a": [1.5, None], "b": ["x", None]})
    try:
        read = back(label, df, tmp_path)
    except CannotHoldError as refusal:
        assert "last row is all null" in str(refusal)
        return
    assert verify(df, read).exact


def test_readers_drop_rows_of_nulls_at_the_end(tmp_path):
    path = tmp_path / "t.xlsx"
    pd.DataFrame({"a": [1.5, None]}).to_excel(path, index=False, engine="openpyxl")
    assert fastexcel.read_excel(path).load_sheet(0).to_arrow().num_rows == 1


@pytest.mark.parametrize("label", EXCEL)
def test_a_row_too_many_is_refused(label, tmp_path):
    rows = pd.DataFrame({"n": np.zeros(1_048_576, dtype="int8")})
    with pytest.raises(CannotHoldError, match="1,048,576 rows and a header do not fit in 1,048,576"):
        data_formats.get(label).save(rows, tmp_path / "t.xlsx")
    data_formats.get(label).check(rows.iloc[:-1])


def test_xlsxwriter_drops_a_row_too_many(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as workbook:
        assert workbook.add_worksheet().write_number(1_048_576, 0, 1) == -1


@pytest.mark.parametrize(("label", "digits"), list(zip(EXCEL, (None, 16, 16), strict=True)))
def test_digits_of_floats_in_workbooks_are_as_declared(label, digits, tmp_path):
    df = column(0.1 + 0.2, 1e5 / 7, 5e-324)
    assert data_formats.get(label).kept_digits == digits
    verdict = verify(df, back(label, df, tmp_path), digits)
    assert verdict.errors == ()
    assert verdict.exact is (digits is None)


def test_types_of_cells_are_guessed_from_all_rows(tmp_path):
    df = pd.DataFrame({"n": [7.0] * 3_000 + [7.5], "t": [None] * 3_000 + ["x"], "row": range(3_001)})
    assert verify(df, back("Excel[calamine]", df, tmp_path)).exact


MOMENTS = ["2020-01-01T10:11:12.345", "1969-12-31T12:00:00.001", "1900-03-01T23:59:59.999"]


@pytest.mark.parametrize("label", EXCEL)
def test_datetimes_in_workbooks_keep_milliseconds_also_before_1970(label, tmp_path):
    df = column(*pd.to_datetime(MOMENTS, format="ISO8601"))
    assert verify(df, back(label, df, tmp_path)).errors == ()


def test_a_writer_drops_milliseconds_and_categories(tmp_path):
    path = str(tmp_path / "t.xlsx")
    df = column(*pd.to_datetime(MOMENTS, format="ISO8601")).assign(kind=pd.Categorical(["a", "b", "a"]))
    rustpy_xlsxwriter.FastExcel(path).sheet("Sheet1", df).save()
    read = fastexcel.read_excel(path).load_sheet(0).to_arrow().to_pydict()
    assert read["c"][:2] == [dt.datetime(2020, 1, 1, 10, 11, 12), dt.datetime(1970, 1, 1, 11, 59, 59)]  # noqa: DTZ001
    assert read["kind"] == [None] * 3
    kept = back("Excel[calamine]", df, tmp_path)
    assert list(kept["kind"]) == ["a", "b", "a"]


def test_text_like_formulas_is_text_or_refused(tmp_path):
    df = column("=1+1", "x")
    for label in ("Excel[calamine]", "Excel[xlsxwriter]"):
        assert verify(df, back(label, df, tmp_path)).exact
        cell = openpyxl.load_workbook(tmp_path / "table.xlsx").active["A2"]
        assert (cell.value, cell.data_type) == ("=1+1", "s")
    with pytest.raises(CannotHoldError, match="would become a formula"):
        data_formats.get("Excel[openpyxl]").check(df)


def test_the_plain_workbook_is_openpyxl_s_though_xlsxwriter_is_installed(tmp_path):
    df = column("a", "b")
    programs = {}
    for engine in (None, "Excel"):
        path = tmp_path / f"{engine}.xlsx"
        df.to_excel(path, index=False) if engine is None else data_formats.get(engine).save(df, path)
        with zipfile.ZipFile(path) as archive:
            programs[engine] = b"openpyxl" in archive.read("docProps/core.xml")
    assert programs == {None: False, "Excel": True}
