"""What an adapter costs beside the plainest call of its library: ``python -m tools.overhead``.

For each format, saving and reading `eq` at 1,000,000 rows, in CPU seconds (user and system), adapter
and plain call in turn, the median of each, and their ratio. Names of formats may follow, and
``--rows N``.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import data_formats
import data_generator

PATIENCE_SECONDS = 60
"""After which fewer than three samples are enough."""

Save = Callable[[pd.DataFrame, Path], Any]
Read = Callable[[Path], Any]


def _save_avro(df: pd.DataFrame, path: Path) -> None:
    import fastavro

    types = {"int64": "long", "float64": "double", "bool": "boolean", "str": "string"}
    fields = [{"name": name, "type": types[str(df[name].dtype)]} for name in df.columns]
    schema = fastavro.parse_schema({"type": "record", "name": "row", "fields": fields})
    names = list(df.columns)
    columns = [df[name].tolist() for name in names]
    with path.open("wb") as file:
        rows = (dict(zip(names, row)) for row in zip(*columns))  # noqa: B905 (once a row)
        fastavro.writer(file, schema, rows)


def _read_avro(path: Path) -> pd.DataFrame:
    import fastavro

    with path.open("rb") as file:
        return pd.DataFrame(list(fastavro.reader(file)))


def _save_lance(df: pd.DataFrame, path: Path) -> None:
    import lance
    import pyarrow as pa

    lance.write_dataset(pa.Table.from_pandas(df, preserve_index=False), path)


def _read_lance(path: Path) -> pd.DataFrame:
    import lance

    return lance.dataset(path).to_table().to_pandas()


PLAIN: dict[str, tuple[Save, Read]] = {
    "Avro": (_save_avro, _read_avro),
    "CSV": (lambda df, path: df.to_csv(path, index=False), pd.read_csv),
    "Excel": (
        lambda df, path: df.to_excel(path, index=False, engine="openpyxl"),
        lambda path: pd.read_excel(path, engine="openpyxl"),
    ),
    "Feather": (
        lambda df, path: df.to_feather(path, compression="uncompressed"),
        pd.read_feather,
    ),
    "HDF5.fixed": (lambda df, path: df.to_hdf(path, key="t", format="fixed"), pd.read_hdf),
    "HDF5.table": (
        lambda df, path: df.to_hdf(path, key="t", format="table", index=False),
        pd.read_hdf,
    ),
    "JSON": (
        # Of the same digits, which make the same work for both.
        lambda df, path: df.to_json(path, orient="records", lines=True, double_precision=15),
        # Without guessing types, which would be less work, but turns columns named "date" into dates.
        lambda path: pd.read_json(path, lines=True, dtype=False),
    ),
    "Lance": (_save_lance, _read_lance),
    "ORC": (lambda df, path: df.to_orc(path, index=False), pd.read_orc),
    "Parquet": (
        lambda df, path: df.to_parquet(path, compression=None, index=False),
        pd.read_parquet,
    ),
    "Pickle": (lambda df, path: df.to_pickle(path), pd.read_pickle),
    "XML": (lambda df, path: df.to_xml(path, index=False), pd.read_xml),
}


def cpu_seconds(step: Callable[[], Any]) -> float:
    """Return the user and system time of a call, all threads included."""
    before = time.process_time()
    step()
    return time.process_time() - before


def ratios(name: str, rows: int, seconds: float = 10.0) -> dict[str, tuple[float, float]]:
    """Return (adapter, plain) CPU seconds of save and read: medians of calls made in turn."""
    adapter = data_formats.get(name)
    save, read = PLAIN[name]
    df = data_generator.table("eq", rows=rows).df
    samples: dict[str, tuple[list[float], list[float]]] = {"save": ([], []), "read": ([], [])}
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = (Path(folder, f"{kind}{adapter.suffix}") for kind in ("ours", "plain"))
        start = time.monotonic()
        while (spent := time.monotonic() - start) < seconds or len(samples["save"][0]) < 3:
            if spent > PATIENCE_SECONDS and len(samples["save"][0]) > 1:
                break
            adapter.remove(ours)
            adapter.remove(plain)
            calls = {
                ("save", 0): lambda: adapter.save(df, ours),
                ("save", 1): lambda: save(df, plain),
                ("read", 0): lambda: adapter.read(ours),
                ("read", 1): lambda: read(plain),
            }
            # Whoever is first pays for memory that the second finds; so they take turns.
            turn = len(samples["save"][0]) % 2
            for step in ("save", "read"):
                for who in (turn, 1 - turn):
                    samples[step][who].append(cpu_seconds(calls[step, who]))
    return {
        step: (statistics.median(ours), statistics.median(plain))
        for step, (ours, plain) in samples.items()
    }


def main() -> None:
    """Print a line for each format and step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(PLAIN), metavar="FORMAT")
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    print(f"{'format':12}{'step':6}{'adapter s':>12}{'plain s':>12}{'ratio':>8}")
    for name in arguments.names:
        for step, (ours, plain) in ratios(name, arguments.rows).items():
            print(f"{name:12}{step:6}{ours:12.3f}{plain:12.3f}{ours / plain:8.2f}", flush=True)


if __name__ == "__main__":
    main()
