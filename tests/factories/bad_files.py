"""Invalid input of all kinds, with the expected messages."""

from __future__ import annotations

import gzip
import os
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import fastavro
import h5py
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adapter_core.errors import InvalidDataError
from data_generator.user.load import load_data
from tests.factories.files import write

LONGEST = 500
"""Longest message without the path."""


def refused(path: Path, **options) -> str:
    """Return the message for invalid input, without the path at its start."""
    with pytest.raises(InvalidDataError) as caught:
        load_data(path, **options)
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) - len(str(path)) < LONGEST
    place, _, problem = line.partition(": ")
    assert place == str(path).partition("::")[0]
    return problem


def file(text: str | bytes, name: str = "a.csv") -> Callable[[Path], Path]:
    """Return a function that writes a file to a folder and returns its path."""

    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return make


def renamed(name: str, other: str) -> Callable[[Path], Path]:
    return lambda folder: write(name, folder).rename(folder / other)


def zipped(name: str, **members: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        with zipfile.ZipFile(folder / name, "w") as archive:
            for member, text in members.items():
                archive.writestr(member.replace("_", "/", 1), text)
        return folder / name

    return make


def workbook(fill: Callable[[openpyxl.Workbook], object]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        book = openpyxl.Workbook()
        fill(book)
        book.save(folder / "a.xlsx")
        return folder / "a.xlsx"

    return make


def database(script: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        with closing(sqlite3.connect(folder / "a.db")) as connection:
            connection.executescript(script)
        return folder / "a.db"

    return make


def duck(script: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        with duckdb.connect(folder / "a.duckdb") as connection:
            connection.execute(script)
        return folder / "a.duckdb"

    return make


def foreign_hdf5(folder: Path) -> Path:
    with h5py.File(folder / "a.h5", "w") as hdf5:
        hdf5["x"] = "text"
    return folder / "a.h5"


def duplicate_names(folder: Path) -> Path:
    pq.write_table(pa.table([[1], [2], [3]], ["a", "b", "a"]), folder / "a.parquet")
    return folder / "a.parquet"


def folder(*names: str) -> Callable[[Path], Path]:
    def make(parent: Path) -> Path:
        (parent / "folder").mkdir()
        for name in names:
            (parent / "folder" / name).write_text("x")
        return parent / "folder"

    return make


def pipe(parent: Path) -> Path:
    os.mkfifo(parent / "pipe.csv")
    return parent / "pipe.csv"


def loop(parent: Path) -> Path:
    (parent / "a.csv").symlink_to("b.csv")
    (parent / "b.csv").symlink_to("a.csv")
    return parent / "a.csv"


def dangling(parent: Path) -> Path:
    (parent / "a.csv").symlink_to("nowhere.csv")
    return parent / "a.csv"


def text_as_binary(encoding: str) -> Callable[[Path], Path]:
    return file("name,größe\nx,1\n".encode(encoding))


def late_byte(parent: Path) -> Path:
    text = b"a,b\n" + b"1,x\n" * 600_000
    return file(text[:1_500_002] + b"\xe9" + text[1_500_003:])(parent)


def packed(path: Path) -> Path:
    target = path.with_name(f"{path.name}.gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


def saved_parquet(parent: Path, df: pd.DataFrame) -> Path:
    df.to_parquet(parent / "a.parquet")
    return parent / "a.parquet"


def avro_numbers(parent: Path) -> Path:
    with (parent / "a.avro").open("wb") as avro:
        fastavro.writer(avro, "long", [1, 2, 3])
    return parent / "a.avro"


OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
PLACES = {
    "nothing there": (lambda folder: folder / "a.csv", "there is no such file or folder"),
    "a dangling link": (dangling, "there is no such file or folder"),
    "a loop of links": (loop, "cannot be opened: Too many levels of symbolic links"),
    "a name that is too long": (
        lambda folder: folder / ("n" * 300),
        "cannot be opened: File name too long",
    ),
    "a file on the way": (lambda f: file("x")(f) / "b.csv", "cannot be opened: Not a directory"),
    "a pipe": (pipe, "is neither a file nor a folder; copy its content to a file"),
    "a device": (lambda _: Path("/dev/zero"), "is neither a file nor a folder"),
    "an empty folder": (folder(), "contains no images"),
    "a folder of tables": (folder("a.parquet"), "contains no images"),
}
KINDS = {
    "empty": (file(b""), "is empty"),
    "empty Parquet": (file(b"", "a.parquet"), "is empty"),
    "empty when unpacked": (
        file(b"\x1f\x8b\x08" + bytes(7) + b"\x03" + bytes(9), "a.csv.gz"),
        "is empty when it is unpacked",
    ),
    "Parquet named CSV": (
        renamed("a.parquet", "a.csv"),
        (
            "is CSV by its name, but its content is Parquet; if the content is right, let "
            "the name end with .parquet"
        ),
    ),
    "CSV named Parquet": (
        renamed("a.csv", "a.parquet"),
        "is Parquet by its name, but its content is text",
    ),
    "JSON named CSV": (renamed("a.jsonl", "a.csv"), "is CSV by its name, but its content is JSON"),
    "SQLite named DuckDB": (
        renamed("a.sqlite", "a.duckdb"),
        "is DuckDB by its name, but its content is SQLite",
    ),
    "neither kind of database": (
        file("text", "a.db"),
        "is DuckDB or SQLite by its name, but its content is text",
    ),
    "noise named CSV": (
        file(bytes(range(256)) * 9),
        "is CSV by its name, but its content is binary: byte 0 (counted from 0) is 0",
    ),
    "noise named Parquet": (
        file(bytes(range(256)) * 9, "a.parquet"),
        "is Parquet by its name, but its content is binary",
    ),
    "noise of no kind": (
        file(bytes(range(256)), "a.bin"),
        (
            "is of an unknown kind, its content is binary: byte 0 (counted from 0) is 0; "
            "known are .avro, .csv"
        ),
    ),
    "text of no kind": (
        file("a,b\n1,2\n", "a.txt"),
        "is of an unknown kind, its content is text; let the name end with .csv, .tsv",
    ),
    "text without an ending": (file("a,b\n1,2\n", "a"), "is of an unknown kind, its content is text"),
    "an image": (
        file(b"\x89PNG\r\n\x1a\n\0\0\0", "a.png"),
        "is of an unknown kind, its content is an image; give the folder",
    ),
    "a ZIP archive": (
        zipped("a.zip", data="a,b\n1,2\n"),
        "is of an unknown kind, its content is a ZIP archive; unpack it first",
    ),
    "a ZIP archive named CSV": (
        zipped("a.csv", data="a,b\n1,2\n"),
        "is CSV by its name, but its content is a ZIP archive; unpack it first",
    ),
    "bzip2": (
        file(b"BZh91AY&SY", "a.csv.bz2"),
        "is of an unknown kind, its content is a file compressed by bzip2; unpack",
    ),
    "packed Parquet": (
        lambda f: packed(write("a.parquet", f)),
        "is Parquet inside gzip; unpack it first",
    ),
    "a table named where there is one": (
        lambda f: Path(f"{write('a.csv', f)}::t"),
        "is CSV, which contains one table; leave out ::t",
    ),
}

TEXT = {
    "a header alone": (file("a,b\n"), "contains no rows, so there is nothing to measure"),
    "blank lines alone": (file("\n\n\n"), "contains no columns"),
    "equal names": (
        file("a,b,a,b\n1,2,3,4\n"),
        "has several columns of the same name: 'a', 'b'; give each its own name",
    ),
    "one line too long": (
        file("a,b\n1,2\n3,4,5\n"),
        "cannot be read as CSV: Error tokenizing data. C error: Expected 2 fields in line 3, saw 3",
    ),
    "all lines too long": (
        file("a,b\n1,2,3\n4,5,6\n"),
        "cannot be read as CSV: Length of header or names does not match",
    ),
    "a quote that never ends": (
        file('a,b\n1,"2\n3,4\n'),
        "cannot be read as CSV: Error tokenizing data. C error: EOF inside string starting at row 1",
    ),
    "Latin-1": (
        text_as_binary("latin-1"),
        "is not UTF-8: byte 7 (counted from 0) is 0xf6; save it as UTF-8",
    ),
    "Latin-1 far behind": (late_byte, "is not UTF-8: byte 1,500,002 (counted from 0) is 0xe9"),
    "UTF-16": (
        text_as_binary("utf-16"),
        "is CSV by its name, but its content is text in UTF-16; save it as UTF-8",
    ),
    "cut in a character": (file("a\nö".encode()[:-1]), "is not UTF-8: byte 2 (counted from 0) is 0xc3"),
    "Latin-1 in JSON": (
        file('[{"a": "ö"}]'.encode("latin-1"), "a.json"),
        "is not UTF-8: byte 8 (counted from 0) is 0xf6",
    ),
    "a number": (
        file("3", "a.json"),
        "contains no records; wanted is an array of objects, or one object a line",
    ),
    "text": (file('"x"', "a.json"), "contains no records"),
    "one object": (
        file('{"a": [1, 2]}', "a.json"),
        "contains one object; wanted is an array of objects",
    ),
    "a pretty object": (file('{\n  "a": 1\n}\n', "a.json"), "contains one object"),
    "an array of numbers": (
        file("[1, 2]", "a.json"),
        "contains an array of other things; wanted is an array of objects",
    ),
    "an array of arrays": (file("[[1], [2]]", "a.json"), "contains an array of other things"),
    "an empty array": (file("[]", "a.json"), "contains no columns"),
    "empty objects": (file("[{}, {}]", "a.json"), "contains no columns"),
    "JSON nested too deep": (
        file('[{"a": ' + "[" * 5_000 + "]" * 5_000 + "}]", "a.json"),
        "cannot be read as JSON: maximum recursion depth exceeded",
    ),
    "a line nested too deep": (
        file('{"a": ' + "[" * 90_000 + "]" * 90_000 + '}\n{"a": 1}\n', "a.json"),
        "contains one object",
    ),
    "an array that is cut": (file('[{"a": 1}, {"a"', "a.json"), "cannot be read as JSON: "),
    "an integer beyond 64 bits": (
        file('[{"a": 12345678901234567890123}]', "a.json"),
        "cannot be read as JSON: column 'a' has integers beyond 64 bits",
    ),
    "integers of both signs beyond 63 bits": (
        file('[{"a": 18446744073709551615}, {"a": -1}]', "a.json"),
        "cannot be read as JSON: column 'a' has integers beyond 64 bits",
    ),
    "an array of something else": (
        file('[{"a": 1}, [2]]', "a.json"),
        "contains values that are not records",
    ),
    "lines of something else": (
        file('{"a": 1}\n\nx\n', "a.jsonl"),
        "line 3 is no JSON: Expecting value (column 1); it may be damaged or incomplete",
    ),
    "a line with a key twice": (
        file('{"a": 1}\n{"a": {"b": 1, "b": 2}}\n', "a.jsonl"),
        "line 2 is no JSON: an object has the key 'b' twice",
    ),
    "an array with a key twice": (
        file('[{"a": 1, "a": 2}]', "a.json"),
        "cannot be read as JSON: an object has the key 'a' twice",
    ),
    "a number beyond all doubles": (
        file('[{"a": 0.5}, {"a": -1e400}]', "a.json"),
        "cannot be read as JSON: -1e400 is beyond the range of a double",
    ),
}
HOLDERS = {
    "no sheet with a header": (
        workbook(lambda _: None),
        "contains no sheet with names in its first row",
    ),
    "a sheet that is a header": (
        workbook(lambda book: book.active.append(["a", "b"])),
        "contains no rows",
    ),
    "equal names in a sheet": (
        workbook(lambda book: [book.active.append(row) for row in (["a", "a"], [1, 2])]),
        "has several columns of the same name: 'a'",
    ),
    "an old or encrypted workbook": (
        file(OLD_EXCEL, "a.xlsx"),
        (
            "is Excel by its name, but its content is an old (.xls) or an encrypted Excel workbook; "
            "save it as .xlsx, without a password"
        ),
    ),
    "a ZIP archive named Excel": (
        zipped("a.xlsx", data="x"),
        "is Excel by its name, but its content is a ZIP archive",
    ),
    "a workbook without a workbook": (zipped("a.xlsx", xl_x="x"), "cannot be read as Excel: "),
    "no table in SQLite": (database("CREATE VIEW v AS SELECT 1 AS x"), "contains no table"),
    "no rows in SQLite": (database("CREATE TABLE t (a)"), "contains no rows"),
    "text in SQLite that is none": (
        database("CREATE TABLE t (a); INSERT INTO t VALUES (CAST(x'ff' AS TEXT))"),
        "cannot be read as SQLite: Could not decode to UTF-8",
    ),
    "no table in DuckDB": (duck("CREATE VIEW v AS SELECT 1 AS x"), "contains no table"),
    "no rows in DuckDB": (duck("CREATE TABLE t (a INT)"), "contains no rows"),
    "HDF5 of others": (
        foreign_hdf5,
        "contains one array, which has values of type object: only arrays of numbers can be measured",
    ),
    "equal names in Parquet": (duplicate_names, "has several columns of the same name: 'a'"),
    "no columns in Parquet": (
        lambda f: saved_parquet(f, pd.DataFrame(index=range(3))),
        "contains no columns",
    ),
    "no rows in Parquet": (lambda f: saved_parquet(f, pd.DataFrame({"a": []})), "contains no rows"),
    "Avro of numbers": (avro_numbers, "contains values that are not records"),
}


EVERY = {**PLACES, **KINDS, **TEXT, **HOLDERS}
"""By name: a function that creates the input in a folder, and the start of the message."""
