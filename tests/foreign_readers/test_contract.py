"""Contract of readers and writers in other languages: values come back exactly, where they are built."""

from __future__ import annotations

import pytest

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

LOSSY = {
    # Their libraries give texts, as a sheet shows them, and no nulls.
    "excelize": {"text with line breaks", "text in many scripts"},
    "libreoffice": {"text with line breaks", "text in many scripts"},
}
"""Tables that are exact, of readers that are not exact for all."""

READERS = {"Avro": "hamba-avro"}
"""Readers of formats whose adapter reads its own files alone."""


def needed(reader: foreign.ForeignReader) -> None:
    if lacking := reader.lacking():
        pytest.skip(lacking)


def verdicts(formats: list[str], reader: str, tables: tuple[str, ...]) -> dict[str, str]:
    options = {"sets": "", "tables": tables, "limit": 60.0, "reductions": 0}
    rows, _ = INSTRUMENT.run(None, formats=",".join(formats), readers=reader, **options)
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
    suffixes = reader.declaration.suffixes
    # Without an engine: the writer that all others are compared with.
    plain = [each for each in data_formats.names() if "[" not in each and "." not in each]
    formats = [each for each in plain if data_formats.find(each).suffix in suffixes]
    tables = tuple(each for each in TABLES if each in LOSSY.get(name, TABLES))
    found = verdicts(formats, name, tables)
    assert len(found) >= len(formats)
    assert not wrong(found)


@pytest.mark.parametrize("label", foreign.writers())
def test_a_writer_keeps_the_exact_values_of_the_canonical_form(label):
    writer = foreign.writers()[label]
    needed(writer.implementation)
    reader = READERS.get(writer.format, writer.format)
    if reader in foreign.names():
        needed(foreign.find(reader))
    # Maps of Go have no order.
    tables = tuple(each for each in TABLES if (reader, each) != ("hamba-avro", "maps"))
    found = verdicts([label], reader, tables)
    assert len(found) >= len(tables) - 2
    assert not wrong(found)
