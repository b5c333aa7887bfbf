"""Print the table of an SQLite file in canonical form, as the command `sqlite3` reads it."""

import base64
import json
import struct
import subprocess
import sys
from typing import Any

TYPES = {"integer": "int64", "real": "float64", "text": "utf8", "blob": "binary"}

# Text alone is exact in JSON; 17 digits are enough for each float.
VALUE = """json_array(typeof({0}), CASE typeof({0})
    WHEN 'blob' THEN hex({0}) WHEN 'real' THEN printf('%!.17g', {0})
    WHEN 'integer' THEN CAST({0} AS TEXT) ELSE {0} END)"""


def main() -> None:
    """Print the table of the file that the command line names."""
    path = sys.argv[1]
    tables = ask(path, "SELECT json_quote(name) FROM sqlite_schema WHERE type = 'table'")
    if len(tables) != 1:  # as in files of SpatiaLite, whose geometries have an encoding of its own
        sys.exit(f"the database has {len(tables)} tables, and none says that it is the only one of data")
    (table,) = tables
    names = ask(path, f"SELECT json_quote(name) FROM pragma_table_info({literal(table)})")
    values = ", ".join(VALUE.format(quoted(name)) for name in names)
    rows = ask(path, f"SELECT json_array({values}) FROM {quoted(table)}")
    # The types are those of the values; a column of several has none.
    found = [{kind for kind, _ in column if kind != "null"} for column in zip(*rows, strict=True)]
    types = [
        TYPES[min(kinds)] if len(kinds) == 1 else "other(mixed)" if kinds else "null" for kinds in found
    ]
    columns = [{"name": name, "type": kind} for name, kind in zip(names, types, strict=True)]
    print(json.dumps({"columns": columns, "rows": len(rows)}))
    for row in rows:
        print(json.dumps([canonical(kind, value) for kind, value in row]))


def ask(path: str, query: str) -> list[Any]:
    """Return the values of a query that has one column of JSON."""
    command = ["sqlite3", "-readonly", "-batch", "-list", "-noheader", path, query]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(done.stderr.strip() or f"sqlite3 ended with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def quoted(name: str) -> str:
    """Return a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text for SQL."""
    return "'" + text.replace("'", "''") + "'"


def canonical(kind: str, value: str | None) -> str | None:
    """Return a value in canonical form."""
    if kind == "real":
        return struct.pack(">d", float(value)).hex()
    return base64.b64encode(bytes.fromhex(value)).decode() if kind == "blob" else value


if __name__ == "__main__":
    main()
