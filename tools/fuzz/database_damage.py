"""Changes to the schema, views and pages of databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tools.fuzz.damage import damage_bytes

if TYPE_CHECKING:
    from tools.fuzz.canaries import Canaries


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''").replace("\0", "") + "'"


def _sqlite_schema(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change the statements that SQLite keeps of its tables."""
    outside = _quoted(str(canaries.touched))
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    statement = draw.choice(
        (
            f"CREATE TABLE t AS {endless}",
            "CREATE TABLE t (a, a)",
            "CREATE TABLE t (whole)",
            "CREATE TABLE t (a, b, c, d, e, f, g, h)",
            "CREATE VIEW t AS SELECT * FROM t",
            f"CREATE VIEW t AS {endless}",
            "CREATE VIEW t AS SELECT zeroblob(2000000000)",
            f"CREATE VIEW t AS SELECT load_extension({outside})",
            f"CREATE VIEW t AS SELECT writefile({outside}, 'x')",
            "CREATE VIRTUAL TABLE t USING fts3tokenize(simple)",
            "CREATE VIRTUAL TABLE t USING rtree(a, b, c)",
            "CREATE VIRTUAL TABLE t USING dbstat",
            f"CREATE VIRTUAL TABLE t USING csv(filename={outside})",
            "CREATE TABLE t (whole INTEGER, g AS (randomblob(1000000000)), text)",
            "CREATE TABLE t (whole INTEGER, g AS (printf('%.1000000000d', 1)), text)",
            "CREATE TABLE t (" + ",".join(f"c{number}" for number in range(2500)) + ")",
            "x",
            "",
            "CREATE TABLE t (" + "(" * 5000,
        )
    )
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA writable_schema = ON")
        kind = statement.split(" ", 2)[1].lower() if " " in statement else "table"
        kind = draw.choice((kind if kind in ("table", "view") else "table", "table"))
        page = draw.choice(("rootpage", "0", "1", "2", "-1", "99999999"))
        database.execute(
            f"UPDATE sqlite_schema SET sql = ?, type = ?, rootpage = {page} WHERE name = 't'",
            (statement, kind),
        )
        database.commit()


