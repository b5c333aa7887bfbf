"""Print a Parquet file in canonical form, as the command `duckdb` reads it by default."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

FLAT = {
    "BOOLEAN": ("bool", "{}"),
    "TINYINT": ("int8", "{}::VARCHAR"),
    "SMALLINT": ("int16", "{}::VARCHAR"),
    "INTEGER": ("int32", "{}::VARCHAR"),
    "BIGINT": ("int64", "{}::VARCHAR"),
    "UTINYINT": ("uint8", "{}::VARCHAR"),
    "USMALLINT": ("uint16", "{}::VARCHAR"),
    "UINTEGER": ("uint32", "{}::VARCHAR"),
    "UBIGINT": ("uint64", "{}::VARCHAR"),
    "FLOAT": ("float32", "{}::VARCHAR"),
    "DOUBLE": ("float64", "{}::VARCHAR"),
    "VARCHAR": ("utf8", "{}"),
    "BLOB": ("binary", "base64({})"),
    "DATE": ("date", "({} - DATE '1970-01-01')::VARCHAR"),
    "TIME": ("time(us)", "date_diff('microsecond', TIME '00:00:00', {})::VARCHAR"),
    "TIME_NS": ("time(ns)", "epoch_ns({})::VARCHAR"),
    "TIMESTAMP": ("timestamp(us)", "epoch_us({})::VARCHAR"),
    "TIMESTAMP_MS": ("timestamp(ms)", "epoch_ms({})::VARCHAR"),
    "TIMESTAMP_NS": ("timestamp(ns)", "epoch_ns({})::VARCHAR"),
    "TIMESTAMP WITH TIME ZONE": ("timestamp(us, UTC)", "epoch_us({})::VARCHAR"),
}
"""Canonical type, and the expression of values as booleans or text, by DuckDB's name of the type."""

CODES = {"float32": ">f", "float64": ">d"}


@dataclass(frozen=True)
class Type:
    """Type of a column, or of the values inside."""

    name: str
    """Canonical type, or "list", "map" or "struct"."""
    value: str = "{}::VARCHAR"
    """Expression of a flat value."""
    parts: tuple[tuple[str, Type], ...] = ()
    """Types inside, with the names of fields."""

    def __str__(self) -> str:
        if not self.parts:
            return self.name
        names = [f"{json.dumps(name)}: " if self.name == "struct" else "" for name, _ in self.parts]
        inside = ", ".join(f"{name}{kind}" for name, (_, kind) in zip(names, self.parts, strict=True))
        return f"{self.name}<{inside}>"

    def sql(self, of: str, depth: int = 0) -> str:
        """Return the expression of a value as JSON."""
        kinds, variable = [kind for _, kind in self.parts], f"v{depth}"
        if self.name == "list":
            return (
                f"to_json(list_transform({of}, lambda {variable}: {kinds[0].sql(variable, depth + 1)}))"
            )
        if self.name == "map":
            pair = [
                kind.sql(f"{variable}.{field}", depth + 1)
                for kind, field in zip(kinds, ("key", "value"), strict=True)
            ]
            entry = f"lambda {variable}: json_array({', '.join(pair)})"
            return f"to_json(list_transform(map_entries({of}), {entry}))"
        if self.name == "struct":
            fields = (kind.sql(f"{of}.{quoted(name)}", depth) for name, kind in self.parts)
            return f"CASE WHEN {of} IS NULL THEN NULL ELSE json_array({', '.join(fields)}) END"
        return f"to_json({self.value.format(of)})"

    def canonical(self, value: Any) -> Any:
        """Return a value of the query in canonical form."""
        if value is None:
            return None
        kinds = [kind for _, kind in self.parts]
        if self.name == "list":
            return [kinds[0].canonical(each) for each in value]
        if self.name == "map":
            return [
                [kind.canonical(each) for kind, each in zip(kinds, pair, strict=True)] for pair in value
            ]
        if self.name == "struct":
            return [kind.canonical(each) for kind, each in zip(kinds, value, strict=True)]
        if self.name in CODES:
            return (
                "nan" if value in {"nan", "-nan"} else struct.pack(CODES[self.name], float(value)).hex()
            )
        return value


def parse(text: str) -> Type:
    """Return the type of DuckDB's name."""
    if found := re.fullmatch(r"(.*)\[\d*\]", text, re.DOTALL):
        return Type("list", parts=(("", parse(found[1])),))
    if found := re.fullmatch(r"(STRUCT|MAP)\((.*)\)", text, re.DOTALL):
        parts = split(found[2])
        if found[1] == "MAP":
            return Type("map", parts=tuple(("", parse(part)) for part in parts))
        return Type("struct", parts=tuple(field(part) for part in parts))
    if found := re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", text):
        return Type(f"decimal({found[1]}, {found[2]})")
    if text.startswith("ENUM("):
        return Type("utf8")
    return Type(*FLAT.get(text, (f"other({text})",)))


def split(text: str) -> list[str]:
    """Return the parts between commas that are in no parentheses and quotes."""
    parts, depth, is_quoted = [""], 0, False
    for character in text:
        is_quoted ^= character == '"'
        if not is_quoted:
            depth += (character in "([") - (character in ")]")
        if character == "," and not depth and not is_quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def field(text: str) -> tuple[str, Type]:
    """Return the name and type of a field."""
    if found := re.match(r'"((?:[^"]|"")*)" ', text):
        return found[1].replace('""', '"'), parse(text[found.end() :])
    name, _, kind = text.partition(" ")
    return name, parse(kind)


def quoted(name: str) -> str:
    """Return a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def ask(query: str) -> list[Any]:
    """Return the values of a query that has one column of JSON."""
    command = ["package/duckdb_cli/duckdb", "-batch", "-list", "-noheader", "-c", query]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        # A message is the first line; a picture of the query follows.
        sys.exit(done.stderr.strip().partition("\n")[0] or f"duckdb ended with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def main() -> None:
    """Print the table of the file that the command line names."""
    source = "read_parquet('" + sys.argv[1].replace("'", "''") + "')"
    described = ask(f"SELECT json_array(column_name, column_type) FROM (DESCRIBE FROM {source})")
    columns = [(name, parse(kind)) for name, kind in described]
    values = ", ".join(kind.sql(quoted(name)) for name, kind in columns)
    rows = ask(f"SELECT json_array({values}) FROM {source}")
    head = [{"name": name, "type": str(kind)} for name, kind in columns]
    print(json.dumps({"columns": head, "rows": len(rows)}))
    for row in rows:
        print(json.dumps([kind.canonical(value) for (_, kind), value in zip(columns, row, strict=True)]))


if __name__ == "__main__":
    main()
