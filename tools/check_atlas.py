"""Check of an atlas of many bundles: ``python -m tools.check_atlas --bundles 2000``.

Makes bundles of made-up machines, about 2,000 records each, builds their atlas in a process of its own,
and prints time, memory of the process that writes, and sizes of pages, also as sent by gzip.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import data_formats
from format_bench.results.display.text import quantity
from tests.factories.bundles import write_bundles
from tests.factories.records import TABULAR

DATASETS = ("eq", "str", "float", "core")
RECORDS = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bundles", type=int, default=2000)
    parser.add_argument("--keep", type=Path, help="Folder of bundles and site; bundles in it are used.")
    found = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        check(found.keep or Path(temporary), found.bundles)


def check(folder: Path, number: int) -> None:
    """Make the bundles that a folder lacks, build their atlas beside them, and print the figures."""
    bundles, site = folder / "bundles", folder / "site"
    if not bundles.exists():
        start = time.monotonic()
        labels = tuple(data_formats.registry.names()[: RECORDS // len(TABULAR) // len(DATASETS)])
        write_bundles(bundles, number, labels=labels, datasets=DATASETS)
        print(f"made in {time.monotonic() - start:.0f} s")
    paths = list(bundles.rglob("*.bundle.gz"))
    print(f"{len(paths):,} bundles, {quantity(sum(each.stat().st_size for each in paths), 'bytes')}")
    start = time.monotonic()
    arguments = ["--quiet", "atlas", str(bundles), "--out", str(site)]
    command = [sys.executable, "-m", "format_bench", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    seconds = time.monotonic() - start
    print(f"built in {seconds:.0f} s, {quantity(most, 'bytes')} in the process that writes")
    pages = {each.name: each.read_bytes() for each in site.glob("*.html")}
    found = [(len(text), len(gzip.compress(text)), name) for name, text in pages.items()]
    sizes = sorted(found, reverse=True)
    for size, sent, name in sizes[:4]:
        print(f"{name}: {quantity(size, 'bytes')}, sent as {quantity(sent, 'bytes')}")
    print(f"{len(sizes)} pages, {quantity(sum(size for size, _, _ in sizes), 'bytes')}")


if __name__ == "__main__":
    main()
