"""Tables that expand to any size: refused by what they declare, or while they are unpacked."""

from __future__ import annotations

import gzip
import json
import re
import zipfile

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import orc
from pyarrow import parquet as pq

from adapter_core.errors import InvalidDataError
from data_generator.readers import _reader, _text
from data_generator.user.table import load_table
from tests.factories.bad_files import refused

FREE = 10**8


@pytest.fixture
def little_memory(monkeypatch):
    """Let 100 MB of memory be free."""
    monkeypatch.setattr(_reader, "available_bytes", lambda: FREE)
    monkeypatch.setattr(_text, "available_bytes", lambda: FREE)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("name", "start", "line", "times"),
    [
        ("a.csv.gz", b"a,b\n", b"1,2\n", 3 * 10**6),
        ("a.csv", b",".join(b"c%d" % i for i in range(1000)) + b"\n", b"1\n", 10**4),
        ("a.jsonl.gz", b"", b'{"a":1}\n', 10**6),
        ("a.json.gz", b'[{"a":"', b"a" * 1000, 10**5),
    ],
)
def test_text_that_expands_beyond_the_memory_is_refused_while_it_is_unpacked(
    name, start, line, times, tmp_path
):
    content = start + line * times + (b'"}]' if start.startswith(b"[") else b"")
    (tmp_path / name).write_bytes(gzip.compress(content, 1) if name.endswith("gz") else content)
    assert re.match(
        r"takes more than the 0\.1 GB of memory that are free: the first \d+ MB of its text do, as a "
        r"table; take a part of it",
        refused(tmp_path / name),
    )


def test_a_first_line_without_an_end_is_refused(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a" * 2**25, 1))
    expected = "has a first line of more than 16,777,216 characters; put the names of columns"
    assert refused(tmp_path / "a.csv.gz").startswith(expected)


def test_more_columns_than_can_be_measured_are_refused_before_values_are_read(tmp_path, monkeypatch):
    names = ",".join(f"c{i}" for i in range(50_001))
    (tmp_path / "a.csv").write_text(f"{names}\n{'1,' * 50_000}1\n")
    monkeypatch.delattr(pd, "read_csv")
    expected = "has 50,001 columns, and at most 50,000 can be measured; leave some out"
    assert refused(tmp_path / "a.csv").startswith(expected)


def with_cell(path, reference, **parts):
    """Write a workbook of two columns, with one more cell and changed parts."""
    book = openpyxl.Workbook()
    for row in (("a", "b"), (1, "x")):
        book.active.append(row)
    book.active[reference] = 1
    book.save(path.with_suffix(".tmp"))
    with zipfile.ZipFile(path.with_suffix(".tmp")) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            old, new = parts.get(name.rpartition("/")[2].partition(".")[0], (b"", b""))
            target.writestr(name, source.read(name).replace(old, new, 1) if old else source.read(name))
    return path


@pytest.mark.timeout(60)
def test_a_cell_far_from_the_others_is_refused(tmp_path):
    path = with_cell(tmp_path / "a.xlsx", "XFD1048576")
    assert refused(path) == (
        "has 5 cells in 'xl/worksheets/sheet1.xml', spread over 1,048,576 rows and 16,384 columns; "
        "delete the rows and columns far from the table"
    )


@pytest.mark.timeout(60)
@pytest.mark.parametrize("reference", ["ZZZ4", "A2000000000"])
def test_a_cell_that_no_sheet_can_have_is_refused(reference, tmp_path):
    change = (b'r="C4"', b'r="%s"' % reference.encode())
    path = with_cell(tmp_path / "a.xlsx", "C4", sheet1=change)
    assert refused(path).startswith("has a cell beyond XFD1048576, the last one of a sheet")


def test_entities_in_a_workbook_are_refused_in_every_part(tmp_path):
    for part, tag in (("sheet1", b"<worksheet"), ("styles", b"<styleSheet"), ("core", b"<cp:core")):
        doctype = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]>' + tag
        path = with_cell(tmp_path / "a.xlsx", "C2", **{part: (tag, doctype)})
        assert refused(path).startswith("has a document type with entities in '"), part


def test_a_sheet_of_usual_density_is_read(tmp_path):
    assert load_table(with_cell(tmp_path / "a.xlsx", "Z500")).df.shape == (499, 26)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("kind", ["parquet", "orc", "feather"])
def test_columns_that_expand_beyond_the_memory_are_refused(kind, tmp_path):
    path = tmp_path / f"a.{kind}"
    table = pa.table({"a": np.zeros(15 * 10**6)})
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "orc":
        orc.write_table(table, path, compression="zstd")
    else:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_file(file, table.schema, options=options) as out,
        ):
            out.write_table(table, max_chunksize=10**6)
    assert path.stat().st_size < 10**6
    assert re.match(r"declares 0\.[12] GB, and 0\.1 GB of memory are free; take a part", refused(path))


@pytest.mark.usefixtures("little_memory")
def test_repeated_text_in_parquet_is_refused_as_soon_as_it_is_too_much(tmp_path):
    pq.write_table(pa.table({"a": ["x" * 10_000] * 12_000}), tmp_path / "a.parquet")
    assert refused(tmp_path / "a.parquet").startswith("declares 0.1 GB, and 0.1 GB of memory are free")


def avro(path, schema, body=b"", count=1):
    def number(value):
        value, encoded = value << 1, b""
        while value > 127:
            encoded, value = encoded + bytes([value & 127 | 128]), value >> 7
        return encoded + bytes([value])

    text = json.dumps(schema).encode()
    head = b"Obj\1" + number(1) + number(11) + b"avro.schema" + number(len(text)) + text + b"\0"
    path.write_bytes(head + b"S" * 16 + number(count) + number(len(body)) + body + b"S" * 16)
    return path


def record(**types):
    fields = [{"name": name, "type": each} for name, each in types.items()]
    return {"type": "record", "name": "r", "fields": fields}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("schema", [record(a="null"), record()])
def test_records_that_take_no_bytes_are_refused_by_their_number(schema, tmp_path):
    path = avro(tmp_path / "a.avro", schema, count=10**12)
    assert re.match(r"declares [\d,.]+ GB, and ", refused(path))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (record(a={"type": "array", "items": "null"}), "has arrays of items that take no bytes"),
        (record(a=["null", "r"]), "has records of the kind 'r' inside each other"),
        (record(a="r"), "has records of the kind 'r' inside each other"),
    ],
)
def test_avro_without_an_end_is_refused(schema, problem, tmp_path):
    assert refused(avro(tmp_path / "a.avro", schema, b"\2" * 1000)).startswith(problem)


def test_duckdb_is_refused_by_its_number_of_rows(tmp_path, monkeypatch):
    with duckdb.connect(tmp_path / "a.duckdb") as database:
        database.sql("CREATE TABLE t AS SELECT 0 AS a FROM range(2_000_000)")
    monkeypatch.setattr(_reader, "available_bytes", lambda: 10**6)
    assert refused(tmp_path / "a.duckdb").startswith("declares 0.0 GB, and 0.0 GB of memory are free")


@pytest.mark.usefixtures("little_memory")
def test_a_narrow_table_needs_no_memory_for_a_sample_that_is_not_taken(tmp_path):
    # A sample takes 16 bytes for each row, and this table one.
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": np.zeros(7 * 10**6, "i1")}), path)
    assert len(load_table(path).df) == 7 * 10**6
    with pytest.raises(InvalidDataError, match=r"declares 0\.1 GB"):
        load_table(path, sample_rows=10)
