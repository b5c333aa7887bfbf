"""Bundles of this machine under different conditions: ``python -m tools.seed_atlas FOLDER``.

    python -m tools.seed_atlas atlas --python old=/opt/old/bin/python --scratch disk=/tmp ram=/dev/shm

measures the same small data for each combination of interpreter (whose library set and Python count),
number of usable CPUs and folder of measured files, with all threads and with one, and writes each result
as the bundle of a machine of its own. What has a bundle is not measured again. An interpreter needs the
base of this project, and PyTables.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from tests.helpers import ROOT

REQUEST = "--rows 10000 --datasets eq,float --cold --repeats 3 --threads all,1"
FORMATS = "CSV,Feather,HDF5.fixed,JSON,ORC,Parquet,Pickle"


def named(text: str) -> tuple[str, str]:
    name, _, path = text.partition("=")
    return name, path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="Folder of bundles.")
    here = [("here", sys.executable)]
    parser.add_argument("--python", nargs="*", type=named, default=[], metavar="NAME=PATH")
    parser.add_argument(
        "--scratch", nargs="*", type=named, default=[("disk", "/var/tmp")], metavar="NAME=FOLDER"
    )
    parser.add_argument("--formats", default=FORMATS)
    found = parser.parse_args()
    usable = sorted(os.sched_getaffinity(0))
    counts = sorted({1, len(usable)})
    for (name, python), count, (medium, scratch) in product(here + found.python, counts, found.scratch):
        machine = f"{name}-{count}-cpu-{medium}"
        path = found.folder / machine / f"{datetime.now(UTC):%Y-%m}" / "run.bundle.gz"
        if not path.exists():
            measure(python, usable[:count], scratch, found.formats, path)
            print(f"{machine}: {path.stat().st_size:,} bytes", flush=True)


def measure(python: str, cpus: list[int], scratch: str, formats: str, bundle: Path) -> None:
    """Measure with an interpreter on some CPUs, and write the bundle."""
    bundle.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pinned = ["taskset", "--cpu-list", ",".join(map(str, cpus))]
        request = [
            *REQUEST.split(),
            "--formats",
            formats,
            "--scratch",
            scratch,
            "--out",
            f"{folder}/run",
        ]
        calls = (
            [*pinned, python, "-m", "format_bench", "--quiet", "run", *request],
            [
                sys.executable,
                "-m",
                "format_bench",
                "--quiet",
                "bundle",
                f"{folder}/run",
                "--out",
                str(bundle),
            ],
        )
        for call in calls:
            environment = os.environ | {"PYTHONPATH": str(ROOT)}
            subprocess.run(
                call, check=True, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )


if __name__ == "__main__":
    main()
