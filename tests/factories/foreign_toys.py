"""Readers in another language for tests: Python programs that read CSV, each with a fault of its own."""

from __future__ import annotations

import sys
from pathlib import Path

_PROGRAM = """
import csv, json, os, signal, sys, time

with open("starts", "a") as file:
    file.write("x")
for path in sys.argv[1:]:
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    bad = any("x" in row for row in rows)
    {fault}
    columns = [{{"name": name, "type": "utf8"}} for name in names]
    for line in [{{"columns": columns, "rows": len(rows)}}, *rows]:
        print(json.dumps(line), flush=True)
"""

_WRITER = """
import csv, json, sys

head, *rows = map(json.loads, sys.stdin)
if any(value in {"", None} for row in rows for value in row):
    print("CSV has no empty values here", file=sys.stderr)
    sys.exit(3)
with open(sys.argv[1], "w", newline="", encoding="utf-8") as file:
    names = [column["name"] for column in head["columns"]]
    csv.writer(file).writerows([names, *rows])
if any(value == "x" for row in rows for value in row):
    sys.exit("NoXError: there is an x")
"""
"""Takes no tables with nulls, and fails at the text "x"."""

FAULTS = {
    "honest": "",
    "lying": 'rows = [["y" if text == "x" else text for text in row] for row in rows]',
    "refusing": 'if bad: sys.exit("reading\\nNoXError: there is an x")',
    "crashing": "if bad: os.kill(os.getpid(), signal.SIGSEGV)",
    "hanging": "if bad: time.sleep(60)",
    "babbling": 'print("hello")',
    "admitting": """if bad:
        print(json.dumps({"error": "NoXError: there is an x in toys.Table$Cell@1a2b3c"}), flush=True)
        continue""",
}
"""Faults by the name of the reader; they show in tables with the text "x"."""


def make(folder: Path, *names: str, takes: str = "{file}") -> None:
    """Make readers, each a folder of a program and a declaration; each notes its starts in a file."""
    for name in names:
        place = folder / name
        place.mkdir(parents=True)
        (place / "read.py").write_text(_PROGRAM.format(fault=FAULTS[name]), encoding="utf-8")
        declare(place, f'run = ["{sys.executable}", "read.py", "{takes}"]')


def make_writer(folder: Path, name: str) -> None:
    """Make a reader that writes CSV, too."""
    place = folder / name
    place.mkdir(parents=True)
    (place / "read.py").write_text(_PROGRAM.format(fault=""), encoding="utf-8")
    (place / "write.py").write_text(_WRITER, encoding="utf-8")
    commands = {each: f'["{sys.executable}", "{each}.py", "{{file}}"]' for each in ("read", "write")}
    declare(place, f"run = {commands['read']}", f"write = {{ CSV = {commands['write']} }}")


def declare(place: Path, *lines: str) -> None:
    """Write the declaration of a reader of CSV."""
    place.mkdir(parents=True, exist_ok=True)
    text = "\n".join(['title = "Toy"', 'suffixes = [".csv"]', *lines])
    (place / "reader.toml").write_text(text, encoding="utf-8")
