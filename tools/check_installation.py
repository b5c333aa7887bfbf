"""Check of an installed wheel: imports, reasons of unavailable adapters, a run, a report.

``python -I tools/check_installation.py`` uses the installed packages alone, not the checkout's.
``--minimal`` expects that no extra is installed: some adapters have to be unavailable.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path

PACKAGES = (
    *(
        "adapter_core",
        "array_stores",
        "data_formats",
        "image_storages",
        "query_engines",
        "record_stores",
        "training_loaders",
    ),
    *("data_generator", "format_bench"),
)


def check_origin() -> None:
    """Check that the packages come from the wheel."""
    site_packages = Path(sysconfig.get_path("purelib"))
    for name in PACKAGES:
        origin = Path(find_spec(name).origin)
        assert site_packages in origin.parents, f"{name} is imported from {origin}"


def check_reasons(*, minimal: bool) -> list[str]:
    """Check that each adapter is available or has a reason; return the labels of available formats."""
    import array_stores
    import data_formats
    import image_storages
    import query_engines
    import record_stores
    import training_loaders

    available = {}
    listed = array_stores, data_formats, image_storages, query_engines, record_stores, training_loaders
    for registry in listed:
        for label in registry.names():
            answer = registry.find(label).availability()
            available[label] = bool(answer)
            assert answer or (answer.reason and answer.install_hint), f"{label} has no reason"
    print(f"{sum(available.values())} of {len(available)} adapters are available")
    assert all(available.values()) is not minimal
    return [label for label in data_formats.names() if available[label]]


def check_run(formats: list[str]) -> None:
    """Check a run of some formats on a small table, its records and its answers."""
    command = Path(sysconfig.get_path("scripts"), "format-bench")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run")
        run = ["run", "--rows", "1000", "--repeats", "1", "--formats", ",".join(formats), "--out", out]
        for arguments in (run, ["recommend", out], ["report", out, "--format", "csv"]):
            subprocess.run([command, "--quiet", *arguments], check=True, stdout=subprocess.DEVNULL)
        lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
        found = {(each["format"], each["status"]) for each in map(json.loads, lines)}
    assert found == {(label, "value") for label in formats}, found
    print(f"measured {', '.join(formats)}")


def main() -> None:
    """Run all checks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minimal", action="store_true", help="no extra is installed")
    minimal = parser.parse_args().minimal
    check_origin()
    formats = check_reasons(minimal=minimal)
    check_run([label for label in ("CSV", "Feather", "ORC", "Parquet", "Pickle") if label in formats])


if __name__ == "__main__":
    sys.exit(main())
