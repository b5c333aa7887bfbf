"""A program that adds up tables in CSV, for tests, with a fault of its own in damaged files."""

from __future__ import annotations

import sys
from pathlib import Path

from format_bench.compatibility.foreign import Declaration, ForeignReader, ForeignSum

_PROGRAM = """
import csv, json, os, signal, struct, sys, time, zlib
from pathlib import Path

path, added, zero = sys.argv[1:]
text, seen = Path(path).read_text(encoding="latin-1"), Path("first")
if not seen.exists():
    seen.write_text(text)
is_damaged = text != seen.read_text()
names, *rows = csv.reader(text.splitlines())
if is_damaged:
    {fault}
digest, total = zlib.crc32(",".join(names).encode()), 0.0
for row in rows:
    of = {{name: float(each) if {{*".e"}} & {{*each}} else int(each) for name, each in zip(names, row)}}
    for each in of.values():
        digest = zlib.crc32(struct.pack(">i" if isinstance(each, int) else ">d", each), digest)
    if all(of[name] == 0 for name in zero.split(",")):
        total += sum(of[name] for name in added.split(","))
print(json.dumps({{"rows": len(rows), "sum": f"{{total:f}}", "digest": f"{{digest:08x}}"}}))
"""

FAULTS = {
    "honest": "pass",
    "refusing": 'sys.exit("reading\\nChecksumError: the page is damaged")',
    "crashing": "os.kill(os.getpid(), signal.SIGSEGV)",
    "printing": 'print("a page looks odd", file=sys.stderr); rows = []',
    "hanging": 'Path("hanging").write_text(str(os.getpid())); time.sleep(60)',
    "shortening": "rows = []",
}


def make(folder: Path, fault: str) -> ForeignSum:
    """Make the program in a folder."""
    folder.mkdir(parents=True)
    (folder / "sum.py").write_text(_PROGRAM.format(fault=FAULTS[fault]), encoding="utf-8")
    command = [sys.executable, "-S", "sum.py", "{file}", "{added}", "{zero}"]
    declared = Declaration("Toy", [".csv"], run=["x"], sums={"CSV": command})
    return ForeignSum("CSV", ForeignReader("toy", folder, declared))
