"""Contract of readers and writers in other languages: values come back exactly, where they are built."""

from __future__ import annotations

import pytest

import array_stores
import data_formats
from format_bench.compatibility import foreign
from format_bench.compatibility.verdicts import Verdict
from format_bench.studies.compatibility import INSTRUMENT

TABLES = (
    *(
        "smallest and largest integers",
        "uint64 column",
        "float32 with 9 digits",
        "infinity",
        "minus zero",
    ),
    *("text with nulls", "text with line breaks", "text in many scripts", "nullable integers"),
    *("lists of floats", "lists of lists", "structs", "maps"),
)
"""The values that a canonical form easily loses: extremes, signs, NaN beside nulls, scripts, nesting."""

ARRAYS = (
    *("int64 values", "float32 values", "smallest and largest integers", "largest unsigned integers"),
    *("float32 with 9 digits", "NaN", "infinity", "minus zero", "shape: 3-d, ragged in all"),
    *("attributes: text", "coordinates", "names in many scripts"),
)

FORMAT_2 = {"zarr_python_2"}
"""Readers that know format 2 of Zarr alone."""

LOSSY = {
    # Numbers of JavaScript are floats, and CSV's fields are texts.
    "avsc": {"text with nulls", "text with line breaks", "text in many scripts", "lists of floats"},
    "exceljs": {"text with nulls", "text in many scripts"},
    "json-parse": {
        "text with nulls",
        "text with line breaks",
        "text in many scripts",
        "lists of floats",
    },
    "papaparse": {"smallest and largest integers", "text with line breaks", "text in many scripts"},
    # Their libraries give texts, as a sheet shows them, and no nulls.
    "excelize": {"text with line breaks", "text in many scripts"},
    # It ends lines within cells by a line feed alone.
    "libreoffice": {"text in many scripts"},
    # R's smallest integer is a missing one, readxl trims blanks, and fread knows no \N.
    "data.table": {
        *("smallest and largest integers", "uint64 column", "float32 with 9 digits", "infinity"),
        *("minus zero", "text with line breaks", "text in many scripts"),
    },
    "readxl": {
        *("uint64 column", "float32 with 9 digits", "infinity", "text with nulls"),
        *("text in many scripts", "nullable integers"),
    },
    "jsonlite": {*TABLES} - {"smallest and largest integers"},
    "RSQLite": {*TABLES} - {"smallest and largest integers"},
    **dict.fromkeys(
        ("ncdf4", "rhdf5"),
        {*ARRAYS} - {"smallest and largest integers", "largest unsigned integers"},
    ),
}
"""Tables or arrays that are exact, of readers that are not exact for all."""

SEVERAL_TABLES = {"sqlite_cli": {"SpatiaLite"}, "RSQLite": {"SpatiaLite"}}
"""Formats whose files have the suffix of a reader, which refuses them for their further tables."""

OWN_WRITER = {"pandas_1": "Pickle[pandas_1]"}
"""Writers of readers that the files of this environment are too new for."""

WITHOUT_NESTING = {"Pickle[pandas_1]"}
"""Writers whose columns have no nested types."""

READERS = {"Avro": "hamba-avro"}
"""Readers of formats whose adapter reads its own files alone."""


def needed(reader: foreign.ForeignReader) -> None:
    if lacking := reader.lacking():
        pytest.skip(lacking)


def verdicts(
    formats: list[str], reader: str, tables: tuple[str, ...], family: str = "tables"
) -> dict[str, str]:
    options = {"sets": "", "tables": tables, "limit": 60.0, "reductions": 0}
    rows, _ = INSTRUMENT.run(None, formats=",".join(formats), readers=reader, family=family, **options)
    return {
        f"{row.writer}, {row.dataset}": row.sentence
        for row in rows
        if row.verdict is not Verdict.UNTRIED
    }


def wrong(found: dict[str, str]) -> dict[str, str]:
    return {
        cell: text
        for cell, text in found.items()
        if not text.startswith((Verdict.SAME, Verdict.RETYPED))
    }


@pytest.mark.parametrize("name", foreign.names())
def test_a_reader_prints_the_exact_values_of_adapters(name):
    reader = foreign.find(name)
    needed(reader)
    if "tables" not in reader.declaration.families:
        pytest.skip(f"{name} reads {', '.join(reader.declaration.families)}")
    suffixes = reader.declaration.suffixes
    # Without an engine: the writer that all others are compared with.
    plain = [each for each in data_formats.names() if "[" not in each and "." not in each]
    formats = [each for each in plain if data_formats.find(each).suffix in suffixes]
    formats = [each for each in formats if each not in SEVERAL_TABLES.get(name, ())]
    formats = [OWN_WRITER[name]] if name in OWN_WRITER else formats
    tables = tuple(each for each in TABLES if each in LOSSY.get(name, TABLES))
    found = verdicts(formats, name, tables)
    assert len(found) >= len(formats)
    assert not wrong(found)


@pytest.mark.parametrize("name", foreign.names())
def test_a_reader_of_arrays_prints_exact_values_attributes_and_coordinates(name):
    reader = foreign.find(name)
    needed(reader)
    if "arrays" not in reader.declaration.families:
        pytest.skip(f"{name} reads {', '.join(reader.declaration.families)}")
    plain = ["HDF5", "NetCDF4", "Zarr.v2", *(["Zarr.dir"] if name not in FORMAT_2 else [])]
    formats = [each for each in plain if array_stores.find(each).suffix in reader.declaration.suffixes]
    arrays = tuple(each for each in ARRAYS if each in LOSSY.get(name, ARRAYS))
    found = verdicts(formats, name, arrays, "arrays")
    assert len(found) == len(formats) * len(arrays)
    assert not wrong(found)


@pytest.mark.parametrize("label", foreign.writers())
def test_a_writer_keeps_the_exact_values_of_the_canonical_form(label):
    writer = foreign.writers()[label]
    needed(writer.implementation)
    family = writer.implementation.declaration.families[0]
    reader = READERS.get(writer.format, writer.format)
    if reader in foreign.names():
        needed(foreign.find(reader))
    usual = ARRAYS if family == "arrays" else TABLES
    if label in WITHOUT_NESTING:
        usual = usual[: usual.index("lists of floats")]
    # Maps of Go have no order.
    cases = tuple(each for each in usual if (reader, each) != ("hamba-avro", "maps"))
    found = verdicts([label], reader, cases, family)
    assert len(found) >= len(cases) - 2
    assert not wrong(found)