def _sqlite_statements(path: Path, draw: Random, canaries: Canaries) -> None:
    """Add tables, columns, views, triggers and values that are unusual, but valid."""
    name = (
        canaries.text(draw)
        .replace('"', '""')
        .replace("\0", "")[:2000]
        .encode("utf-8", "replace")
        .decode()
    )
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    statements = draw.choice(
        (
            (f'ALTER TABLE t RENAME TO "{name}"',),
            (f'ALTER TABLE t RENAME COLUMN whole TO "{name}"',),
            ("DROP TABLE t", f"CREATE VIEW t AS {endless}"),
            (f"CREATE VIEW v AS {endless}",),
            ("ALTER TABLE t ADD COLUMN g AS (randomblob(100000000))",),
            ("ALTER TABLE t ADD COLUMN g AS (abs(-9223372036854775808))",),
            ("UPDATE t SET text = zeroblob(3000000)",),
            ("UPDATE t SET whole = 9e999 WHERE whole > 3",),
            ("UPDATE t SET whole = 'text' WHERE whole = 3",),
            ("UPDATE t SET text = CAST(x'fffe00' AS TEXT)",),
            ("UPDATE t SET text = x'00ff'",),
            ("CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",),
            ("PRAGMA journal_mode = WAL",),
            ("PRAGMA encoding = 'UTF-16be'", "VACUUM"),
            ("PRAGMA page_size = 65536", "VACUUM"),
            ("PRAGMA auto_vacuum = FULL", "VACUUM"),
            (
                "CREATE TABLE w (a PRIMARY KEY, b) WITHOUT ROWID",
                "INSERT INTO w VALUES (1, 2)",
                "DROP TABLE t",
            ),
            ("DROP TABLE t", "CREATE VIRTUAL TABLE t USING fts5(a)", "INSERT INTO t VALUES ('x')"),
            ("DROP TABLE t", "CREATE VIRTUAL TABLE t USING rtree(i, a, b)"),
            ("DROP TABLE t",),
        )
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def _sqlite_header(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change the fields of the header of 100 bytes."""
    data = bytearray(path.read_bytes())
    at, width = draw.choice(
        (
            (16, 2),
            (18, 1),
            (19, 1),
            (20, 1),
            (21, 1),
            (24, 4),
            (28, 4),
            (32, 4),
            (36, 4),
            (44, 4),
            (56, 4),
            (92, 4),
        )
    )
    number = draw.choice((0, 1, 2, 255, 512, 65535, 2**31, 2**32 - 1)) % 256**width
    data[at : at + width] = number.to_bytes(width, "big")
    if draw.random() < 0.5:
        page = draw.choice((0, 4096))
        cell = page + draw.randrange(100, 130)
        data[cell : cell + 2] = draw.randbytes(2)
    path.write_bytes(data)


def _sqlite_journal(path: Path, draw: Random, canaries: Canaries) -> None:
    """Put a journal, or a log of changes, beside the database."""
    other = path.with_name(path.name + draw.choice(("-journal", "-wal", "-shm")))
    head = draw.choice((b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", b"\x37\x7f\x06\x82", b""))
    other.write_bytes(head + draw.randbytes(draw.choice((0, 100, 5000))))
    if draw.random() < 0.5:
        data = bytearray(path.read_bytes())
        data[18:20] = b"\2\2"
        path.write_bytes(data)


SQLITE: tuple[Callable[[Path, Random, Canaries], None], ...] = (
    _sqlite_schema,
    _sqlite_statements,
    _sqlite_header,
    _sqlite_journal,
)


def _duckdb_statements(path: Path, draw: Random, canaries: Canaries) -> None:
    """Add views, macros, generated columns and values that refer to other files or never end."""
    import duckdb

    secret, touched = _quoted(str(canaries.secret)), _quoted(str(canaries.touched))
    statements = draw.choice(
        (
            ("DROP TABLE t", f"CREATE VIEW t AS SELECT content FROM read_text({secret})"),
            ("DROP TABLE t", "CREATE VIEW t AS SELECT * FROM range(100000000000)"),
            ("ALTER TABLE t ADD COLUMN g UBIGINT[]", "UPDATE t SET g = range(100000)"),
            ("CREATE TABLE o AS SELECT 1", "DROP TABLE t"),
            ("DROP TABLE t", "CREATE TABLE t (a INTEGER, g INTEGER GENERATED ALWAYS AS (a + 1))", "INSERT INTO t VALUES (1)"),
            ("DROP TABLE t", f"CREATE TABLE t (a INTEGER, g TEXT GENERATED ALWAYS AS (getenv({touched})))"),
            ("DROP TABLE t", "CREATE TABLE t AS SELECT 'infinity'::DATE AS a, 'infinity'::TIMESTAMP AS b"),
            ("DROP TABLE t", "CREATE TABLE t AS SELECT '9999-12-31'::TIMESTAMP AS a, '-infinity'::TIMESTAMPTZ AS b"),
            ("DROP TABLE t", "CREATE TABLE t AS SELECT 170141183460469231731687303715884105727::HUGEINT AS a"),
            ("DROP TABLE t", "CREATE TABLE t AS SELECT MAP {'a': 1} AS a, {'x': [1, NULL]} AS b, UNION_VALUE(n := 1) AS c"),
            ("DROP TABLE t", "CREATE TABLE t AS SELECT '101'::BIT AS a, gen_random_uuid() AS b, INTERVAL 1 MONTH AS c"),
            ("DROP TABLE t", "CREATE TYPE mood AS ENUM ('a', 'b')", "CREATE TABLE t AS SELECT 'a'::mood AS a"),
            ("CREATE SCHEMA s", "CREATE TABLE s.t AS SELECT 1", "DROP TABLE t"),
            ('ALTER TABLE t RENAME TO "x""; DROP"',),
            ("ALTER TABLE t ADD COLUMN d TEXT DEFAULT getenv('HOME')",),
            ("DROP TABLE t", "CREATE SEQUENCE q", "CREATE TABLE t (a INTEGER DEFAULT nextval('q'), b INTEGER)"),
            ("CREATE MACRO m(a) AS TABLE SELECT a",),
            ("DELETE FROM t",),
        )
    )  # fmt: skip
    with duckdb.connect(path) as database:
        for statement in statements:
            database.execute(statement)


def _duckdb_views(path: Path, draw: Random, canaries: Canaries) -> None:
    """Let a view have the name of a table, by exchanging them in the bytes of the catalog."""
    import duckdb

    secret = str(canaries.secret)
    with duckdb.connect(path) as database:
        database.execute(f"CREATE VIEW v AS SELECT content FROM read_text({_quoted(secret)})")
    damage_bytes(path, draw, canaries)


def _duckdb_log(path: Path, draw: Random, canaries: Canaries) -> None:
    """Leave the last changes in a log beside the database, and change bytes of it."""
    import duckdb

    database = duckdb.connect(path, config={"checkpoint_threshold": "1GB"})
    database.execute("PRAGMA disable_checkpoint_on_shutdown")
    database.execute(f"CREATE VIEW v AS SELECT content FROM read_text({_quoted(str(canaries.secret))})")
    database.execute("CREATE TABLE late AS SELECT 1 AS a")
    database.close()
    log = path.with_name(f"{path.name}.wal")
    if log.exists() and draw.random() < 0.8:
        damage_bytes(log, draw, canaries)


DUCKDB: tuple[Callable[[Path, Random, Canaries], None], ...] = (
    _duckdb_statements,
    _duckdb_views,
    _duckdb_log,
)
