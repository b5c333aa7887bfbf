"""SQLite through Python's sqlite3."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import FieldKind, ObjectKind, RecordStore, SpecialFloat, Trait, whole_file
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adapter_core import RecordType, Shape

_TABLE = "records"


class Adapter(RecordStore):
    """A table with a column for each field, INTEGER or TEXT; codecs are around the database file.

    Other columns are REAL or BLOB; booleans are 0 and 1, times microseconds, decimals texts.

    Texts need columns of affinity TEXT: one declared as `string` has NUMERIC, which turns 057 into 57
    (https://www.sqlite.org/datatype3.html#determination_of_column_affinity).
    """

    label = "SQLite"
    suffix = ".sqlite"
    requires = ("zstandard",)
    kind = ObjectKind.TUPLE
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    refuses: ClassVar[Mapping[FieldKind | Shape, str]] = {
        **dict.fromkeys(
            (FieldKind.LIST, FieldKind.MAP, FieldKind.RECORD),
            "a table has columns of single values, and others would need more tables",
        ),
        FieldKind.UNION: "a column here has one type",
    }
    changes_floats: ClassVar = {SpecialFloat.NAN: "null", SpecialFloat.NEGATIVE_ZERO: "0.0"}
    seeks = ""
    detects_truncation = True
    file_facts = FileFacts(
        version="3",
        parts={"page": "4096 bytes", "journal": "rollback"},
        differs="no journal and no sync, since an unfinished file is removed",
    )
    snippet = (
        "with a codec it compresses the whole database, which is to be unpacked to be read; the "
        "table format SQLite has the code"
    )

    def _save(
        self,
        objects: Sequence[Any],
        of: RecordType,
        path: Path,
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        if codec is None:
            _fill(path, objects, of)
            return
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder, "database")
            _fill(database, objects, of)
            with database.open("rb") as file, whole_file.writing(path, codec, level) as target:
                shutil.copyfileobj(file, target)

    def _read(self, path: Path, of: RecordType) -> list[Any]:
        with _connection(path) as connection:
            return connection.execute(_select(of)).fetchall()

    def _iterate(self, path: Path, of: RecordType) -> Iterator[Any]:
        with _connection(path) as connection:
            yield from connection.execute(_select(of))

    def _entry(self, path: Path, position: int, of: RecordType) -> Any:
        with _connection(path) as connection:
            # Rows are numbered from 1, and none was deleted. A field may be called rowid, none _rowid_.
            found = connection.execute(f"{_select(of)} WHERE _rowid_ = ?", (position + 1,)).fetchone()
        if found is None:
            raise IndexError(f"{path.name} contains no record {position}")
        return found

    def _codec_used(self, path: Path) -> str | None:
        return whole_file.codec_of(path)

    def plain(self, of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
        places = [place for place, each in enumerate(of.fields) if each.kind is FieldKind.BOOL]
        plain = super().plain(of)
        if not places:
            return plain

        def with_booleans(each: Any) -> tuple[Any, ...]:
            values = list(plain(each))
            for place in places:
                values[place] = _BOOLEANS[values[place]]
            return tuple(values)

        return with_booleans


# A column INTEGER of the program's own; other values are none of it.
_BOOLEANS = {0: False, 1: True, None: None}

_TYPES = {
    FieldKind.FLOAT: "REAL",
    FieldKind.DOUBLE: "REAL",
    FieldKind.TEXT: "TEXT",
    FieldKind.DECIMAL: "TEXT",
    FieldKind.BYTES: "BLOB",
}


def _fill(path: Path, objects: Sequence[Any], of: RecordType) -> None:
    columns = ", ".join(
        f'"{each.name}" {_TYPES.get(each.kind, "INTEGER")}{"" if each.optional else " NOT NULL"}'
        for each in of.fields
    )
    places = ", ".join("?" * len(of.fields))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # The file is new, and is renamed when complete: a journal would protect nothing.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        connection.execute(f"CREATE TABLE {_TABLE} ({columns})")
        insert = f"INSERT INTO {_TABLE} VALUES ({places})"  # noqa: S608 (of constants)
        connection.executemany(insert, map(of.plain, objects))
        connection.execute("COMMIT")


def _select(of: RecordType) -> str:
    # Without the table before it, SQLite takes the name of a column that is missing for a text.
    names = ", ".join(f'{_TABLE}."{name}"' for name in of.names)
    return f"SELECT {names} FROM {_TABLE}"  # noqa: S608 (names of a type's fields)


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database, decompressed to a temporary file first if it is compressed."""
    if whole_file.codec_of(path) is None:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
            # SQLite reads the missing bytes of a last page as zeros, and returns texts with NUL in them.
            if path.stat().st_size % page_bytes:
                raise sqlite3.DatabaseError(f"{path.name} ends within a page")
            yield connection
        return
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "database")
        with whole_file.reading(path) as source, database.open("wb") as file:
            shutil.copyfileobj(source, file)
        with closing(sqlite3.connect(database)) as connection:
            yield connection
