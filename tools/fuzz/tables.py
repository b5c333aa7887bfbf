"""Tables in files of all kinds, with text, times, nulls and categories, and their readers."""

from __future__ import annotations

import gzip
import lzma
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.fuzz import arrow_damage, container_damage, database_damage, hdf5_damage, text_damage
from tools.fuzz.damage import Damage, damage_bytes, damage_json, damage_toml
from tools.fuzz.reading import confined, in_this_process
from tools.fuzz.targets import Target

if TYPE_CHECKING:
    import pandas as pd

ROWS = 20

Seeds = dict[str, Callable[[Path], object]]


def numbers_and_text() -> pd.DataFrame:
    """Return a table that every kind of file can have."""
    import pandas as pd

    return pd.DataFrame(
        {
            "whole": range(ROWS),
            "real": [number / 3 for number in range(ROWS)],
            "text": [f"text {number} é" for number in range(ROWS)],
            "truth": [number % 3 == 0 for number in range(ROWS)],
        }
    )


def every_type() -> pd.DataFrame:
    """Return a table with nulls, times with a zone, durations, categories and an index."""
    import pandas as pd

    df = numbers_and_text()
    df["gap"] = pd.Series([None if number % 4 == 0 else number for number in range(ROWS)], dtype="Int64")
    df["time"] = pd.date_range("2020-01-01", periods=ROWS, tz="Europe/Prague")
    df["duration"] = pd.to_timedelta(range(ROWS), unit="s")
    df["kind"] = pd.Categorical(["a", "b"] * (ROWS // 2))
    return df.set_index(pd.Index(range(5, ROWS + 5), name="number"))


def _nested(path: Path, write: Callable[..., object], **options: Any) -> None:
    import pyarrow as pa

    table = pa.table(
        {
            "list": [[1, 2], None, []] * 4,
            "map": pa.array([[("a", 1)], [], None] * 4, pa.map_(pa.string(), pa.int32())),
            "struct": [{"x": 1, "y": "a"}, None, {"x": 3, "y": None}] * 4,
            "decimal": pa.array([1, 2, None] * 4, pa.decimal128(20, 2)),
            "dictionary": pa.array(["a", "b", None] * 4).dictionary_encode(),
            "binary": [b"\0\1", b"", None] * 4,
        }
    )
    write(table, path, **options)


def _parquet() -> Seeds:
    import pyarrow.parquet as pq

    return {
        "plain.parquet": lambda path: numbers_and_text().to_parquet(
            path, row_group_size=7, compression=None
        ),
        "types.parquet": lambda path: every_type().to_parquet(path, compression="zstd"),
        "nested.parquet": lambda path: _nested(
            path, pq.write_table, version="2.6", data_page_version="2.0"
        ),
    }


def _feather() -> Seeds:
    from pyarrow import feather

    return {
        "types.feather": lambda path: every_type().reset_index().to_feather(path),
        "plain.arrow": lambda path: numbers_and_text().to_feather(path, compression="uncompressed"),
        "nested.feather": lambda path: _nested(path, feather.write_feather),
        "stream.arrows": _stream,
    }


def _stream(path: Path) -> None:
    import pyarrow as pa

    table = pa.Table.from_pandas(every_type())
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)


def _orc(path: Path, df: Callable[[], pd.DataFrame]) -> None:
    df().to_orc(path)


def _nested_orc(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import orc

    orc.write_table(
        pa.table({"list": [[1, 2], None] * 5, "struct": [{"x": 1}, None] * 5}), path, compression="zlib"
    )


def _avro(path: Path, codec: str) -> None:
    import fastavro

    null = "null"
    fields = [
        {"name": "whole", "type": "long"},
        {"name": "real", "type": [null, "double"], "default": None},
        {"name": "text", "type": "string"},
        {"name": "kind", "type": {"type": "enum", "name": "kind", "symbols": ["a", "b"]}},
        {"name": "fixed", "type": {"type": "fixed", "name": "two", "size": 2}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {
            "name": "price",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2},
        },
        {"name": "list", "type": {"type": "array", "items": "int"}},
    ]
    from decimal import Decimal

    rows = [
        {
            "whole": number,
            "real": number / 2 if number % 3 else None,
            "text": str(number),
            "kind": "ab"[number % 2],
            "fixed": b"ab",
            "day": number,
            "price": Decimal(number) / 4,
            "list": [number] * (number % 3),
        }
        for number in range(ROWS)
    ]
    with path.open("wb") as file:
        fastavro.writer(
            file,
            {"type": "record", "name": "row", "fields": fields},
            rows,
            codec=codec,
            sync_marker=b"s" * 16,
        )


def _excel(path: Path) -> None:
    df = numbers_and_text()
    import pandas as pd

    df["time"] = pd.date_range("2020-01-01", periods=ROWS)
    df.to_excel(path, index=False, engine="openpyxl")


def _rich_excel(path: Path) -> None:
    """Write a workbook with a formula, a link, a merged cell, a comment and a defined name."""
    import openpyxl
    from openpyxl.comments import Comment
    from openpyxl.workbook.defined_name import DefinedName

    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["a", "b", "c"], [1, "=A2*2", "x"], [2, "=SUM(A2:A3)", None]):
        sheet.append(row)
    sheet["C2"].hyperlink = "https://example.invalid/"
    sheet["C3"].comment = Comment("note", "author")
    sheet.merge_cells("A5:B6")
    book.defined_names["area"] = DefinedName("area", attr_text=f"{sheet.title}!$A$1:$C$3")
    book.create_sheet("empty")
    book.save(path)


def _sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        numbers_and_text().to_sql("t", database, index=False)
        database.execute("CREATE INDEX i ON t (whole)")
        database.commit()


def _duckdb(path: Path) -> None:
    import duckdb

    df = every_type().reset_index()
    df["kind"] = df["kind"].astype(str)
    with duckdb.connect(path) as database:
        database.register("df", df)
        database.execute("CREATE TABLE t AS SELECT * FROM df")


def _lance(path: Path) -> None:
    import lance
    import pyarrow as pa

    lance.write_dataset(pa.Table.from_pandas(numbers_and_text()), path, max_rows_per_group=10)


def _hdf5(path: Path, layout: str) -> None:
    df = every_type() if layout == "table" else every_type().drop(columns=["gap", "kind"])
    (df.drop(columns="gap") if "gap" in df else df).to_hdf(path, key="k", format=layout)


def _objects_hdf5(path: Path) -> None:
    import pandas as pd

    df = numbers_and_text().astype({"text": object})
    df.columns = pd.Index(["whole", "real", "text", 4], dtype=object)
    df.index = pd.MultiIndex.from_product([["a", "b"], range(ROWS // 2)], names=["letter", None])
    df.to_hdf(path, key="k", format="fixed")


def _specification(path: Path) -> None:
    from data_generator import write_spec
    from data_generator.profiling.profile import profile

    write_spec(profile(every_type().reset_index()), path)


def _compressed(path: Path, compress: Callable[[bytes], bytes], text: Callable[[], str]) -> None:
    path.write_bytes(compress(text().encode()))


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.compress(data)


def _csv() -> str:
    return str(every_type().to_csv())


def _lines() -> str:
    return str(every_type().to_json(orient="records", lines=True, date_format="iso"))


def _root(path: Path, kind: str) -> None:
    """Write a TTree or an RNTuple with numbers and lists."""
    import awkward as ak
    import uproot

    values = {"px": [1.5, -2.0, 0.25], "n": [1, 2, 3], "hits": [[1.0], [], [2.0, 3.0]]}
    columns = {name: ak.Array(each) for name, each in values.items()}
    with uproot.recreate(path) as file:
        if kind == "tree":
            tree = file.mktree("events", {"px": "f8", "n": "i8", "hits": "var * float64"})
            tree.extend(columns)
        else:
            file.mkrntuple("events", columns)


def targets() -> Iterator[Target]:
    """Yield the readers of tables."""

    def data(name: str, seeds: Seeds, *damages: Damage, **options: Any) -> Target:
        modules = ("pandas", "pyarrow", *options.pop("modules", ()))
        return Target(
            name,
            seeds,
            (damage_bytes, *damages),
            in_this_process,
            modules,
            is_data=True,
            contained=confined,
            **options,
        )

    yield data("parquet", _parquet(), *arrow_damage.PARQUET, modules=("pyarrow.parquet",))
    yield data("arrow", _feather(), *arrow_damage.ARROW, modules=("pyarrow.feather",))
    orc: Seeds = {
        "plain.orc": partial(_orc, df=numbers_and_text),
        "nested.orc": _nested_orc,
    }
    yield data("orc", orc, *arrow_damage.ORC, modules=("pyarrow.orc",))
    avro: Seeds = {
        "plain.avro": partial(_avro, codec="null"),
        "deflate.avro": partial(_avro, codec="deflate"),
    }
    yield data("avro", avro, container_damage.damage_avro, modules=("fastavro",))
    excel: Seeds = {"plain.xlsx": _excel, "rich.xlsx": _rich_excel}
    yield data("excel", excel, *container_damage.EXCEL, modules=("openpyxl",))
    yield data("sqlite", {"t.sqlite": _sqlite}, *database_damage.SQLITE)
    yield data(
        "duckdb", {"t.duckdb": _duckdb}, *database_damage.DUCKDB, modules=("duckdb",), prints=True
    )
    yield data("lance", {"t.lance": _lance}, damage_bytes, prints=True)
    hdf5: Seeds = {
        "fixed.h5": partial(_hdf5, layout="fixed"),
        "table.h5": partial(_hdf5, layout="table"),
        "objects.h5": _objects_hdf5,
    }
    yield data("hdf5_table", hdf5, *hdf5_damage.TABLE, modules=("tables", "h5py"), prints=True)
    csv: Seeds = {
        "t.csv": lambda path: path.write_text(_csv()),
        "t.tsv": lambda path: path.write_text(_csv().replace(",", "\t")),
    }
    yield data("csv", csv, text_damage.damage_csv, modules=("pandas.io.parsers",))
    json: Seeds = {
        "t.json": lambda path: numbers_and_text().to_json(path, orient="records"),
        "t.jsonl": lambda path: path.write_text(_lines()),
    }
    yield data("json", json, damage_json, text_damage.damage_json_text)
    compressed: Seeds = {
        "t.csv.gz": partial(_compressed, compress=partial(gzip.compress, mtime=0), text=_csv),
        "t.csv.zst": partial(_compressed, compress=_zstd, text=_csv),
        "t.jsonl.xz": partial(_compressed, compress=lzma.compress, text=_lines),
    }
    yield data("compressed", compressed, text_damage.damage_compressed, modules=("zstandard",))
    root: Seeds = {f"{kind}.root": partial(_root, kind=kind) for kind in ("tree", "ntuple")}
    yield data("root", root, modules=("uproot", "awkward"))
    yield data("pickle", {"t.pkl": lambda path: every_type().to_pickle(path)}, text_damage.damage_pickle)
    yield data("specification", {"mine.toml": _specification}, damage_toml)
