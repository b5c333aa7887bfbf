"""Package of fake formats, installed in a folder of its own and found by its entry points."""

from __future__ import annotations

import os
from pathlib import Path

from tests.factories import fake_formats
from tests.helpers import ROOT

# Not in the warm-up, whose table has 8 rows.
_IF_MEASURED = "if len(df) > 8:\n    "

TOYS = {
    "Good": fake_formats.GOOD,
    "Crashing": fake_formats.toy("Crashing", save=_IF_MEASURED + "import ctypes; ctypes.string_at(0)"),
    "Hanging": fake_formats.toy("Hanging", save=_IF_MEASURED + "import time; time.sleep(1000)"),
    "Raising": fake_formats.RAISING,
    "Eating": fake_formats.toy("Eating", save=_IF_MEASURED + "self.eaten = bytearray(4_000_000_000)"),
    # RLIMIT_FSIZE imitates a full disk without a mount: write(2) fails half-way.
    "Filling": fake_formats.toy(
        "Filling",
        save="import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + _IF_MEASURED + "resource.setrlimit("
        "resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))",
    ),
    # Without writing them: a file system without room refuses at once.
    "Large": fake_formats.toy(
        "Large",
        save=_IF_MEASURED + "import os; file = open(path, 'wb'); "
        "os.posix_fallocate(file.fileno(), 0, 300_000_000)",
    ),
    "Lying": fake_formats.LYING,
    "Exacting": fake_formats.EXACTING,
    "Broken": fake_formats.toy("Broken", requires=("pandas", "a_package_that_nobody_wrote")),
}


def install(folder: Path) -> dict[str, str]:
    """Install the fake formats into a folder; return the environment of processes that use them."""
    entries = [f"{label} = toy_formats.{label.lower()}:Adapter" for label in TOYS]
    files = {f"toy_formats/{label.lower()}.py": text for label, text in TOYS.items()}
    files |= {
        "toy_formats/__init__.py": "",
        "toy_formats-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy_formats\nVersion: 1.0\n",
        "toy_formats-1.0.dist-info/entry_points.txt": "\n".join(
            ["[format_bench.data_formats]", *entries, ""]
        ),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
