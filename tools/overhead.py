"""Overhead of adapters: ``python -m tools.overhead [FORMAT...] [--rows N]``.

Saves and reads `eq` at 1,000,000 rows through each adapter and through the plainest call of its library
(`DataFormat.plain_save` and `plain_read`), in turn. Prints the median CPU seconds (user and system) of
both, and their ratio. By default, all formats that declare a plain call.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data_formats
import data_generator
from adapter_core import DataFormat

PATIENCE_SECONDS = 60
"""Time after which fewer than three samples are enough."""


def names() -> list[str]:
    """Return the labels of the formats that declare a plain call."""
    found = (data_formats.find(name) for name in data_formats.names())
    return [each.label for each in found if type(each).plain_save is not DataFormat.plain_save]


def cpu_seconds(step: Callable[[], Any]) -> float:
    """Return the user and system time of a call, all threads included."""
    before = time.process_time()
    step()
    return time.process_time() - before


def ratios(name: str, rows: int, seconds: float = 10.0) -> dict[str, tuple[float, float]]:
    """Return (adapter, plain) CPU seconds of save and read: medians of calls made in turn."""
    adapter = data_formats.get(name)
    df = data_generator.table("eq", rows=rows).df
    adapter.check(df)
    unchecked = adapter.without_check()
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
                ("save", 0): lambda: unchecked.save(df, ours),
                ("save", 1): lambda: adapter.plain_save(df, plain),
                ("read", 0): lambda: adapter.read(ours),
                ("read", 1): lambda: adapter.plain_read(plain),
            }
            # The first caller pays for memory that the second one reuses, hence the alternation.
            first = len(samples["save"][0]) % 2
            for step in ("save", "read"):
                for caller in (first, 1 - first):
                    samples[step][caller].append(cpu_seconds(calls[step, caller]))
    return {
        step: (statistics.median(ours), statistics.median(plain))
        for step, (ours, plain) in samples.items()
    }


def main() -> None:
    """Print a line for each format and step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=names(), metavar="FORMAT")
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    print(f"{'format':12}{'step':6}{'adapter s':>12}{'plain s':>12}{'ratio':>8}")
    for name in arguments.names:
        for step, (ours, plain) in ratios(name, arguments.rows).items():
            print(f"{name:12}{step:6}{ours:12.3f}{plain:12.3f}{ours / plain:8.2f}", flush=True)


if __name__ == "__main__":
    main()
